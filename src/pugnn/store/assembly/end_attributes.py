"""What the columns of edge tables say of the nodes at both ends: counts, sums, means, maxima and shares.

(Repeated edges are merged in :mod:`pugnn.graph.adjacency`.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.features.number import long_tail
from pugnn.features.number_columns import STATISTICS, EdgeColumn, ReadColumns, count_name


class EdgeSums:
    """Sums over the edges at each node, with as much memory as nodes and columns need; edges come in pieces.

    Args:
        columns: of the edge table.

    Example:
        >>> sums = EdgeSums([EdgeColumn("", "amount", "number")])
        >>> sums.add(np.array([0, 0, 2]), [np.array([1.0, 5.0, np.nan])], num_nodes=3)
        >>> {name: values.tolist() for name, values in sums.columns(3)}["amount, mean"]
        [3.0, nan, nan]
    """

    def __init__(self, columns: Sequence[EdgeColumn]) -> None:
        self.of = tuple(columns)
        self._edges = np.zeros(0)
        #: Sums, or the number of edges with each of the values.
        self._sums = [np.zeros((max(len(column.values), 1), 0)) for column in columns]
        self._present = [np.zeros(0) for _ in columns]
        self._highest = [np.zeros(0) for _ in columns]

    def add(self, ends: NDArray[np.integer[Any]], values: Sequence[NDArray[np.float64]], num_nodes: int) -> None:
        """Add edges: the node at one end of each, and its values by column, NaN where there is none.

        The value of a category is its place among ``values``, from 1; 0 for any other.
        """
        self._edges = _grown(self._edges, num_nodes) + np.bincount(ends, minlength=num_nodes)
        for at, (column, cells) in enumerate(zip(self.of, values, strict=True)):
            there = ~np.isnan(cells)
            nodes, found = (ends, cells) if there.all() else (ends[there], cells[there])
            self._present[at] = _grown(self._present[at], num_nodes) + np.bincount(nodes, minlength=num_nodes)
            self._sums[at] = sums = _grown(self._sums[at], num_nodes)
            if column.kind == "category":
                for place, row in enumerate(sums, 1):
                    row += np.bincount(nodes[found == place], minlength=num_nodes)
                continue
            sums[0] += np.bincount(nodes, found, minlength=num_nodes)
            if len(STATISTICS[column.kind]) > 1:
                self._highest[at] = _grown(self._highest[at], num_nodes, -np.inf)
                np.maximum.at(self._highest[at], nodes, found)

    def columns(self, num_nodes: int) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Columns of nodes by name, shape ``(N,)``: means, maxima and shares are NaN where a node has no such edge."""
        yield count_name(self.of[0].relation), _grown(self._edges, num_nodes)
        for at, column in enumerate(self.of):
            present = _grown(self._present[at], num_nodes)
            sums = _grown(self._sums[at], num_nodes)
            means = np.where(present > 0, sums / np.maximum(present, 1), np.nan)
            highest = np.where(present > 0, _grown(self._highest[at], num_nodes, -np.inf), np.nan)
            by_statistic = {"sum": sums[0], "mean": means[0], "share": means[0], "max": highest, "last": highest}
            found = [by_statistic[statistic] for statistic in STATISTICS[column.kind]] or list(means)
            yield from zip(column.names, found, strict=True)

    def renamed(self, relation: str) -> EdgeSums:
        """The same, as those of a relation with another name."""
        found = copy(self)
        found.of = tuple(replace(column, relation=relation) for column in self.of)
        return found


def edge_attributes(sums: Iterable[EdgeSums], num_nodes: int) -> tuple[ReadColumns, dict[str, str]]:
    """The columns that edges give nodes, and the kind of those that are to be read as amounts."""
    found = {name: values for each in sums for name, values in each.columns(num_nodes)}
    kinds = {name: "amount" for name, values in found.items() if long_tail(values)}
    return ReadColumns(tuple(found), num_nodes, lambda names: {name: found[name] for name in names}), kinds


def _grown(array: NDArray[np.float64], size: int, fill: float = 0.0) -> NDArray[np.float64]:
    """An array with so many entries, those for new nodes filled."""
    missing = size - array.shape[-1]
    return array if not missing else np.concatenate([array, np.full((*array.shape[:-1], missing), fill)], axis=-1)
