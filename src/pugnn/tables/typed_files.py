"""Files that carry types: Parquet and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from pugnn.errors import PugnnError
from pugnn.tables.connecting import literal
from pugnn.tables.files import File
from pugnn.tables.source import Source, aliased, described, reason_of, refuse

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: What DuckDB takes some text in JSON for, which has no such types; it stays text.
_GUESSED_FROM_TEXT = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID")

#: Names of folders are no columns.
_AS_THEY_ARE = "hive_partitioning=false"


def parquet_source(shown: str, files: list[File], connection: DuckDBPyConnection) -> Source:
    """The table in Parquet files; columns are found by their names in each."""
    source = _typed(
        shown,
        files,
        connection,
        lambda files: f"read_parquet({_paths(files)}, union_by_name=true, binary_as_string=true, {_AS_THEY_ARE})",
    )
    source.by_column = True
    if any(name in file.shown.lower() for file in files for name in (".csv", ".tsv", ".json")):
        source.notes.append(f"{shown}: holds Parquet, whatever its name says, and is read as such")
    return source


def json_source(shown: str, files: list[File], connection: DuckDBPyConnection) -> Source:
    """The table in files of JSON objects, one per line or as one array."""
    options = f"compression='{files[0].packed}', maximum_object_size=100000000, {_AS_THEY_ARE}"
    try:
        seen = _typed(
            shown,
            files,
            connection,
            lambda files: f"read_json({_paths(files)}, {options}, union_by_name=true, sample_size=-1)",
        )
    except PugnnError:
        for file in files:
            _look_for_bad_json(file, connection)
        raise
    if seen.names == ("json",):
        raise PugnnError(f'{shown} is JSON, but not of objects such as {{"id": "a", "x": 1}}')
    types = ["VARCHAR" if kind in _GUESSED_FROM_TEXT else kind for kind in seen.types]
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in zip(seen.names, types, strict=True))
    return _typed(
        shown, files, connection, lambda files: f"read_json({_paths(files)}, {options}, columns={{{columns}}})"
    )


def _look_for_bad_json(file: File, connection: DuckDBPyConnection) -> None:
    """Complain of the first line that is not JSON; DuckDB counts lines in its own way."""
    with closing(file.lines(connection, "utf-8-sig", "replace")) as lines:
        texts = list(lines)
    if "".join(texts).lstrip().startswith("["):
        texts = ["".join(texts)]
    for row, text in enumerate(texts, 1):
        try:
            json.loads(text.strip() or "{}")
        except json.JSONDecodeError as error:
            where = f"{file.shown}, row {row + error.lineno - 1}"
            raise PugnnError(f"{where}: not JSON, from letter {error.colno} on: {error.msg}") from None


def _typed(shown: str, files: list[File], connection: DuckDBPyConnection, table: Callable[[list[File]], str]) -> Source:
    """A source from files that carry types; ``table`` is SQL for the table in some of them."""
    import duckdb

    try:
        types = described(connection, table(files))
    except duckdb.Error as error:
        raise PugnnError(f"cannot read {shown}: {reason_of(error)}. It may be damaged or cut short.") from None

    def locate(row: int) -> str:
        for file in files[:-1]:
            count = connection.execute(f"SELECT count(*) FROM {table([file])}").fetchall()[0][0]
            if row < count:
                return f"{file.shown}, row {row + 1}"
            row -= count
        return f"{files[-1].shown}, row {row + 1}"

    return Source(
        shown,
        connection,
        aliased(table(files), len(types)),
        tuple(types),
        tuple(types.values()),
        typed=True,
        locate=locate,
        repair=refuse,
    )


def _paths(files: list[File]) -> str:
    return f"[{', '.join(literal(str(file.path)) for file in files)}]"
