"""What the encodings of all kinds of columns share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import counted
from pugnn.features.attribute_table import Cells
from pugnn.graph.arrays import Features, dense
from pugnn.registry import Registry

#: Matrices with a smaller share of non-zeros than this are kept sparse.
SPARSE_BELOW = 0.25

#: Numbers of a block that need not wait in memory, and numbers that are put side by side at once, to fit in a cache.
_LARGE, _AT_ONCE = 1 << 18, 1 << 20

#: Up to this many columns of a group are named one by one.
MAX_NAMED = 5

#: From the number in a feature to what the user's table says.
Reading = Callable[[float], str]


@dataclass(frozen=True)
class Statement:
    """One line of the description of a recipe."""

    column: str  # its name; ``no row`` and ``structure`` for what does not come from one
    kind: str  # how it is read, such as ``number``
    text: str  # what is done with it
    features: int  # how many features it gives
    group: str = ""  # what is done with all columns of its group


@dataclass(frozen=True)
class ColumnFeatures:
    """Features read from the cells of a column."""

    features: Features  # shape ``(N, k)``, dense or sparse, with a stand-in for missing values
    missing: NDArray[np.bool_]  # which nodes have no value, shape ``(N,)``
    remarks: tuple[str, ...] = ()  # what differs from the column that was learned from


@dataclass(frozen=True)
class Encoding(ABC):
    """How one column becomes features: learned from one table, applied to it and to others.

    Each kind of column has one, registered in a file of its own by ``@ENCODINGS.register("kind")``.
    """

    name: ClassVar[str]  # of the kind
    needs_text: ClassVar[bool] = False  # whether it needs cells as they are written, even if they are numbers
    stand_in: ClassVar[str]  # what a missing value counts as
    group: ClassVar[str]  # what becomes of all columns of this kind
    nothing: ClassVar[str] = ""  # why a column may give no features

    column: str  # its name
    missing: int  # nodes that had a row but no value in training; if there were any, the last feature marks them

    @classmethod
    @abstractmethod
    def learn(cls, cells: Cells) -> Self:
        """Learn from cells of which at least one is not missing."""

    @abstractmethod
    def read(self, cells: Cells) -> ColumnFeatures:
        """Features of the cells, all but the one that marks missing values."""

    @property
    def value_names(self) -> list[str]:
        """Names of the features that :meth:`read` gives."""
        return [self.column]

    def readings(self) -> list[tuple[str, Reading]]:
        """What explanations call these features, and how they read a number there; fewer where several are one."""
        return [(self.column, "{:.4g}".format)]

    @abstractmethod
    def describe_values(self) -> str:
        """What becomes of the values, in words and figures."""

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, in order."""
        return self.value_names + ([f"{self.column} missing"] if self.missing else [])

    def describe(self) -> Statement:
        """What is done with the column."""
        lacking = f"; missing in {counted(self.missing, 'node')} → {self.stand_in} and an indicator"
        text = self.describe_values() + (lacking if self.missing else "")
        return Statement(self.column, self.name, text, len(self.feature_names), self.group)

    def encode(self, cells: Cells) -> tuple[list[Features], list[str]]:
        """Blocks of features with N rows each, and remarks on what differs from training."""
        found = self.read(cells)
        remarks = list(found.remarks)
        if self.missing:
            return [found.features, found.missing[:, None].astype(np.float32)], remarks
        lacking = cells.count_missing(found.missing)
        if lacking:
            remarks.append(f"no value in {counted(lacking, 'node')}, {self.stand_in} instead; in training all had one")
        return [found.features], remarks


#: How columns become features, by their kind.
ENCODINGS: Registry[type[Encoding]] = Registry("kind", "pugnn.kinds", "pugnn.features", Encoding)


def say_nothing(_: float) -> str:
    """Where a number says nothing to a user."""
    return ""


def say_present(value: float) -> str:
    """Whether there is anything."""
    return "present" if value else "absent"


def say_yes(value: float) -> str:
    """True, false, or what stands in for a missing one."""
    return {0.0: "no", 1.0: "yes"}.get(value, "missing")


def grouped(statements: Iterable[Statement]) -> list[Statement]:
    """A statement for each group of more than a few columns, and for each of the other columns.

    Example:
        >>> lines = [Statement(f"w_{i}", "counts", "used as it is", 1, "used as they are") for i in range(2325)]
        >>> grouped(lines)[0].column, grouped(lines)[0].text
        ('2,325 columns', 'used as they are')
    """
    ordered: dict[tuple[str, str], list[Statement]] = {}
    for statement in statements:
        ordered.setdefault((statement.kind, statement.group), []).append(statement)
    lines: list[Statement] = []
    for (kind, group), members in ordered.items():
        if group and len(members) > MAX_NAMED:
            features = sum(member.features for member in members)
            lines.append(Statement(f"{len(members):,} columns", kind, group, features))
        else:
            lines += members
    return lines


class FeatureBlocks:
    """Blocks of features with N rows each, which are collected and in the end put side by side.

    Args:
        overflow: an existing folder in which large dense blocks wait; by default all wait in memory.
        large: how many numbers a large block has.
    """

    def __init__(self, overflow: Path | None = None, large: int = _LARGE) -> None:
        self._overflow, self._large = overflow, large
        self._blocks: list[Features] = []
        self._filled = self.nodes = self.width = 0

    def add(self, *blocks: Features) -> None:
        """Add blocks to the right of the others."""
        for block in blocks:
            self.nodes, self.width = block.shape[0], self.width + block.shape[1]
            self._filled += int(np.count_nonzero(block if _is_dense(block) else block.data))
            if self._overflow is not None and isinstance(block, np.ndarray) and block.size >= self._large:
                path = self._overflow / f"block_{len(self._blocks)}"
                with path.open("wb") as file:  # numpy's own way of writing does not say why it fails
                    file.write(np.ascontiguousarray(block, np.float32).data)
                block = np.memmap(path, np.float32, "r", shape=block.shape).view(np.ndarray)
            self._blocks.append(block)

    @property
    def sparse(self) -> bool:
        """Whether they are mostly zero, and become a sparse matrix."""
        return self._filled < SPARSE_BELOW * self.nodes * self.width

    def joined(self) -> Features:
        """All of them: sparse, without stored zeros, if they are mostly zero; else dense."""
        if not self.sparse:
            dense, at = np.empty((self.nodes, self.width), np.float32), 0
            for piece in self.pieces(max(1, _AT_ONCE // self.width)):
                dense[at : at + len(piece)] = piece
                at += len(piece)
            return dense
        # Adjacent dense blocks become sparse together: a thousand numeric columns are one step.
        parts = [
            sp.csr_array(np.hstack(list(g))) if are_dense else sp.hstack(list(g))
            for are_dense, g in groupby(self._blocks, _is_dense)
        ]
        joined = sp.csr_array(sp.hstack(parts, format="csr"), dtype=np.float32)
        joined.eliminate_zeros()
        joined.sort_indices()
        return joined

    def pieces(self, rows: int) -> Iterator[NDArray[np.float32]]:
        """All of them, dense, so many rows at a time."""
        for first in range(0, self.nodes, rows):
            yield np.hstack([dense(block[first : first + rows]) for block in self._blocks], dtype=np.float32)


def _is_dense(block: Features) -> bool:
    return isinstance(block, np.ndarray)
