"""The tables that a user gives, found and opened."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pugnn.errors import PugnnError, shown
from pugnn.io.columns import ATTRIBUTE, ID, SOURCE, TARGET, normal
from pugnn.io.connecting import connect
from pugnn.io.files import find_files
from pugnn.io.objects import as_table, networkx_tables
from pugnn.io.scratch import Scratch
from pugnn.io.source import Source
from pugnn.io.sources import file_source, memory_source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: What tables are for, and names for the columns of those that have none, such as a list of pairs.
ROLES = {
    "edges": ("source", "target"),
    "nodes": ("id",),
    "positives": ("id",),
    "truth": ("id",),
    "attributes": ("id", "attribute", "value"),
}


def open_tables(
    given: Mapping[str, Any], wanted: Mapping[str, str | None], scratch: Scratch
) -> tuple[DuckDBPyConnection, dict[str, Source]]:
    """Connect to DuckDB and open all tables that were given, by their roles.

    Args:
        given: what the user gave for each role, or ``None``.
        wanted: names of columns that the user gave, by option.
        scratch: takes copies where some are needed.
    """
    tables = {role: table for role, table in given.items() if table is not None}
    from_networkx = networkx_tables(given["edges"])
    if from_networkx is not None:
        if given["nodes"] is not None:
            raise PugnnError("a NetworkX graph has its nodes' attributes with it; give no nodes besides")
        tables["edges"], tables["nodes"] = from_networkx
    files = {role: find_files(table, scratch) for role, table in tables.items() if isinstance(table, str | os.PathLike)}
    connection = connect([file.path for found in files.values() for file in found], scratch.folders)
    sources = {}
    for role, table in tables.items():
        cursor = connection.cursor()  # of its own, so that several tables can be read at once
        if role in files:
            usual = {"edges": SOURCE + TARGET, "attributes": ID + ATTRIBUTE}.get(role, ID)
            known = {*usual, *(normal(name) for name in wanted.values() if name is not None)}
            name = shown(os.fspath(table), limit=1000)
            sources[role] = file_source(name, files[role], cursor, scratch, known, edges=role == "edges")
        else:
            sources[role] = memory_source(role, as_table(table, role, ROLES[role]), cursor)
    return connection, sources
