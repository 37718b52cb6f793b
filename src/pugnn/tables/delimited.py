"""CSV and its kin: which delimiter, which letters, is there a header, and where a row stands in the file."""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pugnn.errors import PugnnError
from pugnn.tables.columns import normal
from pugnn.tables.connecting import literal
from pugnn.tables.files import File

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

DELIMITERS = ",;\t|"

#: What stands in a file that is not UTF-8: the letters of Windows in Western Europe, which contain those of Latin-1.
_WESTERN = "cp1252"

_SAMPLE_ROWS = 100
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class DelimitedFile:
    """A file of delimited text and how to read it.

    Args:
        file: the file as the user has it.
        connection: DuckDB's connection.
        path: what DuckDB reads, the file itself or a tidy copy.
        packed: how that is compressed.
        encoding: of the letters in the user's file.
        delimiter: between the cells of the user's file.
        header: whether its first row holds names.
        names: of its columns; ``column 1``, … without a header.
        skipped: lines before the first row of what DuckDB reads.
        tidy: whether DuckDB reads a copy in which commas delimit and the header is left out.
    """

    file: File
    connection: DuckDBPyConnection
    path: Path
    packed: str
    encoding: str
    delimiter: str
    header: bool
    names: tuple[str, ...]
    skipped: int = 0
    tidy: bool = False

    @property
    def dialect(self) -> tuple[object, ...]:
        """What must agree among files that are read together."""
        return self.names, self.header, "," if self.tidy else self.delimiter, self.packed, self.tidy, self.skipped

    def options(self) -> str:
        """The options of DuckDB's ``read_csv``; all cells are text."""
        columns = ", ".join(f"'c_{at}': 'VARCHAR'" for at in range(len(self.names)))
        return (
            f"auto_detect=false, header={str(self.header and not self.tidy).lower()}, skip={self.skipped}, "
            f"delim={literal(',' if self.tidy else self.delimiter)}, quote='\"', escape='\"', nullstr='', "
            f"strict_mode=true, null_padding=false, compression='{self.packed}', columns={{{columns}}}, "
            "max_line_size=100000000"
        )

    def rows(self, errors: str = "replace") -> Generator[tuple[int, list[str]], None, None]:
        """Rows below the header, each with the number of the line it begins in; blank lines are passed over.

        ``errors`` says what becomes of bytes that are no letters, as for :meth:`bytes.decode`.
        """
        rows = _rows(self.file, self.file.lines(self.connection, self.encoding, errors), self.delimiter)
        if self.header:
            next(rows)
        yield from rows

    def line_of(self, row: int) -> int:
        """The line in which a row below the header begins."""
        with closing(self.rows()) as rows:
            return next(line for at, (line, _) in enumerate(rows) if at == row)

    def tidied(self, folder: Path) -> DelimitedFile:
        """A copy that is plain beyond doubt, for a file that DuckDB refuses; an error where the file is broken."""
        copy = folder / f"tidy-{len(list(folder.iterdir()))}.csv"
        encoding = self.encoding
        try:
            self._write_tidy(copy)
        except UnicodeDecodeError:
            encoding = _western(self.file)
            replace(self, encoding=encoding)._write_tidy(copy)
        return replace(self, path=copy, packed="none", encoding=encoding, skipped=0, tidy=True)

    def _write_tidy(self, copy: Path) -> None:
        width = len(self.names)
        with copy.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
            for line, cells in self.rows(errors="strict"):
                if len(cells) < width or any(cells[width:]):
                    whose = "the header has" if self.header else "the first row has"
                    raise PugnnError(
                        f"{self.file.shown}, row {line}: {len(cells)} cells where {whose} {width}. Cells that contain "
                        f"{_named(self.delimiter)} need quotation marks around them."
                    )
                writer.writerow(cells[:width])


def open_delimited(file: File, connection: DuckDBPyConnection, folder: Path, known: Collection[str]) -> DelimitedFile:
    """Look at the beginning of a file to find out how to read it.

    Args:
        file: the file.
        connection: DuckDB's connection.
        folder: where a copy may be written.
        known: names of columns, in the form of :func:`~pugnn.tables.columns.normal`, that make a first row a header.
    """
    head = file.head(connection)
    encoding = _encoding(file, head)
    text = head.decode(encoding, errors="ignore")  # the last letter may be cut
    if "\0" in text:
        raise PugnnError(f"{file.shown} is not a table: it holds zero bytes, so it is not text, nor is it Parquet")
    if re.match(r"sep=.\r?\n", text):
        raise PugnnError(
            f"{file.shown}, row 1: {text.splitlines()[0]!r} is a hint for Excel and no row. Remove the line."
        )
    delimiter, rows = _split(file, text)
    if not any(cell.strip() for _, cells in rows for cell in cells):
        raise PugnnError(f"{file.shown} is empty: it holds nothing but blank lines")
    first_line, first = rows[0]
    header = _is_header(first, [cells for _, cells in rows[1:]], known)
    while len(first) > 1 and header and not first[-1].strip():  # a delimiter at the end of each line
        first = first[:-1]
    names = tuple((header and cell.strip()) or f"column {at}" for at, cell in enumerate(first, 1))
    found = DelimitedFile(
        file, connection, file.path, file.packed, encoding, delimiter, header, names, skipped=first_line - 1
    )
    return found if encoding == "utf-8-sig" else found.tidied(folder)


def _encoding(file: File, head: bytes) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return _western(file)
    return "utf-8-sig"


def _western(file: File) -> str:
    """The encoding of a file that is not UTF-8, if it is text at all; else an error that names the first bad byte."""
    offset, bad = 0, ""
    for number, line in enumerate(file.raw_lines(), 1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            bad = bad or f"row {number}: byte {offset + error.start:,} (0x{line[error.start]:02x}) is not UTF-8"
        try:
            strange = re.search(r"[\0-\x08\x0e-\x1b\x7f]", line.decode(_WESTERN)) is not None
        except UnicodeDecodeError:
            strange = True
        if strange:
            raise PugnnError(f"{file.shown}, {bad or f'row {number}'}, and the file is not text. Save it as UTF-8 CSV.")
        offset += len(line)
    return _WESTERN


def _split(file: File, text: str) -> tuple[str, list[tuple[int, list[str]]]]:
    """The delimiter that cuts most of the first rows into as many cells as the first one, and these rows."""
    tried = []
    for delimiter in DELIMITERS:
        rows = list(_sample(file, text, delimiter))
        widths = [len(cells) for _, cells in rows]
        if widths and widths[0] > 1:
            tried.append((widths.count(widths[0]) / len(widths), widths[0], -DELIMITERS.index(delimiter), rows))
    if not tried:
        return ",", list(_sample(file, text, ","))
    _, _, at, rows = max(tried, key=lambda found: found[:3])
    return DELIMITERS[-at], rows


def _sample(file: File, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The first rows; what is wrong in them is for those to say who read the whole file."""
    lines = io.StringIO(text, newline="")
    try:
        for at, row in enumerate(_rows(file, lines, delimiter)):
            if at == _SAMPLE_ROWS:
                return
            yield row
    except PugnnError:
        return


def _is_header(first: list[str], others: list[list[str]], known: Collection[str]) -> bool:
    """Whether the first row holds names: some that we know, or none that is a number or stands below as well.

    A single cell must be a name that we know: in a list of ids the first one is lost too easily.
    """
    if len(first) == 1 or any(normal(cell) in known for cell in first):
        return any(normal(cell) in known for cell in first)
    below = {cell.strip() for cells in others for cell in cells}
    cells = [cell.strip() for cell in first]
    return not any(not cell or _NUMBER.fullmatch(cell) or cell in below for cell in cells)


def _rows(file: File, lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    with _cells_of_any_size():
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        line = 1
        try:
            for cells in reader:
                if len(cells) > 1 or (cells and cells[0].strip()):
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error:
            raise PugnnError(
                f"{file.shown}, row {line}: a quotation mark is opened and not closed, or text follows a closing one. "
                "The file may be cut short; inside a quoted cell, a quotation mark is written twice."
            ) from None


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _named(delimiter: str) -> str:
    return "a tab" if delimiter == "\t" else f"{delimiter!r}"
