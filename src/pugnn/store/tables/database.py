"""A DuckDB database that reads the user's files and nothing else, and writes Parquet."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.files import replacing
from pugnn.store.tables.objects import writable_column
from pugnn.store.tables.table import reason_of
from pugnn.threads import available_threads

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NOTHING_FROM_OUTSIDE = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",  # a table is never a Python variable that happens to have its name
}


@dataclass(frozen=True)
class Limits:
    """How much memory DuckDB may use, in bytes, and a folder for what does not fit; it is created when needed."""

    memory: int
    overflow: Path


def connect(paths: Iterable[Path], folders: Iterable[Path] = (), limits: Limits | None = None) -> DuckDBPyConnection:
    """An empty database in memory that can open these files, and those in these folders.

    Names of files, columns and cells come from users and third parties: whatever they contain, no other file is read,
    no address is contacted and no extension is loaded.
    """
    import duckdb

    config = _overflow()
    if limits is not None:
        config = {"temp_directory": str(limits.overflow), "memory_limit": f"{limits.memory}B"}
    connection = duckdb.connect(config={**_NOTHING_FROM_OUTSIDE, **config, "threads": str(available_threads())})
    for setting in (
        f"allowed_paths = {paths_sql(paths)}",
        f"allowed_directories = {paths_sql(folders)}",
        "enable_external_access = false",
        "enable_progress_bar = false",
        "enable_external_file_cache = false",  # a file is read once or twice, and not kept in memory
        "arrow_large_buffer_size = true",  # no limit of 2 GB to the text in a batch
        f"pandas_analyze_sample = {2**31}",  # the type of an object column is that of all its cells
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def read_only(path: str) -> DuckDBPyConnection:
    """A database in a file of DuckDB's, whose queries change nothing and read no other file.

    One thread gives rows in the same order again.
    """
    import duckdb

    config = {"enable_external_access": "false", "threads": "1", "lock_configuration": "true"}
    return duckdb.connect(path, read_only=True, config={**_NOTHING_FROM_OUTSIDE, **_overflow(), **config})


def _overflow() -> dict[str, str]:
    # DuckDB creates this folder if memory runs short, and removes it.
    return {"temp_directory": os.path.join(tempfile.gettempdir(), f"pugnn-{uuid4().hex}")}


def literal(text: str) -> str:
    """A string as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def paths_sql(paths: Iterable[Path]) -> str:
    """A list of paths in SQL."""
    return f"[{', '.join(literal(str(path)) for path in paths)}]"


def write_parquet(path: Path, columns: Mapping[str, NDArray[Any]] | Iterable[Mapping[str, NDArray[Any]]]) -> None:
    """Write a table as a Parquet file.

    Args:
        path: the file; it is replaced atomically.
        columns: columns of the same length by name, or several such tables, which become one, some rows at a time.
            Masked entries are null. An object column keeps the type of its entries if they share one that Parquet
            knows; otherwise it becomes text.
    """
    pieces = [columns] if isinstance(columns, Mapping) else columns
    # An open file, because pyarrow takes names for addresses and cannot open all of them.
    with replacing(path) as temporary, temporary.open("wb") as file, ExitStack() as stack:
        writer = None
        try:
            for piece in pieces:
                table = pa.table({name: _arrow(values) for name, values in piece.items()})
                writer = writer or stack.enter_context(pq.ParquetWriter(file, table.schema))
                writer.write_table(table)
        except pa.ArrowException as error:
            raise PugnnError(f"cannot write {path}: {reason_of(error)}") from None


def _arrow(values: NDArray[Any]) -> pa.Array:
    column = writable_column(values)
    text = column.dtype.kind == "O" and isinstance(next((cell for cell in column if cell is not None), ""), str)
    mask = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
    return pa.array(np.asarray(column), pa.large_string() if text else None, mask=mask)
