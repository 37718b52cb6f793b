"""Numbers from delimited text, all columns in one pass, for tables that may have thousands of them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.features.attributes import FALSE_WORDS, MAX_FLOAT, MISSING_WORDS, TRUE_WORDS
from pugnn.graph.compiling import kernel
from pugnn.store.tables.input_files import MAX_LINE_LENGTH

#: What is known of a column, as bits: it may still be numeric; some cells are words such as ``true``; some are numbers
#: other than 0 and 1. A column with both words and such numbers is not numeric.
MAYBE, WORDS, OTHER_NUMBERS = 1, 2, 4

_NUMBER, _WORD, _MISSING, _OTHER = 0, 1, 2, 3
_GOOD, _IRREGULAR = 0, 1

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
    width, left, skip, blocks, last = len(known), b"", int(header), [], False
    stream = iter(chunks)
    following = next(stream, b"").removeprefix(b"\xef\xbb\xbf")
    while not last and known.any():
        chunk, upcoming = following, next(stream, None)
        last, following = upcoming is None, upcoming or b""
        data = np.frombuffer(left + chunk, dtype=np.uint8)
        # Each cell takes a byte at least, what ends it; each row as many as there are columns.
        columns, values = np.empty(len(data) + 1, np.int32), np.empty(len(data) + 1)
        ends = np.zeros(len(data) // width + 2, np.int32)  # as columns, or scipy would copy these
        state, used, rows, skip = _scan(data, last, ord(delimiter), skip, known, columns, values, ends)
        if state == _IRREGULAR:
            raise Irregular
        entries = ends[rows]
        stored = values[:entries].copy(), columns[:entries].copy(), ends[: rows + 1]
        blocks.append(sp.csr_array(stored, shape=(rows, width)))
        left = data[used:].tobytes()
        if len(left) > MAX_LINE_LENGTH:  # a quotation mark that is not closed
            raise Irregular
    return blocks


def stack_columns(blocks: list[sp.csr_array], kept: NDArray[np.int64]) -> sp.csc_array:
    """Some columns of blocks of rows, the blocks below one another; each is freed once it is copied."""
    width = blocks[0].shape[1] if blocks else 0
    place = np.full(width, -1)
    place[kept] = np.arange(len(kept))
    total = sum((np.bincount(block.indices, minlength=width)[kept] for block in blocks), np.zeros_like(kept))
    kind = sp.get_index_dtype(maxval=total.sum())
    indptr, rows = np.concatenate([[0], np.cumsum(total)]).astype(kind), 0
    free, data, indices = indptr[:-1].copy(), np.empty(indptr[-1]), np.empty(indptr[-1], kind)
    blocks.reverse()
    while blocks:
        block = blocks.pop()
        _append(block.indptr, block.indices, block.data, place, rows, free, indices, data)
        rows += block.shape[0]
    return sp.csc_array((data, indices, indptr), shape=(rows, len(kept)))


@kernel(nogil=True)
def _append(indptr, columns, values, place, first, free, indices, data):  # type: ignore[no-untyped-def]
    """Copy rows to where the columns that have a place are still free."""
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            column = place[columns[entry]]
            if column >= 0:
                indices[free[column]], data[free[column]] = first + row, values[entry]
                free[column] += 1


@kernel(nogil=True)
def _scan(data, last, delimiter, skip, known, columns, values, ends):  # type: ignore[no-untyped-def]
    """Read complete rows; returns the state, bytes used, rows read and rows still to be skipped."""
    width, size = len(known), len(data)
    quote, line_feed, carriage_return = 34, 10, 13
    at, used, rows, entries = 0, 0, 0, 0
    while at < size:
        if data[at] == line_feed or (data[at] == carriage_return and at + 1 < size and data[at + 1] == line_feed):
            at += 1  # a blank line
            used = at
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
                if not closed or (at + 1 == size and not last):
                    return (_IRREGULAR if last else _GOOD), used, rows, skip
                end = at
                at += 1
                if at < size and data[at] != delimiter and data[at] != line_feed and data[at] != carriage_return:
                    return _IRREGULAR, used, rows, skip
            else:
                start = at
                while at < size and data[at] != delimiter and data[at] != line_feed and data[at] != carriage_return:
                    at += 1
                end = at
            if at == size and not last:
                return _GOOD, used, rows, skip
            if column == width:
                return _IRREGULAR, used, rows, skip
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
            if at < size and data[at] == delimiter:
                at += 1
                continue
            if at < size and data[at] == carriage_return:
                at += 1
                if at == size and not last:
                    return _GOOD, used, rows, skip
                if at < size and data[at] != line_feed:
                    return _IRREGULAR, used, rows, skip
            at += 1
            going = False
        if column < width:
            return _IRREGULAR, used, rows, skip
        used = min(at, size)
        if skip:
            skip -= 1
        else:
            rows += 1
            ends[rows] = entries
    return _GOOD, used, rows, skip


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
