"""Numeric columns, kept without their zeros."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


@dataclass(frozen=True)
class Summary:
    """Statistics of a numeric column.

    Args:
        present: number of rows with a number.
        missing: number of rows without.
        nonzero: number of rows with a number other than zero.
        lowest: the smallest number, NaN if there is none.
        highest: the largest number, NaN if there is none.
        boolean: whether all of them are 0 or 1.
    """

    present: int
    missing: int
    nonzero: int
    lowest: float
    highest: float
    boolean: bool


@dataclass(frozen=True, eq=False)
class NumberColumns:
    """Columns of finite numbers and missing values.

    Args:
        names: of the columns, unique.
        matrix: shape ``(rows, columns)``, float64 in CSC form; a missing number is NaN, and zeros are not stored.
        given_sparse: whether the user gave them in sparse form.
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
        """Statistics of a column."""
        if name not in self._summaries:
            self._summaries[name] = self._summary(name)
        return self._summaries[name]

    @cached_property
    def _summaries(self) -> dict[str, Summary]:
        return {}

    def _summary(self, name: str) -> Summary:
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
            boolean=bool((numbers == 1).all()),
        )

    def of_rows(self, rows: NDArray[np.int64]) -> NumberColumns:
        """The numbers of some rows."""
        return replace(self, matrix=self.matrix[rows]) if self.names else self

    def with_rows(self, rows: int) -> NumberColumns:
        """The numbers, followed by rows of zeros up to this number of rows."""
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
