"""The tables that a user gives, found and opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pugnn.errors import PugnnError, shown
from pugnn.store.tables.column_names import ATTRIBUTE, ID, SOURCE, TARGET, normal
from pugnn.store.tables.database import Limits, connect
from pugnn.store.tables.delimited import delimited_table
from pugnn.store.tables.input_files import PARQUET, File, Scratch, find_files
from pugnn.store.tables.objects import MemoryTable, as_memory_table
from pugnn.store.tables.sql_source import hint_at_database
from pugnn.store.tables.table import Table, Unreadable, aliased, described, reason_of
from pugnn.store.tables.typed import json_table, parquet_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: The roles of tables, and names for the columns of those that have none, such as a list of pairs.
ROLES = {
    "edges": ("source", "target"),
    "nodes": ("id",),
    "positives": ("id",),
    "truth": ("id",),
    "checked": ("id", "verdict"),
    "attributes": ("id", "attribute", "value"),
}

#: Names of columns that make the first row of a CSV file a header; in other tables those of ids.
_USUAL = {"edges": SOURCE + TARGET, "attributes": ID + ATTRIBUTE}


_Result = TypeVar("_Result")


def read_tables(
    given: Mapping[str, Any],
    wanted: Mapping[str, str | None],
    read: Callable[[dict[str, Table]], _Result],
    limits: Limits | None = None,
) -> _Result:
    """What ``read`` makes of the tables that were given, by role; ``wanted`` has the user's names of columns.

    ``read`` is called again whenever a table that DuckDB could not read to its end has been repaired.
    """
    with Scratch() as scratch:
        connection, tables = open_tables(given, wanted, scratch, limits)
        with connection:
            while True:
                try:
                    return read(tables)
                except Unreadable as problem:  # a plain copy replaces the table, or the error says what is wrong
                    problem.table.repair(problem.table, str(problem))


def open_tables(
    given: Mapping[str, Any], wanted: Mapping[str, str | None], scratch: Scratch, limits: Limits | None = None
) -> tuple[DuckDBPyConnection, dict[str, Table]]:
    """Connect to DuckDB and open all tables that were given, by role; ``wanted`` has the user's names of columns.

    A role may have a name after it, as in ``edges['pays']``.
    """
    contents = {role: content for role, content in given.items() if content is not None}
    files = {role: find_files(name, scratch) for role, name in contents.items() if isinstance(name, str | os.PathLike)}
    connection = connect([file.path for found in files.values() for file in found], scratch.folders, limits)
    tables = {}
    for role, content in contents.items():
        cursor = connection.cursor()  # of its own, so that several tables can be read at once
        part = role.partition("[")[0]  # without the name of a relation or a kind
        if role in files:
            known = {*_USUAL.get(part, ID), *(normal(name) for name in wanted.values() if name is not None)}
            several = len(files[role]) > 1
            name = shown(os.fspath(content), limit=1000) if several else files[role][0].shown
            tables[role] = _file_table(name, files[role], cursor, scratch, known, edges=part == "edges")
        else:
            tables[role] = _memory_table(role, as_memory_table(content, role, ROLES[part]), cursor)
    return connection, tables


def _file_table(
    shown: str, files: list[File], connection: DuckDBPyConnection, scratch: Scratch, known: set[str], *, edges: bool
) -> Table:
    """The table in one or several files of the same format."""
    heads = [b"" if file.first.startswith(PARQUET) else file.head() for file in files]
    formats = [_format(file, head) for file, head in zip(files, heads, strict=True)]
    for file, kind in zip(files, formats, strict=True):
        if kind != formats[0]:
            raise PugnnError(
                f"{shown}: {files[0].shown} and {file.shown} have different formats; convert them to the same one"
            )
    if formats[0] == "csv":
        return delimited_table(shown, files, heads, connection, scratch, known, edges=edges)
    return (parquet_table if formats[0] == "parquet" else json_table)(shown, files, connection)


def _format(file: File, head: bytes) -> str:
    if file.first.startswith(b"PK\3\4"):
        raise PugnnError(f"{file.shown} is an Excel workbook or a zip archive. Save the sheet as CSV, or unpack it.")
    if file.first.startswith(PARQUET):
        return "parquet"
    hint_at_database(file.shown, head)
    text = head[:1000].decode("utf-8-sig", errors="ignore").lstrip()
    is_json = text.startswith("{") or (text[:1] == "[" and text[1:].lstrip()[:1] == "{")
    return f"json, {file.packed}" if is_json else "csv"


def _memory_table(shown: str, table: MemoryTable, connection: DuckDBPyConnection) -> Table:
    """The table that an object in memory is."""
    view = "given_table"
    try:
        connection.register(view, table.content)
        types = described(connection, view)
    except ImportError as error:
        raise PugnnError(f"{shown}: reading such tables needs {error.name}; install it") from None
    except Exception as error:  # whatever a foreign library dislikes about its own object
        raise PugnnError(f"{shown}: the table cannot be read: {reason_of(error)}") from None
    return Table(
        shown,
        connection,
        aliased(view, len(types)),
        table.names,
        tuple(types.values()),
        typed=True,
        locate=lambda row: f"{shown}, row {row + 1}",
        by_column=True,
        bare=table.bare,
        originals=table.originals,
    )
