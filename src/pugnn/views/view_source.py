"""The attributes of a graph as rows of length 1, and what views make of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.graph import Graph
from pugnn.graph.arrays import dense
from pugnn.graph.derived import derived
from pugnn.graph.smoothing import SparseRows, smoother_of
from pugnn.views.attributes import Attributes, inverse_lengths
from pugnn.views.keeping import worth_keeping
from pugnn.views.view import VIEWS, ViewTable

#: Rows of up to this many columns have their exact length. For wider ones it is the root mean square of their products
#: with this many random directions.
EXACT_WIDTH, RANDOM_DIRECTIONS = 512, 128
#: Shorter rows count as zero: a node that is the mean of its neighbours differs from it by rounding alone.
ROUNDING = 1e-5
#: Columns that are smoothed at a time.
BLOCK_COLUMNS = 64
#: Largest number of columns of the rows by which nodes are compared.
COMPARED_COLUMNS = 256


class ViewSource:
    """The rows of attributes from which all views of a graph are made; these are made once.

    Attributes:
        graph: the graph.
        rows: attributes of all nodes, each row at length 1, shape ``(N, F)``.
        width: F.
        kept: whether the tables that views consist of are kept in memory.
    """

    def __init__(self, graph: Graph, attributes: Attributes) -> None:
        self.graph = graph
        self.rows = attributes.rows(graph)
        self.width = self.rows.shape[1]
        self.kept = worth_keeping(graph, self.width, self.rows.size)
        self._smoother = smoother_of(graph)
        self._tables: dict[ViewTable, Tensor] = {}
        self._scales: dict[str, NDArray[np.float32]] = {}

    def table(self, table: ViewTable) -> Tensor:
        """A table in memory, shape ``(N, F)``."""
        if table not in self._tables:
            own = self._tables[0].numpy() if 0 in self._tables else dense(self.rows)
            values = map_columns(own, partial(self.table_image, table)) if table else own
            self._tables[table] = torch.from_numpy(values)
        return self._tables[table]

    def scale(self, name: str) -> NDArray[np.float32]:
        """The weight of a view over the length of each of its rows, shape ``(N,)``; 0 for rows of zeros."""
        if name not in self._scales:
            inverse = inverse_lengths(self._squared_lengths(name), ROUNDING)
            self._scales[name] = (VIEWS[name].weight * inverse).astype(np.float32)
        return self._scales[name]

    def means(self, values: NDArray[np.float32], *, transposed: bool = False) -> NDArray[np.float32]:
        """Columns of numbers averaged over neighbours."""
        return self._smoother.mean(values, transposed=transposed)

    def image(
        self,
        name: str,
        values: NDArray[np.float32],
        means: NDArray[np.float32] | None = None,
        *,
        transposed: bool = False,
    ) -> NDArray[np.float32]:
        """What a view makes of columns of numbers, before rows are scaled; ``means`` may be known already."""
        return VIEWS[name].sum(partial(self.table_image, values=values, means=means, transposed=transposed))

    def table_image(
        self,
        table: ViewTable,
        values: NDArray[np.float32],
        means: NDArray[np.float32] | None = None,
        *,
        transposed: bool = False,
    ) -> NDArray[np.float32]:
        """Columns of numbers smoothed, or averaged over as many hops as the table says."""
        if table == "smoothed":
            return self._smoother.smooth(values)
        for hop in range(int(table)):
            values = means if hop == 0 and means is not None else self.means(values, transposed=transposed)
        return values

    @cached_property
    def by_row(self) -> SparseRows | NDArray[np.float32]:
        """The attributes, for products with directions."""
        return self.rows if isinstance(self.rows, np.ndarray) else SparseRows(self.rows)

    @cached_property
    def by_column(self) -> SparseRows | NDArray[np.float32]:
        """The transposed attributes, for products with columns of numbers."""
        return self.rows.T if isinstance(self.rows, np.ndarray) else SparseRows(sp.csr_array(self.rows.T))

    def _squared_lengths(self, name: str) -> NDArray[np.float64]:
        rows = self.rows
        if name == "own":  # the length of rows that are not zero is 1 already
            filled = rows.any(axis=1) if isinstance(rows, np.ndarray) else rows.power(2).sum(axis=1) > 0
            return np.asarray(filled).astype(np.float64)
        exact = self.width <= EXACT_WIDTH
        signs = None if exact else random_signs(self.width, RANDOM_DIRECTIONS) / np.float32(np.sqrt(RANDOM_DIRECTIONS))
        total = np.zeros(self.graph.num_nodes)
        for first in range(0, self.width if signs is None else RANDOM_DIRECTIONS, BLOCK_COLUMNS):
            block = slice(first, first + BLOCK_COLUMNS)
            if signs is not None:
                total += squared_lengths(self.image(name, rows @ signs[:, block]))
            elif self.kept:
                total += squared_lengths(VIEWS[name].sum(partial(self._columns_of_table, block)))
            else:
                total += squared_lengths(self.image(name, dense(rows[:, block])))
        return total

    def _columns_of_table(self, block: slice, table: ViewTable) -> NDArray[np.float32]:
        return self.table(table).numpy()[:, block]


def source_of(graph: Graph, attributes: Attributes) -> ViewSource:
    """The source of the views of a graph, shared by everything that reads it."""
    return derived(graph, "views", lambda: ViewSource(graph, attributes), attributes.key)


def comparable_rows(graph: Graph, attributes: Attributes) -> NDArray[np.float32]:
    """The smoothed view minus its mean, at length 1: similar rows for similar nodes.

    Wide attributes are multiplied with random directions first, which roughly keeps angles.
    """
    source = source_of(graph, attributes)
    if source.width <= COMPARED_COLUMNS and source.kept:
        smoothed = source.table("smoothed").numpy().copy()
    else:
        wide = source.width > COMPARED_COLUMNS
        rows = source.rows @ random_signs(source.width, COMPARED_COLUMNS) if wide else source.rows
        smoothed = map_columns(rows, smoother_of(graph).smooth)
    smoothed *= inverse_lengths(squared_lengths(smoothed), ROUNDING)[:, None].astype(np.float32)
    smoothed -= smoothed.mean(axis=0, dtype=np.float64).astype(np.float32)
    smoothed *= inverse_lengths(squared_lengths(smoothed), ROUNDING)[:, None].astype(np.float32)
    return smoothed


def map_columns(
    rows: NDArray[np.float32] | sp.csr_array, image: Callable[[NDArray[np.float32]], NDArray[np.float32]]
) -> NDArray[np.float32]:
    """Apply ``image`` to the columns of a matrix, a block at a time."""
    mapped = np.empty(rows.shape, np.float32)
    for first in range(0, rows.shape[1], BLOCK_COLUMNS):
        block = slice(first, first + BLOCK_COLUMNS)
        mapped[:, block] = image(dense(rows[:, block]))
    return mapped


def squared_lengths(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Squared lengths of rows, without a matrix of squares in memory."""
    squares: NDArray[np.float64] = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return squares


def random_signs(rows: int, columns: int) -> NDArray[np.float32]:
    """Random 1 and −1, the same every time, shape ``(rows, columns)``."""
    return np.random.default_rng(0).choice(np.array([-1, 1], np.float32), (rows, columns))
