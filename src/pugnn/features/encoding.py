"""What the encodings of all kinds of columns have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import counted
from pugnn.features.attributes import Cells
from pugnn.features.saved import Saved
from pugnn.graph.building import Features


@dataclass(frozen=True)
class Reading:
    """Features read from the cells of a column.

    Args:
        features: shape ``(N, k)``, dense or sparse, with a stand-in where the value is missing.
        missing: whose value is missing, shape ``(N,)``.
        remarks: what differs from the column that was learned from, in words.
    """

    features: Features
    missing: NDArray[np.bool_]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Encoding(ABC):
    """How one column becomes features: learned from one table, applied to it and to others.

    Args:
        column: its name.
        missing: number of nodes that had a row but no value in it when the encoding was learned. If there were
            any, the last feature says where the value is missing.
    """

    kind: ClassVar[str]
    stand_in: ClassVar[str]  # what a missing value counts as, in words
    group: ClassVar[str]  # what becomes of all columns of this kind, in words
    nothing: ClassVar[str] = ""  # why a column may give no features at all, in words

    column: str
    missing: int

    @classmethod
    @abstractmethod
    def learn(cls, cells: Cells) -> Self:
        """Learn from cells of which at least one is not missing."""

    @abstractmethod
    def read(self, cells: Cells) -> Reading:
        """Features of the cells, all but the one that says where the value is missing."""

    @property
    @abstractmethod
    def value_names(self) -> list[str]:
        """Names of the features that :meth:`read` gives."""

    @abstractmethod
    def describe_values(self) -> str:
        """What becomes of the values, in words and figures."""

    @abstractmethod
    def to_plain(self) -> dict[str, Any]:
        """What was learned beside the two arguments above, fit for JSON."""

    @classmethod
    @abstractmethod
    def from_saved(cls, column: str, missing: int, saved: Saved) -> Self:
        """The encoding that gave this :meth:`to_plain`."""

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
        """Blocks of features with N rows each, and remarks on what differs from the cells that were learned from."""
        reading = self.read(cells)
        remarks = list(reading.remarks)
        if self.missing:
            return [reading.features, reading.missing[:, None].astype(np.float32)], remarks
        lacking = count_missing(cells, reading.missing)
        if lacking:
            remarks.append(f"no value in {counted(lacking, 'node')}, {self.stand_in} instead; in training all had one")
        return [reading.features], remarks


def count_missing(cells: Cells, missing: NDArray[np.bool_]) -> int:
    """Number of nodes that have a row but no value in it."""
    return int((missing & cells.attributes.has_row).sum())
