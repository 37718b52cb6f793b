"""Numbers from delimited text, all columns in one pass, for tables that may have thousands of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from itertools import islice

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.features.attribute_table import FALSE_WORDS, MAX_FLOAT, MISSING_WORDS, TRUE_WORDS
from pugnn.graph.compiling import kernel
from pugnn.store.tables.input_files import MAX_LINE_LENGTH
from pugnn.threads import available_threads

#: What is known of a column, as bits: it may still be numeric; some cells are words such as ``true``; some are numbers
#: other than 0 and 1. A column with both words and such numbers is not numeric.
MAYBE, WORDS, OTHER_NUMBERS = 1, 2, 4

_NUMBER, _WORD, _MISSING, _OTHER = 0, 1, 2, 3

# Powers of ten as sums of two floats, 106 bits in all: numbers of 19 digits are read exactly but for rare cases.
_MAX_TENS = 290
_TENS = [Fraction(10) ** power for power in range(-_MAX_TENS, _MAX_TENS + 1)]
_TENS_HIGH = np.array([float(ten) for ten in _TENS])
_TENS_LOW = np.array([float(ten - Fraction(high)) for ten, high in zip(_TENS, _TENS_HIGH.tolist(), strict=True)])

# Words as numbers: a 1, and their letters.
_MAX_WORD = 7
_TRUE_WORDS, _FALSE_WORDS, _MISSING_WORDS = (
    np.array([int.from_bytes(b"\1" + word.encode()) for word in words], dtype=np.uint64)
    for words in (TRUE_WORDS, FALSE_WORDS, MISSING_WORDS)
)


class Irregular(Exception):
    """The text is not regular enough to be read this way."""


def scan_numbers(
    chunks: Iterable[bytes], delimiter: str, known: NDArray[np.uint8], *, header: bool
) -> list[sp.csr_array]:
    """The numbers in delimited text, as consecutive sparse blocks of rows.

    True and false are 1 and 0. Zeros are not stored, and a missing number is NaN. Values of a column that turns out not
    to be numeric are meaningless.

    Args:
        chunks: the text in UTF-8, cut anywhere.
        delimiter: between cells.
        known: what is known of the columns, shape ``(columns,)``: :data:`MAYBE` for those to read. Updated to what was
            found, 0 for those that are not numeric.
        header: whether the first row holds names.
    """
    blocks: list[sp.csr_array] = []
    texts, threads = _complete_rows(chunks), available_threads()
    with ThreadPoolExecutor(threads) as pool:
        while known.any() and (some := list(islice(texts, threads))):
            skips = [header and not blocks, *[False] * (len(some) - 1)]
            found = list(pool.map(partial(_scan_rows, ord(delimiter), known), some, skips))
            blocks += [block for block, _ in found]
            learned = np.array([of_text for _, of_text in found])
            known[:] = np.where(learned.all(axis=0), np.bitwise_or.reduce(learned), 0)
            known[known == MAYBE | WORDS | OTHER_NUMBERS] = 0
    return blocks


def _complete_rows(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same text, cut at ends of rows: of lines before which all quotation marks are closed."""
    left = b""
    for number, chunk in enumerate(chunks):
        text = left + (chunk if number else chunk.removeprefix(b"\xef\xbb\xbf"))
        end = text.rfind(b"\n") + 1
        while text.count(b'"', 0, end) % 2:
            end = text.rfind(b"\n", 0, end - 1) + 1
        if text[:end].strip(b"\r\n"):
            yield text[:end]
        left = text[end:]
        if len(left) > MAX_LINE_LENGTH:  # a quotation mark that is not closed
            raise Irregular
    if left.strip(b"\r\n"):
        yield left


def _scan_rows(
    delimiter: int, known: NDArray[np.uint8], text: bytes, skip: bool
) -> tuple[sp.csr_array, NDArray[np.uint8]]:
    """The numbers in some rows, and what is known of the columns then."""
    data, known = np.frombuffer(text, np.uint8), known.copy()
    # Each cell takes a byte at least, what ends it; each row as many as there are columns.
    columns, values = np.empty(len(data) + 1, np.int32), np.empty(len(data) + 1)
    ends = np.zeros(len(data) // len(known) + 2, np.int32)  # as columns, or scipy would copy these
    rows = _scan(data, delimiter, int(skip), known, columns, values, ends)
    if rows < 0:
        raise Irregular
    for array in (columns, values):
        array.resize(int(ends[rows]), refcheck=False)  # in place: a copy would take as long as the rest
    return sp.csr_array((values, columns, ends[: rows + 1]), shape=(rows, len(known))), known


def stack_columns(blocks: list[sp.csr_array], kept: NDArray[np.int64]) -> sp.csc_array:
    """Some columns of blocks of rows, the blocks below one another; the list is emptied, to free memory."""
    if not blocks:
        return sp.csc_array((0, len(kept)))
    stacked = sp.vstack(blocks, format="csr")
    blocks.clear()
    return stacked.tocsc()[:, kept]


@kernel(nogil=True)
def _scan(data, delimiter, skip, known, columns, values, ends):  # type: ignore[no-untyped-def]
    """Read rows, of which the first ``skip`` are left out; returns how many were read, or −1 for irregular text."""
    width, size = len(known), len(data)
    quote, line_feed, carriage_return = 34, 10, 13
    at, rows, entries = 0, 0, 0
    while at < size:
        if data[at] == line_feed or (data[at] == carriage_return and at + 1 < size and data[at + 1] == line_feed):
            at += 1  # a blank line
            continue
        column = 0
        going = True
        while going:
            if at < size and data[at] == quote:
                at += 1
                start, closed = at, False
                while at < size and not closed:
                    if data[at] != quote:
                        at += 1
                    elif at + 1 < size and data[at + 1] == quote:
                        at += 2
                    else:
                        closed = True
                end = at
                at += 1
                if not closed:
                    return -1
                if at < size and data[at] != delimiter and data[at] != line_feed and data[at] != carriage_return:
                    return -1
            else:
                start = at
                while at < size and data[at] != delimiter and data[at] != line_feed and data[at] != carriage_return:
                    at += 1
                end = at
            if column == width:
                return -1
            if skip == 0 and known[column]:
                if end - start == 1 and 48 <= data[start] <= 57:  # a digit, as most cells are
                    kind, value = _NUMBER, float(data[start] - 48)
                else:
                    kind, value = _cell(data, start, end)
                if kind == _WORD:
                    known[column] |= WORDS
                elif kind == _NUMBER and value != 0 and value != 1:
                    known[column] |= OTHER_NUMBERS
                if kind == _OTHER or known[column] == MAYBE | WORDS | OTHER_NUMBERS:
                    known[column] = 0
                elif value != 0:  # NaN too
                    columns[entries] = column
                    values[entries] = value
                    entries += 1
            column += 1
            going = at < size and data[at] == delimiter
            if at < size and data[at] == carriage_return:
                at += 1
                if at < size and data[at] != line_feed:
                    return -1
            at += 1
        if column < width:
            return -1
        if skip:
            skip -= 1
        else:
            rows += 1
            ends[rows] = entries
    return rows


@kernel(nogil=True)
def _cell(data, start, end):  # type: ignore[no-untyped-def]
    """What a cell holds, and the number if it is one."""
    while start < end and (data[start] == 32 or 9 <= data[start] <= 13):
        start += 1
    while start < end and (data[end - 1] == 32 or 9 <= data[end - 1] <= 13):
        end -= 1
    at, negative = start, False
    if at < end and (data[at] == 43 or data[at] == 45):
        negative = data[at] == 45
        at += 1
    number, power, digits, read, behind_point = np.uint64(0), 0, 0, 0, False
    while at < end and (48 <= data[at] <= 57 or (data[at] == 46 and not behind_point)):
        if data[at] == 46:
            behind_point = True
        else:
            number = number * np.uint64(10) + np.uint64(data[at] - 48)
            read += 1
            digits += digits > 0 or data[at] != 48
            power -= behind_point
        at += 1
    if read == 0:
        return _word(data, start, end)
    if at < end and (data[at] == 101 or data[at] == 69):
        at += 1
        down = at < end and data[at] == 45
        if at < end and (data[at] == 43 or data[at] == 45):
            at += 1
        if at == end or end - at > 5:
            return _OTHER, 0.0
        exponent = 0
        while at < end and 48 <= data[at] <= 57:
            exponent = 10 * exponent + (data[at] - 48)
            at += 1
        power += -exponent if down else exponent
    if at < end or digits > 19 or power < -_MAX_TENS or power > _MAX_TENS:
        return _OTHER, 0.0
    if number <= np.uint64(1 << 53) and -22 <= power <= 22:  # both are exact
        value = float(number)
        value = value * _TENS_HIGH[_MAX_TENS + power] if power >= 0 else value / _TENS_HIGH[_MAX_TENS - power]
    else:
        value = _product(number, _TENS_HIGH[_MAX_TENS + power], _TENS_LOW[_MAX_TENS + power])
    if value > MAX_FLOAT:
        return _OTHER, 0.0
    return _NUMBER, -value if negative else value


@kernel(nogil=True)
def _product(number, high, low):  # type: ignore[no-untyped-def]
    """An integer times a sum of two floats, rounded once: Dekker's product."""
    above = float(number)
    below = float(np.int64(number - np.uint64(above)))
    cut = 134217729.0
    half = cut * above
    above_1 = half - (half - above)
    above_2 = above - above_1
    half = cut * high
    high_1 = half - (half - high)
    high_2 = high - high_1
    product = above * high
    error = ((above_1 * high_1 - product) + above_1 * high_2 + above_2 * high_1) + above_2 * high_2
    return product + (error + above * low + below * high)


@kernel(nogil=True)
def _word(data, start, end):  # type: ignore[no-untyped-def]
    """What a cell that is not a number holds: true or false, a missing value, or something else."""
    if start == end:
        return _MISSING, np.nan
    if end - start > _MAX_WORD:
        return _OTHER, 0.0
    word = np.uint64(1)
    for at in range(start, end):
        letter = data[at] + 32 if 65 <= data[at] <= 90 else data[at]
        word = word << np.uint64(8) | np.uint64(letter)
    if (word == _TRUE_WORDS).any():
        return _WORD, 1.0
    if (word == _FALSE_WORDS).any():
        return _WORD, 0.0
    return (_MISSING, np.nan) if (word == _MISSING_WORDS).any() else (_OTHER, 0.0)
