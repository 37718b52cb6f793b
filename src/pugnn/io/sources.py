"""Files of several formats, and tables in memory, as sources."""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate
from typing import TYPE_CHECKING

from pugnn.errors import PugnnError, counted, shorten
from pugnn.io.connecting import literal
from pugnn.io.delimited import DelimitedFile, open_delimited
from pugnn.io.files import File
from pugnn.io.objects import MemoryTable, refuse_repeated_names
from pugnn.io.scratch import Scratch
from pugnn.io.source import Source, Unreadable, aliased, described, reason_of, refuse
from pugnn.io.typed_files import json_source, parquet_source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def file_source(
    shown: str,
    files: list[File],
    connection: DuckDBPyConnection,
    scratch: Scratch,
    known: Collection[str],
    *,
    edges: bool,
) -> Source:
    """The table in one or several files of the same format.

    Args:
        shown: what the user gave.
        files: the files.
        connection: DuckDB's connection.
        scratch: takes copies where some are needed.
        known: names of columns that make the first row of a CSV file a header.
        edges: whether it is a table of edges.
    """
    formats = [_format(file, connection) for file in files]
    for file, kind in zip(files, formats, strict=True):
        if kind != formats[0]:
            raise PugnnError(f"{shown}: {files[0].shown} and {file.shown} are of different formats; make them one")
    if formats[0] == "csv":
        opened = [open_delimited(file, connection, scratch, known, edges=edges) for file in files]
        return _delimited(shown, opened, scratch)
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
        by_column=True,
        bare=table.bare,
        originals=table.originals,
    )


def _format(file: File, connection: DuckDBPyConnection) -> str:
    if file.first.startswith(b"PK\3\4"):
        raise PugnnError(f"{file.shown} is an Excel workbook or a zip archive. Save the sheet as CSV, or unpack it.")
    if file.parquet:
        return "parquet"
    text = file.head(connection).decode("utf-8-sig", errors="ignore").lstrip()
    is_json = text.startswith("{") or (text[:1] == "[" and text[1:].lstrip()[:1] == "{")
    return f"json, {file.packed}" if is_json else "csv"


def _delimited(shown: str, files: list[DelimitedFile], scratch: Scratch) -> Source:
    if len({file.dialect for file in files}) > 1:
        files = [file if file.tidy else file.tidied(scratch) for file in files]
    for file in files[1:]:
        if file.names != files[0].names:
            raise PugnnError(
                f"{file.file.shown} has the columns {shorten(file.names, 20)} where {files[0].file.shown} has "
                f"{shorten(files[0].names, 20)}"
            )
    refuse_repeated_names(files[0].names, shown)

    def look_for_headers() -> None:
        """Have a tidy copy made, without them, where rows repeat the header."""
        if any(file.repeats_header(cells) for file in files if not file.tidy for _, cells in file.rows()):
            raise Unreadable(source, "its header is repeated")

    def locate(row: int) -> str:
        look_for_headers()  # with one among the rows, it is not the row that it seems to be
        counts = [sum(not file.repeats_header(cells) for _, cells in file.rows()) for file in files[:-1]]
        ends = [0, *accumulate(counts)]
        at = max(i for i, end in enumerate(ends) if end <= row)
        return f"{files[at].file.shown}, row {files[at].line_of(row - ends[at])}"

    def repair(source: Source, reason: str) -> None:
        if all(file.tidy for file in files):
            raise PugnnError(f"cannot read {shown}: {reason}")
        files[:] = [file.tidied(scratch) for file in files]
        source.table = _delimited_table(files)
        source.notes[:] = _notes(files)

    source = Source(
        shown,
        files[0].connection,
        _delimited_table(files),
        files[0].names,
        ("VARCHAR",) * len(files[0].names),
        typed=False,
        locate=locate,
        repair=repair,
        look_for_headers=look_for_headers,
        header=files[0].header,
        delimited=files,
        notes=_notes(files),
    )
    return source


def _delimited_table(files: list[DelimitedFile]) -> str:
    paths = ", ".join(literal(str(file.path)) for file in files)
    table = f"read_csv([{paths}], {files[0].options()}, hive_partitioning=false)"
    if len(files[0].names) > 1:
        return table
    # DuckDB passes over blank lines, but takes them for empty cells where there is one column.
    return f"(SELECT * FROM {table} WHERE trim(c_0, ' \t\r\n') <> '') AS lines"


def _notes(files: list[DelimitedFile]) -> list[str]:
    said = {
        "utf-16": "is written in UTF-16 and is read as such",
        "cp1252": "is not UTF-8; it is read as Windows-1252 (Latin-1). Look whether letters such as ü are right",
    }
    notes = [f"{file.file.shown}: {said[file.encoding]}" for file in files if file.encoding in said]
    for file in files:
        shown = file.file.shown
        if file.comments:
            notes.append(f"{shown}: {counted(file.comments, 'line')} of comment left out")
        if file.repeats:
            notes.append(f"{shown}: the header line is repeated in {counted(file.repeats, 'row')}; left out")
        if file.doubtful is not None:
            notes.append(
                f"{shown}: its first line is taken as the header, though {file.doubtful!r} is also a cell below it. "
                "If it is data, put a header line above it"
            )
    return notes
