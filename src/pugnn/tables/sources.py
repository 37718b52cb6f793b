"""Files of several formats, and tables in memory, as sources."""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from pugnn.errors import PugnnError, shorten
from pugnn.tables.connecting import literal
from pugnn.tables.delimited import DelimitedFile, open_delimited
from pugnn.tables.files import File
from pugnn.tables.objects import MemoryTable
from pugnn.tables.source import Source, aliased, described, reason_of, refuse
from pugnn.tables.typed_files import json_source, parquet_source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


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
        return parquet_source(shown, files, connection)
    return json_source(shown, files, connection)


def memory_source(shown: str, table: MemoryTable, connection: DuckDBPyConnection) -> Source:
    """The table that an object in memory is."""
    view = f"memory_{shown}"
    try:
        connection.register(view, table.content)
        types = described(connection, view)
    except ImportError as error:
        raise PugnnError(f"{shown}: tables of this kind are read through {error.name}; install it") from None
    except Exception as error:  # whatever a foreign library does not like about its own object
        raise PugnnError(f"{shown}: the table cannot be read: {reason_of(error)}") from None
    return Source(
        shown,
        connection,
        aliased(view, len(types)),
        table.names,
        tuple(types.values()),
        typed=True,
        locate=lambda row: f"{shown}, row {row + 1}",
        repair=refuse,
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
    table = f"read_csv([{paths}], {files[0].options()}, hive_partitioning=false)"
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
