"""What the encodings of all kinds of columns share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import counted
from pugnn.features.attributes import Cells
from pugnn.graph.building import Features

#: Matrices with a smaller share of non-zeros than this are kept sparse.
SPARSE_BELOW = 0.25


@dataclass(frozen=True)
class ColumnFeatures:
    """Features read from the cells of a column."""

    features: Features  # shape ``(N, k)``, dense or sparse, with a stand-in for missing values
    missing: NDArray[np.bool_]  # which nodes have no value, shape ``(N,)``
    remarks: tuple[str, ...] = ()  # what differs from the column that was learned from


@dataclass(frozen=True)
class Encoding(ABC):
    """How one column becomes features: learned from one table, applied to it and to others."""

    kind: ClassVar[str]
    stand_in: ClassVar[str]  # what a missing value counts as
    group: ClassVar[str]  # what becomes of all columns of this kind
    nothing: ClassVar[str] = ""  # why a column may give no features

    column: str  # its name
    #: Number of nodes that had a row but no value in training. If there were any, the last feature marks missing
    #: values.
    missing: int

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

    @abstractmethod
    def describe_values(self) -> str:
        """What becomes of the values, in words and figures."""

    @abstractmethod
    def flaw(self) -> str:
        """What cannot be right about what was learned, if anything."""

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, in order."""
        return self.value_names + ([f"{self.column} missing"] if self.missing else [])

    def describe(self) -> str:
        """What is done with the column, in words and figures."""
        if not self.missing:
            return self.describe_values()
        return (
            f"{self.describe_values()}; missing in {counted(self.missing, 'node')} → {self.stand_in} and an indicator"
        )

    def encode(self, cells: Cells) -> tuple[list[Features], list[str]]:
        """Blocks of features with N rows each, and remarks on what differs from training."""
        found = self.read(cells)
        remarks = list(found.remarks)
        if self.missing:
            return [found.features, found.missing[:, None].astype(np.float32)], remarks
        lacking = count_missing(cells, found.missing)
        if lacking:
            remarks.append(f"no value in {counted(lacking, 'node')}, {self.stand_in} instead; in training all had one")
        return [found.features], remarks


def count_missing(cells: Cells, missing: NDArray[np.bool_]) -> int:
    """Number of nodes that have a row but no value in it."""
    return int((missing & cells.attributes.has_row).sum())


class FeatureBlocks:
    """Blocks of features with N rows each, which are collected and in the end put side by side."""

    def __init__(self) -> None:
        self._blocks: list[Features] = []

    def add(self, block: Features) -> None:
        """Add a block to the right of the others."""
        self._blocks.append(block)

    def joined(self) -> Features:
        """All of them; the collection is empty then."""
        blocks, self._blocks = self._blocks, []
        return compact(blocks)


def compact(blocks: Sequence[Features]) -> Features:
    """Blocks with N rows each, side by side: sparse, without stored zeros, if mostly zero; else dense."""
    nodes, width = blocks[0].shape[0], sum(block.shape[1] for block in blocks)
    filled = sum(np.count_nonzero(block if _is_dense(block) else block.data) for block in blocks)
    if filled < SPARSE_BELOW * nodes * width:
        # Adjacent dense blocks become sparse together: a thousand numeric columns are one step.
        parts = [
            sp.csr_array(np.hstack(list(g))) if dense else sp.hstack(list(g)) for dense, g in groupby(blocks, _is_dense)
        ]
        joined = sp.csr_array(sp.hstack(parts, format="csr"), dtype=np.float32)
        joined.eliminate_zeros()
        joined.sort_indices()
        return joined
    joined = np.empty((nodes, width), dtype=np.float32)
    start = 0
    for block in blocks:
        joined[:, start : start + block.shape[1]] = _dense(block)
        start += block.shape[1]
    return joined


def stacked(blocks: Sequence[Features]) -> Features:
    """Blocks of the same width below one another: sparse if all are."""
    if any(map(_is_dense, blocks)):
        return np.vstack([_dense(block) for block in blocks])
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def _is_dense(block: Features) -> bool:
    return isinstance(block, np.ndarray)


def _dense(block: Features) -> NDArray[np.float32]:
    return block if isinstance(block, np.ndarray) else block.toarray()
