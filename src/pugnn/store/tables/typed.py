"""Tables in files that carry types: Parquet and JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from pugnn.errors import PugnnError
from pugnn.store.tables.database import literal, paths_sql
from pugnn.store.tables.input_files import HEAD_BYTES, MAX_LINE_LENGTH, File
from pugnn.store.tables.table import Table, aliased, described, reason_of, reject

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Types that DuckDB guesses from text in JSON, which has no such types; it stays text.
_GUESSED_FROM_TEXT = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID")

#: Names of folders are not columns.
_NO_PARTITIONS = "hive_partitioning=false"


def parquet_table(shown: str, files: list[File], connection: DuckDBPyConnection) -> Table:
    """The table in Parquet files; columns are matched by name."""
    together = "union_by_name=true, " if len(files) > 1 else ""
    table = _typed(shown, files, connection, "read_parquet", f"{together}binary_as_string=true, {_NO_PARTITIONS}")
    table.by_column = True
    for file in files:  # DuckDB renames columns whose names differ only in case
        with open(file.path, "rb") as content:  # pyarrow takes names for addresses
            names = pq.read_schema(content).names
        if len(files) == 1:
            table.names = tuple(names)
        else:
            _reject_alike(names, file.shown, ", so several files cannot be read together")
    table.notes += [note for file in files for note in file.notes]
    if "://" not in shown and any(name in file.shown.lower() for file in files for name in (".csv", ".tsv", ".json")):
        table.notes.append(f"{shown}: is read as Parquet, which it is despite its name")
    return table


def json_table(shown: str, files: list[File], connection: DuckDBPyConnection) -> Table:
    """The table in files of JSON objects, one per line or as one array."""
    options = f"compression='{files[0].packed}', maximum_object_size={MAX_LINE_LENGTH}, {_NO_PARTITIONS}"

    def explain(table: Table, reason: str) -> None:
        _look_for_bad_json(files)
        reject(table, reason)

    try:
        guessed = _typed(shown, files, connection, "read_json", f"{options}, union_by_name=true, sample_size=-1")
    except PugnnError:
        _look_for_bad_json(files)
        raise
    if guessed.names == ("json",):
        explain(guessed, 'it is JSON, but not of objects such as {"id": "a", "x": 1}')
    lower = {name.lower() for name in guessed.names}
    if any(name.rpartition("_")[0].lower() in lower for name in guessed.names):  # perhaps renamed by DuckDB
        keys = connection.execute(
            "SELECT DISTINCT unnest(json_keys(json)) "
            f"FROM read_json_objects({paths_sql(file.path for file in files)}, {options})"
        ).fetchall()
        _reject_alike([key for (key,) in keys], shown)
    types = ["VARCHAR" if kind in _GUESSED_FROM_TEXT else kind for kind in guessed.types]
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in zip(guessed.names, types, strict=True))
    table = _typed(shown, files, connection, "read_json", f"{options}, columns={{{columns}}}")
    table.repair = explain
    return table


def _reject_alike(names: Sequence[str], shown: str, consequence: str = "") -> None:
    """Raise if two names differ only in case."""
    found: dict[str, str] = {}
    for name in names:
        other = found.setdefault(name.lower(), name)
        if other != name:
            raise PugnnError(
                f"{shown}: the columns {other!r} and {name!r} differ only in upper and lower case{consequence}. Rename "
                "one of them."
            )


def _look_for_bad_json(files: list[File]) -> None:
    """Raise for the first bad line; DuckDB counts lines in its own way.

    Only the beginnings of files are examined: a compressed file may be of any size.
    """
    for file in files:
        text = file.head().decode("utf-8-sig", errors="replace")
        lines = [text] if text.lstrip().startswith("[") else text.split("\n")
        for row, line in enumerate(lines, 1):
            try:
                json.loads(line.strip() or "{}", object_pairs_hook=_with_good_keys)
            except json.JSONDecodeError as error:
                if len(text) < HEAD_BYTES or row < len(lines):  # otherwise it may continue
                    where = f"{file.shown}, row {row + error.lineno - 1}"
                    raise PugnnError(f"{where}: not JSON, from character {error.colno} on: {error.msg}") from None
            except (RecursionError, PugnnError) as error:
                reason = error if isinstance(error, PugnnError) else "brackets are nested too deeply"
                raise PugnnError(f"{file.shown}, row {row}: {reason}") from None


def _with_good_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    entries = dict(pairs)
    if "" in entries:
        raise PugnnError("a column has an empty name. Give it one.")
    if len(entries) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise PugnnError(f"{twice!r} occurs twice. Remove or rename one.")
    return entries


def _typed(shown: str, files: list[File], connection: DuckDBPyConnection, reader: str, options: str) -> Table:
    """A table from files that carry types; ``reader`` is DuckDB's function that reads them."""
    import duckdb

    def sql(files: list[File]) -> str:
        return f"{reader}({paths_sql(file.path for file in files)}, {options})"

    try:
        types = described(connection, sql(files))
    except duckdb.Error as error:
        raise PugnnError(f"cannot read {shown}: {reason_of(error)}. It may be damaged or cut short.") from None

    def locate(row: int) -> str:
        for file in files[:-1]:
            count = connection.execute(f"SELECT count(*) FROM {sql([file])}").fetchall()[0][0]
            if row < count:
                return f"{file.shown}, row {row + 1}"
            row -= count
        return f"{files[-1].shown}, row {row + 1}"

    source = aliased(sql(files), len(types))
    return Table(shown, connection, source, tuple(types), tuple(types.values()), True, locate)
