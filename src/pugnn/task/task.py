"""What a method may see of a PU problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pugnn.graph import Graph


@dataclass(frozen=True, eq=False)
class PUTask:
    """A graph with its known positives: all that a method may see.

    Args:
        graph: the whole graph.
        labelled: positions of the known positives, sorted, shape ``(n_L,)``.
        unlabelled: positions of the nodes that the loss treats as unlabelled, sorted, shape ``(n_U,)``.
    """

    graph: Graph
    labelled: NDArray[np.int64]
    unlabelled: NDArray[np.int64]

    @classmethod
    def from_positives(cls, graph: Graph, labelled: NDArray[np.int64]) -> PUTask:
        """The task where every node that is not a known positive is unlabelled."""
        labelled = np.unique(labelled)
        return cls(graph, labelled, np.setdiff1d(np.arange(graph.num_nodes), labelled))
