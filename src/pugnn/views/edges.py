"""Sums over the neighbours of nodes, for columns of numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pugnn.graph import Graph
from pugnn.graph.derived import derived
from pugnn.graph.smoothing import LANES, Table, neighbour_sums
from pugnn.graph.vectors import aligned

#: T and β of smoothing.
STEPS, RESTART = 10, 0.15


def edges_of(graph: Graph) -> Edges:
    """The edges of a graph."""
    return derived(graph, "edges", lambda: Edges(graph))


def smooth(graph: Graph, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Personalised PageRank of columns of numbers: T steps with restart β."""
    return edges_of(graph).smooth(values)


class Edges:
    """Sums over neighbours, for columns of numbers. ``root`` is 1 over the root of each node's degree and 1."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        strength = graph.degrees if graph.weights is None else graph.to_scipy().sum(axis=1, dtype=np.float64)
        self.root = (1 / np.sqrt(strength + 1)).astype(np.float32)
        self._inverse = (1 / np.maximum(graph.degrees, 1)).astype(np.float32)
        self._ones = np.ones_like(self.root)

    def mean(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """The mean over neighbours, whatever the weights of edges are; 0 without any."""
        table = whole_vectors(values)
        out = _like(table)
        neighbour_sums(self._graph, table, out, p=self._inverse, weighted=False)
        return out[:, : values.shape[1]]

    def mean_transposed(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """The product with the transposed matrix: every node passes a number on, in equal parts."""
        table = whole_vectors(values, self._inverse)
        out = _like(table)
        neighbour_sums(self._graph, table, out, p=self._ones, weighted=False)
        return out[:, : values.shape[1]]

    def smooth(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        r"""T steps with restart β; its matrix is symmetric.

        With :math:`s = \tilde d^{-1/2}`, tables hold :math:`g = s \odot h`, so that one step
        :math:`h' = (1 - \beta) s \odot \big(\sum_j g_j + g\big) + \beta x` needs no weight of an entry.
        """
        s = self.root
        start, source = whole_vectors(values), whole_vectors(values, s)
        target = _like(start)
        for step in range(STEPS):
            scale = self._ones if step == STEPS - 1 else s  # the last one gives h itself
            p, q = np.float32(1 - RESTART) * s * scale, np.float32(RESTART) * scale
            neighbour_sums(self._graph, source, target, p=p, q=q, x=start, t=1.0)
            source, target = target, source
        return source[:, : values.shape[1]]


def whole_vectors(values: NDArray[np.float32], factors: NDArray[np.float32] | None = None) -> Table:
    """Columns, times a factor of each row, filled up with zeros to whole vectors."""
    n, columns = values.shape
    if factors is None and columns % LANES == 0 and values.flags.c_contiguous:
        return values
    table: Table = aligned(np.empty, (n, -(-columns // LANES) * LANES), np.float32)
    np.multiply(values, 1 if factors is None else factors[:, None], out=table[:, :columns])
    table[:, columns:] = 0
    return table


def joined(parts: list[NDArray[np.float32]]) -> Table:
    """Columns side by side, filled up with zeros to whole vectors."""
    columns = sum(part.shape[1] for part in parts)
    spare = np.zeros((len(parts[0]), -columns % LANES), np.float32)
    return np.concatenate([*parts, spare], axis=1)


def _like(table: Table) -> Table:
    """Room for as many numbers."""
    return aligned(np.empty, table.shape, np.float32)
