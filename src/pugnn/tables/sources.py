"""Whatever holds a table, as something that DuckDB can query: files of several formats, and tables in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pugnn.errors import PugnnError, shorten
from pugnn.tables.arrow import StreamError
from pugnn.tables.connecting import literal
from pugnn.tables.delimited import DelimitedFile, open_delimited
from pugnn.tables.files import File
from pugnn.tables.objects import MemoryTable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: What DuckDB takes some text in JSON for, which has no such types; it stays text.
_GUESSED_FROM_TEXT = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID")

#: Names of folders are no columns.
_AS_THEY_ARE = "hive_partitioning=false"


class Unreadable(Exception):
    """DuckDB could not read a source to its end."""

    def __init__(self, source: Source, reason: str) -> None:
        super().__init__(reason)
        self.source = source


@dataclass(eq=False)
class Source:
    """A table to read.

    Args:
        shown: its name in messages.
        connection: DuckDB's connection.
        table: what stands behind FROM in SQL; the columns are ``c_0``, ``c_1``, …
        names: the users' names of the columns.
        types: DuckDB's types of them.
        typed: whether the types mean something; cells of CSV are all text.
        header: whether the names come from the table itself.
        locate: where a row is, counted from 0, such as ``edges.csv, row 17``.
        repair: puts another ``table`` in place after DuckDB has refused this one, or raises an error that says why not.
        notes: what a reader of the results should know.
        originals: ids in memory that are neither text nor of a type that DuckDB knows, by their text.
    """

    shown: str
    connection: DuckDBPyConnection
    table: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    typed: bool
    locate: Callable[[int], str]
    repair: Callable[[Source, str], None]
    header: bool = True
    notes: list[str] = field(default_factory=list)
    originals: Mapping[str, Any] = field(default_factory=dict)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Around every query of the source."""
        import duckdb

        try:
            yield
        except (duckdb.Error, StreamError) as error:
            raise Unreadable(self, _reason(error)) from None

    def cell(self, row: int, column: int) -> Any:
        """One cell, for a message."""
        query = f"SELECT c_{column} FROM {self.table} LIMIT 1 OFFSET {row}"
        return self.connection.execute(query).fetchall()[0][0]


def file_source(
    shown: str, files: list[File], connection: DuckDBPyConnection, folder: Path, known: Collection[str]
) -> Source:
    """The table in one or several files of the same format.

    Args:
        shown: what the user gave.
        files: the files.
        connection: DuckDB's connection.
        folder: where copies may be written.
        known: names of columns that make the first row of a CSV file a header.
    """
    formats = [_format(file, connection) for file in files]
    for file, kind in zip(files, formats, strict=True):
        if kind != formats[0]:
            raise PugnnError(f"{shown}: {files[0].shown} and {file.shown} are of different formats; make them one")
    if formats[0] == "csv":
        return _delimited(shown, [open_delimited(file, connection, folder, known) for file in files], folder)
    if formats[0] == "parquet":
        return _parquet(shown, files, connection)
    return _json(shown, files, connection)


def memory_source(shown: str, table: MemoryTable, connection: DuckDBPyConnection) -> Source:
    """The table that an object in memory is."""
    view = f"memory_{shown}"
    try:
        connection.register(view, table.content)
        types = _described(connection, view)
    except ImportError as error:
        raise PugnnError(f"{shown}: tables of this kind are read through {error.name}; install it") from None
    except Exception as error:  # whatever a foreign library does not like about its own object
        raise PugnnError(f"{shown}: the table cannot be read: {_reason(error)}") from None
    return Source(
        shown,
        connection,
        _aliased(view, len(types)),
        table.names,
        tuple(types.values()),
        typed=True,
        locate=lambda row: f"{shown}, row {row + 1}",
        repair=_refuse,
        originals=table.originals,
    )


def _format(file: File, connection: DuckDBPyConnection) -> str:
    if file.parquet:
        return "parquet"
    text = file.head(connection).decode("utf-8-sig", errors="ignore").lstrip()
    is_json = text.startswith("{") or (text[:1] == "[" and text[1:].lstrip()[:1] in ("{", "]"))
    return f"json, {file.packed}" if is_json else "csv"


def _delimited(shown: str, files: list[DelimitedFile], folder: Path) -> Source:
    if len({file.dialect for file in files}) > 1:
        files = [file if file.tidy else file.tidied(folder) for file in files]
    for file in files[1:]:
        if file.names != files[0].names:
            raise PugnnError(
                f"{file.file.shown} has the columns {shorten(file.names, 20)} where {files[0].file.shown} has "
                f"{shorten(files[0].names, 20)}"
            )
    twice = [name for name in files[0].names if files[0].names.count(name) > 1]
    if twice:
        raise PugnnError(f"{shown} has several columns named {twice[0]!r}; rename or remove all but one")

    def locate(row: int) -> str:
        counts = [sum(1 for _ in file.rows()) for file in files[:-1]]
        ends = [0, *accumulate(counts)]
        at = max(i for i, end in enumerate(ends) if end <= row)
        return f"{files[at].file.shown}, row {files[at].line_of(row - ends[at])}"

    def repair(source: Source, reason: str) -> None:
        if all(file.tidy for file in files):
            raise PugnnError(f"cannot read {shown}: {reason}")
        files[:] = [file.tidied(folder) for file in files]
        source.table = _delimited_table(files)
        source.notes[:] = _encoding_notes(files)

    return Source(
        shown,
        files[0].connection,
        _delimited_table(files),
        files[0].names,
        ("VARCHAR",) * len(files[0].names),
        typed=False,
        locate=locate,
        repair=repair,
        header=files[0].header,
        notes=_encoding_notes(files),
    )


def _delimited_table(files: list[DelimitedFile]) -> str:
    paths = ", ".join(literal(str(file.path)) for file in files)
    table = f"read_csv([{paths}], {files[0].options()}, {_AS_THEY_ARE})"
    if len(files[0].names) > 1:
        return table
    # DuckDB passes over blank lines, but takes them for empty cells where there is one column.
    return f"(SELECT * FROM {table} WHERE trim(c_0, ' \t\r\n') <> '') AS lines"


def _encoding_notes(files: list[DelimitedFile]) -> list[str]:
    said = {
        "utf-16": "is written in UTF-16 and is read as such",
        "cp1252": "is not UTF-8; it is read as Windows-1252 (Latin-1). Look whether letters such as ü are right",
    }
    return [f"{file.file.shown}: {said[file.encoding]}" for file in files if file.encoding in said]


def _parquet(shown: str, files: list[File], connection: DuckDBPyConnection) -> Source:
    source = _typed(
        shown,
        files,
        connection,
        lambda files: f"read_parquet({_paths(files)}, union_by_name=true, binary_as_string=true, {_AS_THEY_ARE})",
    )
    if any(name in file.shown.lower() for file in files for name in (".csv", ".tsv", ".json")):
        source.notes.append(f"{shown}: holds Parquet, whatever its name says, and is read as such")
    return source


def _json(shown: str, files: list[File], connection: DuckDBPyConnection) -> Source:
    options = f"compression='{files[0].packed}', maximum_object_size=100000000, {_AS_THEY_ARE}"
    seen = _typed(
        shown,
        files,
        connection,
        lambda files: f"read_json({_paths(files)}, {options}, union_by_name=true, sample_size=-1)",
    )
    if seen.names == ("json",):
        raise PugnnError(f'{shown} is JSON, but not of objects such as {{"id": "a", "x": 1}}')
    types = ["VARCHAR" if kind in _GUESSED_FROM_TEXT else kind for kind in seen.types]
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in zip(seen.names, types, strict=True))
    return _typed(
        shown, files, connection, lambda files: f"read_json({_paths(files)}, {options}, columns={{{columns}}})"
    )


def _typed(shown: str, files: list[File], connection: DuckDBPyConnection, table: Callable[[list[File]], str]) -> Source:
    """A source from files that carry types; ``table`` is SQL for the table in some of them."""
    try:
        types = _described(connection, table(files))
    except Exception as error:
        raise PugnnError(f"cannot read {shown}: {_reason(error)}. It may be damaged or cut short.") from None

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
        _aliased(table(files), len(types)),
        tuple(types),
        tuple(types.values()),
        typed=True,
        locate=locate,
        repair=_refuse,
    )


def _paths(files: list[File]) -> str:
    return f"[{', '.join(literal(str(file.path)) for file in files)}]"


def _refuse(source: Source, reason: str) -> None:
    raise PugnnError(f"cannot read {source.shown}: {reason}")


def _described(connection: DuckDBPyConnection, table: str) -> dict[str, str]:
    return {row[0]: row[1] for row in connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()}


def _aliased(table: str, width: int) -> str:
    return f"{table} AS given({', '.join(f'c_{at}' for at in range(width))})"


def _reason(error: Exception) -> str:
    """The first line of what DuckDB says, without the paths of copies."""
    line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return line.removeprefix("Invalid Input Error: ").removeprefix("IO Error: ")
