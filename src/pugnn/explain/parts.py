"""The parts of a node's log-odds, whatever the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

#: How the parts were found: exactly, or by integrated gradients, which leave a small rest.
How = Literal["exact", "gradients"]
#: What the parts add up to.
Unit = Literal["log-odds", "odds"]

#: Nodes are explained together as long as a matrix with a number for each of them and each node has no more than this.
MAX_NUMBERS = 2**23


@dataclass(frozen=True, eq=False)
class Parts:
    """What makes up the log-odds of one node.

    Args:
        total: what the parts add up to, except for the rest that ``gradients`` leave.
        base: what would be left if nothing spoke for or against the node.
        by_node: contribution of each node, its own among them, shape ``(N,)``.
        own: contribution of each of the node's own attributes, shape ``(C,)``; they add up to its own in ``by_node``.
        around: contribution of each attribute of all other nodes together, shape ``(C,)``.
        without: the total, computed anew, if some nodes (positions) and some attributes (columns) were neutral. That is
            average, 0 for ``gradients``, and for a known positive that nothing spreads from it.
        closeness: whether the last column stands for closeness to known positives, which is no attribute.
        unit: what the parts add up to.
        how: how they were found.
    """

    total: float
    base: float
    by_node: NDArray[np.float64]
    own: NDArray[np.float64]
    around: NDArray[np.float64]
    without: Callable[[NDArray[np.int64], NDArray[np.int64]], float]
    closeness: bool = False
    unit: Unit = "log-odds"
    how: How = "exact"


def largest(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Positions of the largest values, so many of them, largest first; equal ones in their order."""
    some = np.arange(len(values))
    if count < len(values):
        some = np.sort(np.argpartition(-values, count)[:count])
    ordered: NDArray[np.int64] = some[np.argsort(-values[some], kind="stable")]
    return ordered
