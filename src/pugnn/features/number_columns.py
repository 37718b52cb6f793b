"""Numeric columns, kept without their zeros, or read when they are needed; and the names of those from edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.features.attribute_table import MAX_FLOAT

#: What is made of each kind of column of edges.
STATISTICS = {"number": ("sum", "mean", "max"), "date": ("mean", "last"), "boolean": ("share",), "category": ()}

#: Numbers that are read at once, and held.
READ_AT_ONCE = 1 << 27


@dataclass(frozen=True)
class Summary:
    """Statistics of a numeric column."""

    present: int  # number of rows with a number
    missing: int  # number of rows without
    nonzero: int  # number of rows with a number other than zero
    lowest: float  # the smallest number, NaN if there is none
    highest: float  # the largest number, NaN if there is none
    boolean: bool  # whether all of them are 0 or 1
    whole: bool  # whether all of them are integers

    @classmethod
    def of(cls, stored: NDArray[np.float64], rows: int) -> Self:
        """Of a column with so many rows; ``stored`` are its numbers without zeros, and NaN for each missing one."""
        numbers = stored[~np.isnan(stored)]
        missing = len(stored) - len(numbers)
        ends = [numbers.min(), numbers.max()] if len(numbers) else []
        ends += [] if rows == len(stored) else [0.0]  # zeros are not stored
        return cls(
            present=rows - missing,
            missing=missing,
            nonzero=len(numbers),
            lowest=min(ends, default=np.nan),
            highest=max(ends, default=np.nan),
            boolean=bool((numbers == 1).all()),
            whole=bool((numbers == np.trunc(numbers)).all()),
        )


@dataclass(frozen=True, eq=False)
class _NamedColumns:
    names: tuple[str, ...]  # unique

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each column by its name."""
        return {name: at for at, name in enumerate(self.names)}


@dataclass(frozen=True, eq=False)
class MatrixColumns(_NamedColumns):
    """Columns of finite numbers and missing values in memory."""

    #: Shape ``(rows, columns)``, float64 in CSC form; a missing number is NaN, and zeros are not stored.
    matrix: sp.csc_array
    _summaries: dict[str, Summary] = field(default_factory=dict, init=False)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    def column(self, name: str) -> NDArray[np.float64]:
        """The numbers of a column, NaN where there is none, shape ``(rows,)``."""
        stored, data = self._inside(name), np.zeros(self.rows)
        data[self.matrix.indices[stored]] = self.matrix.data[stored]
        return data

    def summary(self, name: str) -> Summary:
        """Statistics of a column."""
        if name not in self._summaries:
            self._summaries[name] = Summary.of(self.matrix.data[self._inside(name)], self.rows)
        return self._summaries[name]

    def part(self, names: Sequence[str]) -> sp.csc_array:
        """Some columns as a matrix, without zeros."""
        return self.matrix[:, [self.places[name] for name in names]]

    def of_rows(self, rows: NDArray[np.int64]) -> Self:
        """The numbers of some rows."""
        return replace(self, matrix=self.matrix[rows]) if self.names else self

    def _inside(self, name: str) -> slice:
        """Where the entries of a column are stored."""
        at = self.places[name]
        return slice(self.matrix.indptr[at], self.matrix.indptr[at + 1])


@dataclass(frozen=True, eq=False)
class ReadColumns(_NamedColumns):
    """The same of a table, read when they are used and some at a time: all may be too much for memory."""

    table_rows: int  # number of rows of the table
    read: Callable[[Sequence[str]], Mapping[str, NDArray[np.float64]]]  # gives some columns
    row_of: NDArray[np.int64] | None = None  # the rows that count, if not all do
    last: dict[str, NDArray[np.float64]] = field(default_factory=dict)  # the columns that were read last
    summaries: dict[str, Summary] = field(default_factory=dict)  # those that were made

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.table_rows if self.row_of is None else len(self.row_of)

    def column(self, name: str) -> NDArray[np.float64]:
        """The numbers of a column, NaN where there is none, shape ``(rows,)``."""
        if name not in self.last:  # read it and its neighbours, which are likely to be next
            at_once = max(1, READ_AT_ONCE // max(self.table_rows, 1))
            first = self.places[name] // at_once * at_once
            self.last.clear()
            self.last.update(self.read(self.names[first : first + at_once]))
        return self.last[name] if self.row_of is None else self.last[name][self.row_of]

    def summary(self, name: str) -> Summary:
        """Statistics of a column."""
        if name not in self.summaries:
            column = self.column(name)
            self.summaries[name] = Summary.of(column[column != 0], self.rows)
        return self.summaries[name]

    def part(self, names: Sequence[str]) -> sp.csc_array:
        """Some columns as a matrix, without zeros."""
        columns = (sp.csc_array(self.column(name)[:, None]) for name in names)
        return sp.hstack([sp.csc_array((self.rows, 0)), *columns], format="csc")

    def of_rows(self, rows: NDArray[np.int64]) -> Self:
        """The numbers of some rows."""
        return replace(self, row_of=rows, summaries={})

    def finite(self) -> Self:
        """Without columns that hold a number which is too large for a feature."""
        ends = {name: (self.summary(name).lowest, self.summary(name).highest) for name in self.names}
        good = [name for name in self.names if not max(map(abs, ends[name])) > MAX_FLOAT]  # NaN is not
        return replace(self, names=tuple(good))


NumberColumns: TypeAlias = MatrixColumns | ReadColumns


@dataclass(frozen=True)
class EdgeColumn:
    """A column of an edge table that describes the nodes at its ends."""

    relation: str  # name of the relation, with its direction if it has one; empty if there is only one
    column: str  # its name in the table
    kind: str  # of :data:`STATISTICS`
    values: tuple[str, ...] = ()  # the frequent ones of a category, whose shares are taken

    @property
    def names(self) -> list[str]:
        """Names of the columns of nodes."""
        name = f"{_prefix(self.relation)}{self.column}"
        shares = [f"{name} = {value}, share" for value in self.values]
        return [f"{name}, {statistic}" for statistic in STATISTICS[self.kind]] + shares


def names_of(columns: Iterable[EdgeColumn]) -> set[str]:
    """Names of all columns that these give nodes."""
    return {name for column in columns for name in (count_name(column.relation), *column.names)}


def count_name(relation: str) -> str:
    """The name of the column with the number of edges."""
    return f"{_prefix(relation)}edges, count"


def _prefix(relation: str) -> str:
    """What the names of columns begin with: ``pays out: ``; nothing for the only relation."""
    return f"{relation}: " if relation else ""
