"""Files that carry types: Parquet and JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pugnn.errors import PugnnError
from pugnn.io.connecting import literal
from pugnn.io.files import HEAD_BYTES, LONGEST_LINE, File
from pugnn.io.source import Source, aliased, described, reason_of, refuse

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: What DuckDB takes some text in JSON for, which has no such types; it stays text.
_GUESSED_FROM_TEXT = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID")

#: Names of folders are no columns.
_AS_THEY_ARE = "hive_partitioning=false"


def parquet_source(shown: str, files: list[File], connection: DuckDBPyConnection) -> Source:
    """The table in Parquet files; columns are found by their names in each."""
    together = "union_by_name=true, " if len(files) > 1 else ""
    source = _typed(
        shown,
        files,
        connection,
        lambda files: f"read_parquet({_paths(files)}, {together}binary_as_string=true, {_AS_THEY_ARE})",
    )
    source.by_column = True
    # DuckDB's own names of columns differ from the file's where these differ in upper and lower case alone.
    schemas = [_column_names(file, connection) for file in files]
    for file, names in zip(files, schemas, strict=True):
        if len(files) > 1 and (alike := _alike(names)):
            raise PugnnError(
                f"{file.shown}: the columns {alike[0]!r} and {alike[1]!r} differ in upper and lower case alone, so "
                "that several files cannot be read together. Rename one of them."
            )
    if len(files) == 1:
        source.names = tuple(schemas[0])
    if any(name in file.shown.lower() for file in files for name in (".csv", ".tsv", ".json")):
        source.notes.append(f"{shown}: holds Parquet, whatever its name says, and is read as such")
    return source


def json_source(shown: str, files: list[File], connection: DuckDBPyConnection) -> Source:
    """The table in files of JSON objects, one per line or as one array."""
    options = f"compression='{files[0].packed}', maximum_object_size={LONGEST_LINE}, {_AS_THEY_ARE}"
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
        for file in files:
            _look_for_bad_json(file, connection)
        raise PugnnError(f'{shown} is JSON, but not of objects such as {{"id": "a", "x": 1}}')
    lower = {name.lower() for name in seen.names}
    if any(name.rpartition("_")[0].lower() in lower for name in seen.names):  # perhaps renamed by DuckDB
        keys = connection.execute(
            f"SELECT DISTINCT unnest(json_keys(json)) FROM read_json_objects({_paths(files)}, {options})"
        ).fetchall()
        if alike := _alike([key for (key,) in keys]):
            raise PugnnError(
                f"{shown}: the columns {alike[0]!r} and {alike[1]!r} differ in upper and lower case alone. Rename one."
            )
    types = ["VARCHAR" if kind in _GUESSED_FROM_TEXT else kind for kind in seen.types]
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in zip(seen.names, types, strict=True))
    source = _typed(
        shown, files, connection, lambda files: f"read_json({_paths(files)}, {options}, columns={{{columns}}})"
    )

    def explain(source: Source, reason: str) -> None:
        for file in files:
            _look_for_bad_json(file, connection)
        refuse(source, reason)

    source.repair = explain
    return source


def _column_names(file: File, connection: DuckDBPyConnection) -> list[str]:
    """Names of the columns of a Parquet file, as they stand there."""
    rows = connection.execute(f"SELECT name, num_children FROM parquet_schema({literal(str(file.path))})").fetchall()
    names, inner = [], 0  # the schema is a tree, written out from its root on
    for name, children in rows[1:]:
        if not inner:
            names.append(name)
        inner = max(inner - 1, 0) + (children or 0)
    return names


def _alike(names: Sequence[str]) -> tuple[str, str] | None:
    """Two names that differ in upper and lower case alone."""
    found: dict[str, str] = {}
    for name in names:
        other = found.setdefault(name.lower(), name)
        if other != name:
            return other, name
    return None


def _look_for_bad_json(file: File, connection: DuckDBPyConnection) -> None:
    """Complain of the first line that is not right; DuckDB counts lines in its own way.

    No more is looked at than the beginning of the file: what is packed may be of any size.
    """
    text = file.head(connection).decode("utf-8-sig", errors="replace")
    lines = [text] if text.lstrip().startswith("[") else text.split("\n")
    for row, line in enumerate(lines, 1):
        try:
            json.loads(line.strip() or "{}", object_pairs_hook=_with_good_keys)
        except json.JSONDecodeError as error:
            if len(text) >= HEAD_BYTES and row == len(lines):
                return  # it may go on
            where = f"{file.shown}, row {row + error.lineno - 1}"
            raise PugnnError(f"{where}: not JSON, from letter {error.colno} on: {error.msg}") from None
        except RecursionError:
            raise PugnnError(f"{file.shown}, row {row}: too many brackets inside of one another") from None
        except _BadKey as error:
            raise PugnnError(f"{file.shown}, row {row}: {error}") from None


class _BadKey(Exception):
    pass


def _with_good_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    entries = dict(pairs)
    if "" in entries:
        raise _BadKey("a column has an empty name. Give it one.")
    if len(entries) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _BadKey(f"{twice!r} stands there twice. Remove or rename one.")
    return entries


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
