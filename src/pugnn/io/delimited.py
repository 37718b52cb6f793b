"""CSV and its kin: which delimiter, which letters, is there a header, and where a row stands in the file."""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pugnn.errors import PugnnError, counted
from pugnn.io.columns import normal
from pugnn.io.connecting import literal
from pugnn.io.files import LONGEST_LINE, File
from pugnn.io.scratch import Scratch, no_room

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

DELIMITERS = ",;\t|"

#: A line that may stand before the first row of an edge list: a sign and a space, or a sign and no delimiter.
_COMMENT = re.compile(rf"[#%]+(\s|$)|[#%][^{DELIMITERS}]*$")

#: What stands in a file that is not UTF-8: the letters of Windows in Western Europe, which contain those of Latin-1.
_WESTERN = "cp1252"

#: How an array of JSON begins, in lower case; ``[id],[name]`` is a header of SQL Server's.
_JSON_ARRAY = re.compile(r'\[\s*(["\[{\d-]|true|false|null)')

_SAMPLE_ROWS = 100
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


class Dialect(NamedTuple):
    """How the text is written that DuckDB reads."""

    names: tuple[str, ...]
    header: bool
    delimiter: str
    packed: str
    tidy: bool
    skipped: int


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
        comments: lines of comment before the first row.
        repeats: rows that repeat the header, as in files that were joined end to end; a tidy copy is without them.
        doubtful: a usual name in the header that is also a cell of the first rows, if there is one.
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
    comments: int = 0
    repeats: int = 0
    doubtful: str | None = None

    @property
    def dialect(self) -> Dialect:
        """What must agree among files that are read together."""
        delimiter = "," if self.tidy else self.delimiter
        return Dialect(self.names, self.header and not self.tidy, delimiter, self.packed, self.tidy, self.skipped)

    def options(self) -> str:
        """The options of DuckDB's ``read_csv``; all cells are text."""
        columns = ", ".join(f"'c_{at}': 'VARCHAR'" for at in range(len(self.names)))
        tidy = ", new_line='\\n'" if self.tidy else ""  # else DuckDB goes by the first one, which a cell may hold
        return (
            f"auto_detect=false, header={str(self.dialect.header).lower()}, skip={self.skipped}, "
            f"delim={literal(self.dialect.delimiter)}, quote='\"', escape='\"', nullstr='', "
            f"strict_mode=true, null_padding=false, compression='{self.packed}', columns={{{columns}}}, "
            f"max_line_size={LONGEST_LINE}{tidy}"
        )

    def rows(self, errors: str = "replace") -> Generator[tuple[int, list[str]], None, None]:
        """Rows below the header, each with the number of the line it begins in; blank lines are passed over.

        ``errors`` says what becomes of bytes that are no letters, as for :meth:`bytes.decode`.
        """
        lines = self.file.lines(self.connection, self.encoding, errors)
        for _ in range(self.comments):
            next(lines)
        rows = _rows(self.file, lines, self.delimiter)
        if self.header:
            next(rows)
        yield from ((line + self.comments, cells) for line, cells in rows)

    def chunks(self) -> Iterator[bytes]:
        """What DuckDB reads, in UTF-8 and unpacked, cut anywhere."""
        return replace(self.file, path=self.path, packed=self.packed).chunks(self.connection)

    def repeats_header(self, cells: list[str]) -> bool:
        """Whether a row holds the names of the columns once more. In a list of ids one cannot be sure."""
        return self.header and len(self.names) > 1 and tuple(cell.strip() for cell in cells) == self.names

    def line_of(self, row: int) -> int:
        """The line in which a row below the header begins."""
        with closing(self.rows()) as rows:
            kept = (line for line, cells in rows if not self.repeats_header(cells))
            return next(line for at, line in enumerate(kept) if at == row)

    def tidied(self, scratch: Scratch) -> DelimitedFile:
        """A copy that is plain beyond doubt, for a file that DuckDB refuses; an error where the file is broken."""
        encoding = self.encoding
        try:
            path, repeats = self._write_tidy(scratch)
        except UnicodeDecodeError:
            encoding = _western(self.file)
            path, repeats = replace(self, encoding=encoding)._write_tidy(scratch)
        return replace(
            self,
            path=path,
            packed="none",
            encoding=encoding,
            skipped=0,
            tidy=True,
            repeats=repeats,
        )

    def _write_tidy(self, scratch: Scratch) -> tuple[Path, int]:
        width, repeats = len(self.names), 0
        copy, path = scratch.new_file()
        text = io.TextIOWrapper(copy, "utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
        try:
            for line, cells in self.rows(errors="strict"):
                if self.repeats_header(cells):
                    repeats += 1
                    continue
                if len(cells) < width or any(cells[width:]):
                    whose = "the header has" if self.header else "the first row has"
                    remedy = f"Cells that contain {_named(self.delimiter)} need quotation marks around them."
                    if len(cells) < width:
                        remedy = "Add the missing ones, or remove the row."
                    raise PugnnError(
                        f"{self.file.shown}, row {line}: {counted(len(cells), 'cell')} where {whose} {width}. {remedy}"
                    )
                writer.writerow(cells[:width])
            text.flush()
        except OSError as error:
            raise no_room(error) from None
        finally:
            with suppress(OSError):
                text.detach()
        scratch.written(copy)
        return path, repeats


def open_delimited(
    file: File, connection: DuckDBPyConnection, scratch: Scratch, known: Collection[str], *, edges: bool
) -> DelimitedFile:
    """Look at the beginning of a file to find out how to read it.

    Args:
        file: the file.
        connection: DuckDB's connection.
        scratch: takes a copy where one is needed.
        known: names of columns, in the form of :func:`~pugnn.io.columns.normal`, that make a first row a header.
        edges: whether it is a list of edges, which may begin with comments and have spaces between its columns.
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
    _refuse_other_formats(file, text)
    comments = _comments(text) if edges else 0
    text = "".join(text.splitlines(keepends=True)[comments:]) if comments else text
    delimiter, rows = _split(file, text, DELIMITERS + " " if edges else DELIMITERS)
    if not any(cell.strip() for _, cells in rows for cell in cells):
        raise PugnnError(f"{file.shown} is empty: it holds nothing but blank lines")
    first_line, first = rows[0]
    header = _is_header(first, [cells for _, cells in rows[1:]], known)
    while len(first) > 1 and header and not first[-1].strip():  # a delimiter at the end of each line
        first = first[:-1]
    if header:  # a column without a name gets the one that pandas gives it
        names = tuple(cell.strip() or f"Unnamed: {at}" for at, cell in enumerate(first))
    else:
        names = tuple(f"column {at}" for at, _ in enumerate(first, 1))
    below = {cell.strip() for _, cells in rows[1:] for cell in cells if cells != first}
    found = DelimitedFile(
        file,
        connection,
        file.path,
        file.packed,
        encoding,
        delimiter,
        header,
        names,
        skipped=comments + first_line - 1,
        comments=comments,
        doubtful=next((name for name in names if header and normal(name) in known and name in below), None),
    )
    return found if encoding == "utf-8-sig" else found.tidied(scratch)


def _refuse_other_formats(file: File, text: str) -> None:
    begins = text.lstrip().lower()
    if begins.startswith("%%matrixmarket"):
        raise PugnnError(
            f"{file.shown} is a Matrix Market file. Attributes may come as one (--attributes); for edges, save a table "
            "with the columns source and target, or use Graph.from_scipy(scipy.io.mmread(…)) in Python."
        )
    if begins.startswith("<?xml") and "<graphml" in begins:
        raise PugnnError(
            f"{file.shown} is GraphML. Save its edges as CSV, or give read_graph(networkx.read_graphml(…)) in Python."
        )
    if begins.startswith(("<!doctype html", "<html", "<?xml")):
        raise PugnnError(f"{file.shown} is not a table but a page of HTML or XML; was the download an error page?")
    if _JSON_ARRAY.match(begins):
        raise PugnnError(
            f'{file.shown} is JSON, but not of objects such as {{"id": "a", "x": 1}}. A list of ids may also '
            "be plain text, one on each line."
        )


def _comments(text: str) -> int:
    """Number of lines of comment at the beginning; none where the sign also begins later lines, as part of an id."""
    lines = text.splitlines()[: 10 * _SAMPLE_ROWS]
    comments = len(list(takewhile(_COMMENT.match, lines)))
    return 0 if any(map(_COMMENT.match, lines[comments:])) or comments == len(lines) else comments


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


def _split(file: File, text: str, delimiters: str) -> tuple[str, list[tuple[int, list[str]]]]:
    """The delimiter that cuts most of the first rows into as many cells as the first one, and these rows."""
    tried: list[tuple[float, int, int, list[tuple[int, list[str]]]]] = []
    for delimiter in delimiters:
        if delimiter == " " and tried:  # what is inside of cells more often than between them
            break
        rows = list(_sample(file, text, delimiter))
        widths = [len(cells) for _, cells in rows]
        if widths and widths[0] > 1:
            tried.append((widths.count(widths[0]) / len(widths), widths[0], -delimiters.index(delimiter), rows))
    if not tried:
        return ",", list(_sample(file, text, ","))
    _, _, at, rows = max(tried, key=lambda found: found[:3])
    return delimiters[-at], rows


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
    return {"\t": "a tab", " ": "a space"}.get(delimiter, f"{delimiter!r}")
