"""Tables in CSV and similar text."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from pugnn.errors import EmptyTableError, PugnnError, counted, shorten
from pugnn.store.tables.column_names import normal
from pugnn.store.tables.database import literal, paths_sql
from pugnn.store.tables.input_files import MAX_LINE_LENGTH, File, Scratch
from pugnn.store.tables.objects import reject_repeated_names
from pugnn.store.tables.sniffing import (
    DELIMITERS,
    Row,
    count_comments,
    csv_rows,
    encoding_of,
    is_header,
    reject_other_formats,
    split,
    western_encoding,
)
from pugnn.store.tables.table import Table, Unreadable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class DelimitedFile:
    """A file of delimited text and how to read it."""

    file: File  # the user's file
    copy: Path | None  # what DuckDB reads instead, if anything: plain CSV without a header
    encoding: str  # of the user's file
    delimiter: str  # between the cells of the user's file
    header: bool  # whether its first row holds names
    names: tuple[str, ...]  # of its columns; ``column 1``, … without a header
    skipped: int = 0  # lines before its first row
    comments: int = 0  # how many of these are comments
    repeats: int = 0  # rows that repeat the header, as in files that were joined end to end; a copy leaves them out
    #: A usual column name in the header that is also a cell of the first rows, if there is one.
    doubtful: str | None = None

    @property
    def readable(self) -> File:
        """What DuckDB reads."""
        return self.file if self.copy is None else replace(self.file, path=self.copy, packed="none")

    @property
    def dialect(self) -> tuple[str, bool]:
        """The delimiter of what DuckDB reads, and whether that has a header."""
        return (self.delimiter, self.header) if self.copy is None else (",", False)

    def options(self) -> str:
        """The options of DuckDB's ``read_csv``; all cells are text."""
        delimiter, header = self.dialect
        columns = ", ".join(f"'c_{at}': 'VARCHAR'" for at in range(len(self.names)))
        # DuckDB would go by the first line end, which may be inside a cell.
        line_end = "" if self.copy is None else ", new_line='\\n'"
        return (
            f"auto_detect=false, header={str(header).lower()}, skip={0 if self.copy else self.skipped}, "
            f"delim={literal(delimiter)}, quote='\"', escape='\"', nullstr='', strict_mode=true, null_padding=false, "
            f"compression='{self.readable.packed}', columns={{{columns}}}, max_line_size={MAX_LINE_LENGTH}{line_end}"
        )

    def rows(self, errors: str = "replace") -> Generator[Row, None, None]:
        """The rows below the header of the user's file; ``errors`` is as for :meth:`bytes.decode`."""
        lines = self.file.lines(self.encoding, errors)
        for _ in range(self.comments):
            next(lines)
        rows = csv_rows(self.file, lines, self.delimiter)
        if self.header:
            next(rows)
        yield from ((line + self.comments, cells) for line, cells in rows)

    def repeats_header(self, cells: list[str]) -> bool:
        """Whether a row repeats the names of the columns. In a list of ids one cannot be sure."""
        return self.header and len(self.names) > 1 and tuple(cell.strip() for cell in cells) == self.names

    def kept_lines(self) -> Iterator[int]:
        """The numbers of the lines in which rows begin, other than repeated headers."""
        with closing(self.rows()) as rows:
            yield from (line for line, cells in rows if not self.repeats_header(cells))

    def copied(self, scratch: Scratch) -> DelimitedFile:
        """With a plain copy, for a file that DuckDB rejects; an error if the file itself is broken."""
        if self.copy is not None:
            return self
        try:
            with scratch.new_file() as (copy, path):
                text = io.TextIOWrapper(copy, "utf-8", newline="")
                try:
                    repeats = self._write_rows(text)
                finally:
                    text.detach()  # after a flush; the file stays open
        except UnicodeDecodeError:
            return replace(self, encoding=western_encoding(self.file)).copied(scratch)
        return replace(self, copy=path, repeats=repeats)

    def _write_rows(self, text: io.TextIOWrapper) -> int:
        """Write all rows as plain CSV, except repeated headers; returns how many of these there are."""
        writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
        width, repeats = len(self.names), 0
        for line, cells in self.rows(errors="strict"):
            if self.repeats_header(cells):
                repeats += 1
            elif len(cells) < width or any(cells[width:]):
                raise self._wrong_width(line, len(cells))
            else:
                writer.writerow(cells[:width])
        return repeats

    def _wrong_width(self, line: int, cells: int) -> PugnnError:
        delimiter = {"\t": "a tab", " ": "a space"}.get(self.delimiter, repr(self.delimiter))
        remedy = f"Put quotation marks around cells that contain {delimiter}."
        if cells < len(self.names):
            remedy = "Add the missing ones, or remove the row."
        expected = f"the {'header' if self.header else 'first row'} has {len(self.names)}"
        return PugnnError(f"{self.file.shown}, row {line}: {counted(cells, 'cell')} where {expected}. {remedy}")

    def notes(self) -> list[str]:
        """What a reader of the results should know."""
        latin = "is not UTF-8; it is read as Windows-1252 (Latin-1). Check that letters such as ü are right"
        doubt = f"its first line is read as the header, although {self.doubtful!r} is also a cell below it"
        notes = {
            "is written in UTF-16 and is read as such": self.encoding == "utf-16",
            latin: self.encoding == "cp1252",
            f"{counted(self.comments, 'comment line')} skipped": self.comments,
            f"{counted(self.repeats, 'repeated header')} skipped": self.repeats,
            f"{doubt}. If it is data, add a header line": self.doubtful is not None,
        }
        return [f"{self.file.shown}: {note}" for note, applies in notes.items() if applies]


def _opened(file: File, head: bytes, known: Collection[str], *, edges: bool) -> DelimitedFile:
    encoding = encoding_of(file, head)
    text = head.decode(encoding, errors="ignore")  # the last letter may be cut
    reject_other_formats(file, text)
    comments = count_comments(text) if edges else 0
    text = "".join(text.splitlines(keepends=True)[comments:]) if comments else text
    delimiter, rows = split(file, text, DELIMITERS + " " if edges else DELIMITERS)
    if not any(cell.strip() for _, cells in rows for cell in cells):
        raise EmptyTableError(f"{file.shown} is empty: it contains only blank lines")
    first_line, first = rows[0]
    header = is_header(first, (cells for _, cells in rows[1:]), known)
    while len(first) > 1 and header and not first[-1].strip():  # a delimiter at the end of each line
        first = first[:-1]
    if header:  # a column without a name gets the one that pandas gives it
        names = tuple(cell.strip() or f"Unnamed: {at}" for at, cell in enumerate(first))
    else:
        names = tuple(f"column {at}" for at, _ in enumerate(first, 1))
    below = {cell.strip() for _, cells in rows[1:] for cell in cells if cells != first}
    doubtful = next((name for name in names if header and normal(name) in known and name in below), None)
    skipped = comments + first_line - 1
    return DelimitedFile(file, None, encoding, delimiter, header, names, skipped, comments, doubtful=doubtful)


def delimited_table(
    shown: str,
    files: list[File],
    heads: list[bytes],
    connection: DuckDBPyConnection,
    scratch: Scratch,
    known: Collection[str],
    *,
    edges: bool,
) -> Table:
    """The table in files of delimited text, whose beginnings are ``heads``; copies go to ``scratch``.

    A first row with one of the ``known`` names is a header. A list of edges may begin with comments, and have spaces
    between its columns.
    """
    opened = [_opened(file, head, known, edges=edges) for file, head in zip(files, heads, strict=True)]
    opened = [file if file.encoding == "utf-8-sig" else file.copied(scratch) for file in opened]
    names = opened[0].names
    for file in opened[1:]:
        if file.names != names:
            raise PugnnError(
                f"{file.file.shown} has the columns {shorten(file.names, 20)}, but {files[0].shown} has "
                f"{shorten(names, 20)}"
            )
    if len({file.options() for file in opened}) > 1:
        opened = [file.copied(scratch) for file in opened]
    reject_repeated_names(names, shown)

    def look_for_headers() -> None:
        if any(file.repeats_header(cells) for file in opened if file.copy is None for _, cells in file.rows()):
            raise Unreadable(table, "its header is repeated")  # a copy is without them

    def locate(row: int) -> str:
        look_for_headers()  # a repeated header would shift the rows below it
        ends = [0, *accumulate(sum(1 for _ in file.kept_lines()) for file in opened[:-1])]
        at = max(i for i, end in enumerate(ends) if end <= row)
        line = next(line for place, line in enumerate(opened[at].kept_lines()) if place == row - ends[at])
        return f"{opened[at].file.shown}, row {line}"

    def repair(table: Table, reason: str) -> None:
        if all(file.copy is not None for file in opened):
            raise PugnnError(f"cannot read {shown}: {reason}")
        opened[:] = [file.copied(scratch) for file in opened]
        table.sql = _sql(opened)
        table.notes[:] = [note for file in opened for note in file.notes()]

    table = Table(
        shown,
        connection,
        _sql(opened),
        names,
        ("VARCHAR",) * len(names),
        typed=False,
        locate=locate,
        repair=repair,
        look_for_headers=look_for_headers,
        header=opened[0].header,
        delimited=opened,
        notes=[note for file in opened for note in file.notes()],
    )
    return table


def _sql(files: list[DelimitedFile]) -> str:
    paths = paths_sql(file.readable.path for file in files)
    table = f"read_csv({paths}, {files[0].options()}, hive_partitioning=false)"
    if len(files[0].names) > 1:
        return table
    # DuckDB skips blank lines, except in tables of one column, where they would be empty cells.
    return f"(SELECT * FROM {table} WHERE trim(c_0, ' \t\r\n') <> '') AS lines"
