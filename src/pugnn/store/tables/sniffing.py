"""How a file of delimited text is written: its encoding, its delimiter, and whether it has a header."""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice, takewhile

from pugnn.errors import PugnnError
from pugnn.store.tables.column_names import normal
from pugnn.store.tables.input_files import File

DELIMITERS = ",;\t|"

#: A line that may precede the first row of an edge list: a sign and a space, or a sign and no delimiter.
_COMMENT = re.compile(rf"[#%]+(\s|$)|[#%][^{DELIMITERS}]*$")

#: The encoding of files that are not UTF-8: that of Windows in Western Europe, which contains Latin-1.
_WESTERN = "cp1252"

#: How files begin that are not delimited text, in lower case, and what to say of them.
_OTHER_FORMATS = {
    r"sep=(.)\r?\n": r", row 1: 'sep=\1' is a hint for Excel, not a row. Remove the line.",
    "%%matrixmarket": " is a Matrix Market file. Attributes may come as one (--attributes); for edges, save a table "
    "with the columns source and target, or use Graph.from_scipy(scipy.io.mmread(…)) in Python.",
    r"<\?xml(?s:.*)<graphml": " is GraphML. Save its edges as CSV, or use read_graph(networkx.read_graphml(…)) in "
    "Python.",
    r"<!doctype html|<html|<\?xml": " is not a table but an HTML or XML page; was the download an error page?",
    # Not ``[id],[name]``, a header as SQL Server writes it.
    r'\[\s*(["\[{\d-]|true|false|null)': ' is JSON, but not of objects such as {"id": "a", "x": 1}. A list of ids may '
    "also be plain text, one per line.",
}

_SAMPLE_ROWS = 100
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)

#: A row, and the number of the line in which it begins.
Row = tuple[int, list[str]]


def reject_other_formats(file: File, text: str) -> None:
    """Raise if the beginning of a file shows that it is not delimited text."""
    start = text[:10_000].lstrip().lower()
    for pattern, words in _OTHER_FORMATS.items():
        if found := re.match(pattern, start):
            raise PugnnError(file.shown + found.expand(words))
    if "\0" in text:
        raise PugnnError(f"{file.shown} is not a table: it contains zero bytes, so it is neither text nor Parquet")


def count_comments(text: str) -> int:
    """Number of comment lines at the beginning; none if the sign also begins later lines, as part of an id."""
    lines = text.splitlines()[: 10 * _SAMPLE_ROWS]
    comments = len(list(takewhile(_COMMENT.match, lines)))
    return 0 if any(map(_COMMENT.match, lines[comments:])) or comments == len(lines) else comments


def encoding_of(file: File, head: bytes) -> str:
    """The encoding of a text file."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return western_encoding(file)
    return "utf-8-sig"


def western_encoding(file: File) -> str:
    """The encoding of a file that is not UTF-8, if it is text at all; else an error that names the first bad byte."""
    offset, bad = 0, ""
    for number, line in enumerate(file.raw_lines(), 1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            bad = bad or f"row {number}: byte {offset + error.start:,} (0x{line[error.start]:02x}) is not UTF-8"
        try:
            binary = re.search(r"[\0-\x08\x0e-\x1b\x7f]", line.decode(_WESTERN)) is not None
        except UnicodeDecodeError:
            binary = True
        if binary:
            raise PugnnError(f"{file.shown}, {bad or f'row {number}'}, and the file is not text. Save it as UTF-8 CSV.")
        offset += len(line)
    return _WESTERN


def split(file: File, text: str, delimiters: str) -> tuple[str, list[Row]]:
    """The delimiter that cuts most of the first rows into as many cells as the first one, and these rows."""
    tried: list[tuple[float, int, int, list[Row]]] = []
    for delimiter in delimiters:
        if delimiter == " " and tried:  # more often inside of cells than between them
            break
        rows = list(_sample(file, text, delimiter))
        widths = [len(cells) for _, cells in rows]
        if widths and widths[0] > 1:
            tried.append((widths.count(widths[0]) / len(widths), widths[0], -delimiters.index(delimiter), rows))
    if not tried:
        return ",", list(_sample(file, text, ","))
    _, _, at, rows = max(tried, key=lambda found: found[:3])
    return delimiters[-at], rows


def _sample(file: File, text: str, delimiter: str) -> Iterator[Row]:
    """The first rows; what is wrong in them is reported when the whole file is read."""
    try:
        yield from islice(csv_rows(file, io.StringIO(text, newline=""), delimiter), _SAMPLE_ROWS)
    except PugnnError:
        return


def is_header(first: list[str], others: Iterable[list[str]], known: Collection[str]) -> bool:
    """Whether the first row holds names: some that are known, or none that is a number or also occurs below.

    A single cell must be a known name: in a list of ids the first one is lost too easily.
    """
    if len(first) == 1 or any(normal(cell) in known for cell in first):
        return any(normal(cell) in known for cell in first)
    below = {cell.strip() for cells in others for cell in cells}
    cells = [cell.strip() for cell in first]
    return not any(not cell or _NUMBER.fullmatch(cell) or cell in below for cell in cells)


def csv_rows(file: File, lines: Iterable[str], delimiter: str) -> Iterator[Row]:
    """The rows of a file, without blank lines."""
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
