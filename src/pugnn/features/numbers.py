"""Columns of numbers, kept without their zeros."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


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
