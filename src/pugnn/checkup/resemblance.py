"""Features as directions, which tell whether two nodes resemble each other more than two random nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.graph import Graph
from pugnn.graph.arrays import dense

#: Sparse features with up to this many columns are made dense, so that columns can be centred.
MAX_DENSE_COLUMNS = 256

#: Nodes from which medians, scales and the mean direction are computed.
SAMPLE = 20_000


@dataclass(frozen=True, eq=False)
class Directions:
    r"""Each node's features as a vector of length one, less the mean of these vectors over all nodes.

    Columns are scaled first: :math:`(x - m) / r`, with the column's median m and the root mean square r of what is then
    not zero. The median of a column that is mostly zero is zero, so words and categories stay sparse and numbers are
    centred. The inner product of two directions is positive where two nodes resemble each other more than two random
    nodes do. Vectors are normalised *before* the mean: otherwise all nodes with few features would resemble each other.
    """

    graph: Graph
    median: NDArray[np.float32]  # of each column, shape ``(F,)``; zero where features are sparse and many
    scale: NDArray[np.float32]  # 1 / r, shape ``(F,)``
    mean: NDArray[np.float32]  # of the unit vectors, shape ``(F,)``

    @classmethod
    def of(cls, graph: Graph, rng: np.random.Generator) -> Directions:
        """Compute medians, scales and mean from the nodes, or from a random sample of very many."""
        n = graph.num_nodes
        sample = np.arange(n) if n <= SAMPLE else np.sort(rng.choice(n, SAMPLE, replace=False))
        rows = _rows(graph, sample)
        median = np.zeros(graph.num_features, dtype=np.float32)
        if isinstance(rows, np.ndarray):
            median = np.median(rows, axis=0).astype(np.float32)
            rows = rows - median
        present = np.asarray((rows != 0).sum(axis=0)).ravel()
        squares = np.asarray((rows * rows).sum(axis=0)).ravel()
        scale = np.sqrt(np.divide(present, squares, out=np.zeros(len(squares)), where=squares > 0)).astype(np.float32)
        found = cls(graph, median, scale, np.zeros(len(scale), dtype=np.float32))
        mean = np.asarray(found.units(sample).mean(axis=0)).ravel().astype(np.float32)
        return cls(graph, median, scale, mean)

    def units(self, nodes: NDArray[np.int64]) -> NDArray[np.float32] | sp.csr_array:
        """Vectors of length one, shape ``(len(nodes), F)``, sparse where the features are; zeros stay zero."""
        rows = _rows(self.graph, nodes)
        if isinstance(rows, np.ndarray):
            scaled = (rows - self.median) * self.scale
            lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
            return np.divide(scaled, lengths, out=np.zeros_like(scaled), where=lengths > 0)
        scaled = sp.csr_array(rows @ sp.diags_array(self.scale))
        lengths = np.sqrt(np.asarray((scaled * scaled).sum(axis=1)).ravel())
        inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return sp.csr_array(sp.diags_array(inverse) @ scaled)

    def __call__(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Directions, dense, shape ``(len(nodes), F)``."""
        return dense(self.units(nodes)) - self.mean

    def mixed(self, weights: sp.csr_array, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Sums of directions, ``weights @ self(nodes)``; sparse features become dense only after the sum."""
        sums = dense(weights @ self.units(nodes))
        return (sums - np.outer(weights.sum(axis=1), self.mean)).astype(np.float32)

    def alike(self, vectors: NDArray[np.float32], nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Inner products ``vectors @ self(nodes).T``, shape ``(len(vectors), len(nodes))``."""
        result: NDArray[np.float32] = (self.units(nodes) @ vectors.T).T - (vectors @ self.mean)[:, None]
        return result


def _rows(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.float32] | sp.csr_array:
    if isinstance(graph.features, np.ndarray):
        return graph.features[nodes]
    rows = sp.csr_array(graph.features[nodes])
    return rows.toarray() if graph.num_features <= MAX_DENSE_COLUMNS else rows
