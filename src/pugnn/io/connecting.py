"""A DuckDB of our own that reads the users' files and nothing else."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NOTHING_FROM_OUTSIDE = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",  # a table is never a Python variable that happens to have its name
}


def connect(paths: Iterable[Path], folders: Iterable[Path] = ()) -> DuckDBPyConnection:
    """An empty database in memory that can open these files, and those in some folders.

    Names of files, columns and cells come from users and other people: whatever they spell, no other file is read, no
    address is asked and no extension is loaded.
    """
    import duckdb

    # A folder that DuckDB makes if memory runs short, and removes again.
    overflow = os.path.join(tempfile.gettempdir(), f"pugnn-{uuid4().hex}")
    connection = duckdb.connect(config={**_NOTHING_FROM_OUTSIDE, "temp_directory": overflow})
    allowed = ", ".join(literal(str(path)) for path in paths)
    for setting in (
        f"allowed_paths = [{allowed}]",
        f"allowed_directories = [{', '.join(literal(str(folder)) for folder in folders)}]",
        "enable_external_access = false",
        "enable_progress_bar = false",
        "enable_external_file_cache = false",  # a file is read once or twice, and not kept in memory
        f"pandas_analyze_sample = {2**31}",  # an object column has the type of all its cells, not of the first ones
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"
