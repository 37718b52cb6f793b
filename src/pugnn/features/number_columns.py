"""Numeric columns, kept without their zeros."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


@dataclass(frozen=True)
class Summary:
    """Statistics of a numeric column."""

    present: int  # number of rows with a number
    missing: int  # number of rows without
    nonzero: int  # number of rows with a number other than zero
    lowest: float  # the smallest number, NaN if there is none
    highest: float  # the largest number, NaN if there is none
    boolean: bool  # whether all of them are 0 or 1


@dataclass(frozen=True, eq=False)
class NumberColumns:
    """Columns of finite numbers and missing values."""

    names: tuple[str, ...]  # of the columns, unique
    #: Shape ``(rows, columns)``, float64 in CSC form; a missing number is NaN, and zeros are not stored.
    matrix: sp.csc_array
    given_sparse: bool = False  # whether the user gave them in sparse form
    _summaries: dict[str, Summary] = field(default_factory=dict, init=False)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each column by its name."""
        return {name: at for at, name in enumerate(self.names)}

    def column(self, name: str) -> NDArray[np.float64]:
        """The numbers of a column, shape ``(rows,)``."""
        stored, data = self._inside(name), np.zeros(self.matrix.shape[0])
        data[self.matrix.indices[stored]] = self.matrix.data[stored]
        return data

    def summary(self, name: str) -> Summary:
        """Statistics of a column."""
        if name not in self._summaries:
            stored, rows = self.matrix.data[self._inside(name)], self.matrix.shape[0]
            numbers = stored[~np.isnan(stored)]
            missing = len(stored) - len(numbers)
            ends = [numbers.min(), numbers.max()] if len(numbers) else []
            ends += [] if rows == len(stored) else [0.0]  # zeros are not stored
            self._summaries[name] = Summary(
                present=rows - missing,
                missing=missing,
                nonzero=len(numbers),
                lowest=min(ends, default=np.nan),
                highest=max(ends, default=np.nan),
                boolean=bool((numbers == 1).all()),
            )
        return self._summaries[name]

    def of_rows(self, rows: NDArray[np.int64]) -> NumberColumns:
        """The numbers of some rows."""
        return replace(self, matrix=self.matrix[rows]) if self.names else self

    def with_rows(self, rows: int) -> NumberColumns:
        """The numbers, followed by rows of zeros up to this number of rows."""
        indices, indptr = self.matrix.indices, self.matrix.indptr
        return replace(self, matrix=sp.csc_array((self.matrix.data, indices, indptr), shape=(rows, len(self.names))))

    def _inside(self, name: str) -> slice:
        """Where the entries of a column are stored."""
        at = self.places[name]
        return slice(self.matrix.indptr[at], self.matrix.indptr[at + 1])
