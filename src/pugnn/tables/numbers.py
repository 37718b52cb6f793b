"""The columns of numbers of a node table, read together and kept without their zeros."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.tables.attributes import LARGEST, is_number_type
from pugnn.tables.number_scan import MAYBE, OTHER_NUMBERS, Irregular, scan_numbers
from pugnn.tables.source import Source, Unreadable

#: Why a table in text is read in another way.
IRREGULAR = "its rows are not all of the same form"

#: Numbers of a typed table that are read at once.
_NUMBERS_AT_ONCE = 1 << 24


@dataclass(frozen=True)
class Summary:
    """What there is to know of a column of numbers.

    Args:
        present: number of rows with a number.
        missing: number of rows without.
        nonzero: number of rows with another number than zero.
        lowest: the least number, and
        highest: the greatest one; both NaN if there is none.
        truths: whether all of them are 0 or 1.
    """

    present: int
    missing: int
    nonzero: int
    lowest: float
    highest: float
    truths: bool


@dataclass(frozen=True, eq=False)
class Numbers:
    """Columns that hold finite numbers and missing values, nothing else.

    Args:
        names: of the columns, unique.
        matrix: shape ``(rows, columns)``, float64 in CSC form; a missing number is NaN, and zeros are not stored.
        given_sparse: whether the user gave them without their zeros.
    """

    names: tuple[str, ...]
    matrix: sp.csc_array
    given_sparse: bool = False

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each column by its name."""
        return {name: at for at, name in enumerate(self.names)}

    def column(self, name: str) -> NDArray[np.float64]:
        """The numbers of a column, shape ``(rows,)``."""
        stored, rows = self._stored(name), self._rows(name)
        numbers = np.zeros(self.matrix.shape[0])
        numbers[rows] = stored
        return numbers

    def summary(self, name: str) -> Summary:
        """What there is to know of a column."""
        stored, rows = self._stored(name), self.matrix.shape[0]
        numbers = stored[~np.isnan(stored)]
        missing = len(stored) - len(numbers)
        edge = [] if rows == len(stored) else [0.0]  # zeros are not stored
        return Summary(
            present=rows - missing,
            missing=missing,
            nonzero=len(numbers),
            lowest=min([*edge, *([numbers.min()] if len(numbers) else [])], default=np.nan),
            highest=max([*edge, *([numbers.max()] if len(numbers) else [])], default=np.nan),
            truths=bool((numbers == 1).all()),
        )

    def of_rows(self, rows: NDArray[np.int64]) -> Numbers:
        """The numbers of some rows."""
        return replace(self, matrix=self.matrix[rows]) if self.names else self

    def with_rows(self, rows: int) -> Numbers:
        """The numbers with rows of zeros behind them, up to so many."""
        indices, indptr = self.matrix.indices, self.matrix.indptr
        return replace(self, matrix=sp.csc_array((self.matrix.data, indices, indptr), shape=(rows, len(self.names))))

    def _stored(self, name: str) -> NDArray[np.float64]:
        at = self.places[name]
        stored: NDArray[np.float64] = self.matrix.data[self.matrix.indptr[at] : self.matrix.indptr[at + 1]]
        return stored

    def _rows(self, name: str) -> NDArray[np.int32]:
        at = self.places[name]
        rows: NDArray[np.int32] = self.matrix.indices[self.matrix.indptr[at] : self.matrix.indptr[at + 1]]
        return rows


def numbers_in_text(source: Source, places: Sequence[int], no_words: Collection[str]) -> Numbers:
    """Those of the columns at these places of a table in delimited text that hold numbers alone.

    ``true`` and the like stand for 1 and 0, but not in the columns named in ``no_words``.
    """
    known = np.zeros(len(source.names), dtype=np.uint8)
    for at in places:
        known[at] = MAYBE | OTHER_NUMBERS if source.names[at] in no_words else MAYBE
    blocks = []
    for file in source.delimited:
        try:
            blocks += scan_numbers(file.chunks(), file.dialect.delimiter, known, header=file.dialect.header)
        except Irregular:
            raise Unreadable(source, IRREGULAR) from None
    kept = np.flatnonzero(known)
    return Numbers(tuple(source.names[at] for at in kept), _stacked(blocks, kept))


def typed_numbers(source: Source, places: Sequence[int], rows: int) -> Numbers:
    """Those of the columns at these places of a table with types and so many rows that hold numbers alone."""
    numeric = [at for at in places if source.types[at] == "BOOLEAN" or is_number_type(source.types[at])]
    at_once = max(1, _NUMBERS_AT_ONCE // max(rows, 1))
    names: list[str] = []
    indices, data = [np.zeros(0, np.int32)], [np.zeros(0)]
    for first in range(0, len(numeric), at_once):
        block = numeric[first : first + at_once]
        with source.reading():
            query = f"SELECT {', '.join(f'c_{at}::DOUBLE AS c_{at}' for at in block)} FROM {source.table}"
            columns = source.connection.execute(query).fetchnumpy()
        for at in block:
            numbers = np.ma.filled(columns.pop(f"c_{at}"), np.nan)
            if (np.abs(numbers) > LARGEST).any():  # NaN is not
                continue
            names.append(source.names[at])
            indices.append(np.flatnonzero(numbers).astype(np.int32))
            data.append(numbers[indices[-1]])
    indptr = np.cumsum([len(part) for part in indices])
    entries = np.concatenate(data)
    del data
    matrix = sp.csc_array((entries, np.concatenate(indices), indptr), shape=(rows, len(names)))
    return Numbers(tuple(names), matrix)


def _stacked(blocks: list[sp.csr_array], kept: NDArray[np.int64]) -> sp.csc_array:
    """Some columns of blocks of rows, the blocks below one another; each is given up once it is copied."""
    total = sum(np.bincount(block.indices, minlength=block.shape[1])[kept] for block in blocks) + np.zeros_like(kept)
    indptr = np.concatenate([[0], np.cumsum(total)])
    data, indices = np.empty(indptr[-1]), np.empty(indptr[-1], np.int32)
    free, rows = indptr[:-1].copy(), 0
    blocks.reverse()
    while blocks:
        block = blocks.pop().tocsc()
        for place, column in enumerate(kept.tolist()):
            inside = slice(block.indptr[column], block.indptr[column + 1])
            outside = slice(free[place], free[place] + inside.stop - inside.start)
            data[outside], indices[outside] = block.data[inside], block.indices[inside] + rows
            free[place] = outside.stop
        rows += block.shape[0]
    return sp.csc_array((data, indices, indptr), shape=(rows, len(kept)))
