r"""Views of a node, side by side: a matrix that is multiplied with, and need not exist.

With :math:`\bar X` the attributes, each row at length 1, :math:`\hat A` the normalised adjacency and
:math:`M = D^{-1} A` the mean over neighbours, the views are

.. math:: S = \overline{H^{(T)}}, \quad H^{(t+1)} = (1 - \beta) \hat A H^{(t)} + \beta \bar X, \quad H^{(0)} = \bar X;
    \qquad \bar X; \qquad \overline{M \bar X}; \qquad \overline{\bar X - M \bar X}; \qquad \overline{M^2 \bar X}

where the bar scales rows to length 1, :math:`T = 10` and :math:`\beta = 0.15`. Side by side, each times its weight,
they are the matrix :math:`Z`. Methods need two products of it, ``views @ w`` and ``views.transposed(r)``, no more.

A view times a direction is a smoothed vector, :math:`S w = \mathrm{diag}(1 / \ell)\, H^{(T)}[\bar X w]`, so wide
attributes are never smoothed as a whole. Where rows are narrow for the number of edges, it is cheaper to smooth them
once: then :math:`H^{(T)}`, :math:`\bar X`, :math:`M \bar X` and :math:`M^2 \bar X` are kept. That is a matter of speed
and memory, not of values.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.features.structure import WIDTH
from pugnn.graph import Graph
from pugnn.graph.arrays import dense
from pugnn.graph.derived import derived
from pugnn.graph.smoothing import LANES, STEPS, SparseRows, joined, smoother_of
from pugnn.memory import Forecast, available_memory
from pugnn.views.attributes import Attributes, inverse_lengths
from pugnn.views.view import VIEWS, ViewTable

#: Rows of up to ``EXACT`` columns have their exact length; that of wider ones is the root mean square of their products
#: with random directions.
EXACT, DIRECTIONS = 512, 128
#: Rows that are shorter count as zero: those of a node that is the mean of its neighbours are rounding alone.
ROUNDING = 1e-5
#: Columns that are smoothed at a time.
TOGETHER = 64
#: Products of a fit with the views of all nodes.
PRODUCTS = 50
#: Products of a fit with the views of the nodes that are sampled for training.
SAMPLED_PRODUCTS = 120
#: Unlabelled nodes that are sampled for training, at most.
TRAINING_SAMPLE = 2048
#: Share of the available memory that kept tables may take.
SHARE = 0.5
#: Columns of the rows by which nodes are compared, at most.
COMPARED = 256
#: What methods compute from the views: scores of several models, ranks, sets.
BYTES_PER_NODE = 400


class ViewMatrix:
    """The views of all nodes of a graph, side by side.

    ``w`` has the shape ``(views, F, k)``: ``k`` directions in each view. ``names`` are some of :data:`VIEWS`.
    """

    def __init__(self, graph: Graph, attributes: Attributes, names: Sequence[str] | None = None) -> None:
        self.graph, self.names = graph, tuple(VIEWS if names is None else names)
        self.rows = attributes.rows(graph)
        self.width = self.rows.shape[1]
        self.scales: dict[str, NDArray[np.float32]] = {}
        self._smoother = smoother_of(graph)
        self._kept: dict[ViewTable, Tensor] | None = {} if worth_keeping(graph, self.width, self.rows.size) else None
        self._others: dict[tuple[str, ...], ViewMatrix] = {}
        self._prepare()

    def named(self, names: tuple[str, ...]) -> ViewMatrix:
        """Views with these names; what they have in common with others is shared."""
        if names not in self._others:
            some = copy.copy(self)
            some.names = names
            some._prepare()
            self._others[names] = some
        return self._others[names]

    def _prepare(self) -> None:
        """Keep the tables that the views consist of, and find their scales."""
        for table in sorted(self._tables, key=lambda table: table != 0):  # first that which others are made of
            self.table(table)
        if missing := [name for name in self.names if name not in self.scales]:
            self.scales |= self._scales(missing)

    @property
    def _tables(self) -> dict[ViewTable, list[str]]:
        """The tables that the views consist of, where rows are kept, and which views each is a part of."""
        tables = dict.fromkeys(table for name in self.names for table in VIEWS[name].tables if self._kept is not None)
        return {table: [name for name in self.names if table in VIEWS[name].tables] for table in tables}

    def table(self, table: ViewTable) -> NDArray[np.float32]:
        """The rows of a table, where they are kept."""
        assert self._kept is not None
        if table not in self._kept:
            own = self._kept[0].numpy() if 0 in self._kept else dense(self.rows)
            rows = _mapped(own, partial(self._image, table, mean=None)) if table else own
            self._kept[table] = torch.from_numpy(rows)
        return self._kept[table].numpy()

    def _kept_rows(self, name: str, columns: slice) -> NDArray[np.float32]:
        """Some columns of a view, before rows are scaled, where its tables are kept."""
        return VIEWS[name].sum(lambda table: self.table(table)[:, columns])

    @property
    def shape(self) -> tuple[int, int, int]:
        """Nodes, views, and columns of each view."""
        return self.graph.num_nodes, len(self.names), self.width

    def __matmul__(self, w: NDArray[np.float32]) -> NDArray[np.float32]:
        """The product with directions, shape ``(N, k)``."""
        total = np.zeros((len(self.scales[self.names[0]]), w.shape[2]), np.float32)
        for name, part in zip(self.names, self.products(w), strict=True):
            total += self.scales[name][:, None] * part
        return total

    def products(self, w: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """The product of each view with its directions, before rows are scaled, shape ``(N, k)`` each."""
        k, by_name = w.shape[2], dict(zip(self.names, w, strict=True))
        if self._kept is None:
            values = self._by_row @ w.transpose(1, 0, 2).reshape(self.width, -1)
            return self._side_by_side(values, k, self.names)
        found: dict[str, Any] = dict.fromkeys(self.names, 0.0)
        for table, used in self._tables.items():
            rows = self._kept[table]
            product = (rows @ torch.from_numpy(np.concatenate([by_name[name] for name in used], axis=1))).numpy()
            for at, name in enumerate(used):
                found[name] = found[name] + VIEWS[name].tables[table] * product[:, at * k : (at + 1) * k]
        return list(found.values())

    def transposed(self, r: NDArray[np.float32]) -> NDArray[np.float32]:
        """The product of the transposed matrix with ``r``, shape ``(N, k)``, in the shape of directions."""
        k, scaled = r.shape[1], {name: self.scales[name][:, None] * r for name in self.names}
        if self._kept is None:
            images = self._side_by_side(joined(list(scaled.values())), k, self.names, transposed=True)
            product = (self._by_column @ joined(images))[:, : k * len(self.names)]
            return np.ascontiguousarray(product.reshape(self.width, len(self.names), k).transpose(1, 0, 2))
        found = {name: np.zeros((self.width, k), np.float32) for name in self.names}
        for table, used in self._tables.items():
            rows = self._kept[table]
            columns = torch.from_numpy(np.concatenate([scaled[name] for name in used], axis=1))
            product = (columns.t() @ rows).t().numpy()  # this order is faster
            for at, name in enumerate(used):
                found[name] += VIEWS[name].tables[table] * product[:, at * k : (at + 1) * k]
        return np.stack(list(found.values()))

    @property
    def kept(self) -> bool:
        """Whether rows exist, so products with a :meth:`subset` of the nodes are cheaper than with all."""
        return self._kept is not None

    def subset(self, nodes: NDArray[np.int64]) -> ViewMatrix:
        """The views of some nodes, where rows are kept."""
        assert self._kept is not None
        some = copy.copy(self)
        some._kept = {name: self._kept[name][nodes] for name in self._tables}
        some.scales = {name: self.scales[name][nodes] for name in self.names}
        return some

    def images(
        self, name: str, values: NDArray[np.float32], mean: NDArray[np.float32] | None = None, transposed: bool = False
    ) -> NDArray[np.float32]:
        """What a view makes of columns of numbers, of which the mean may be known, before rows are scaled."""
        return VIEWS[name].sum(partial(self._image, values=values, mean=mean, transposed=transposed))

    def _side_by_side(
        self, values: NDArray[np.float32], k: int, names: Sequence[str], *, transposed: bool = False
    ) -> list[NDArray[np.float32]]:
        """The images of ``k`` columns by each view; one pass over the edges averages the columns of all."""
        averaged = any(table not in ("smoothed", 0) for name in names for table in VIEWS[name].tables)
        means = self._smoother.mean(values, transposed=transposed) if averaged else None
        found = []
        for at, name in enumerate(names):
            some = np.s_[:, at * k : (at + 1) * k]
            own, mean = values[some], None if means is None else means[some]
            found.append(VIEWS[name].sum(partial(self._image, values=own, mean=mean, transposed=transposed)))
        return found

    def _image(
        self, table: ViewTable, values: NDArray[np.float32], mean: NDArray[np.float32] | None, transposed: bool = False
    ) -> NDArray[np.float32]:
        """What columns of numbers are in a table; their mean over neighbours may be known already."""
        if table == "smoothed":
            return self._smoother.smooth(values)
        for hop in range(int(table)):
            values = mean if hop == 0 and mean is not None else self._smoother.mean(values, transposed=transposed)
        return values

    @cached_property
    def _by_row(self) -> SparseRows | NDArray[np.float32]:
        """The attributes, to multiply with."""
        return self.rows if isinstance(self.rows, np.ndarray) else SparseRows(self.rows)

    @cached_property
    def _by_column(self) -> SparseRows | NDArray[np.float32]:
        """The same, transposed."""
        return self.rows.T if isinstance(self.rows, np.ndarray) else SparseRows(sp.csr_array(self.rows.T))

    def _scales(self, names: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """For each view its weight over the length of each row; zero for rows of zeros."""
        squares = {name: np.zeros(self.graph.num_nodes) for name in names if name != "own"}
        signs = random_signs(self.width, DIRECTIONS) / np.float32(np.sqrt(DIRECTIONS)) if self.width > EXACT else None
        for first in range(0, self.width if signs is None else DIRECTIONS, TOGETHER):
            some = slice(first, first + TOGETHER)
            block = dense(self.rows[:, some]) if signs is None else self.rows @ signs[:, some]
            for name, total in squares.items():
                kept = signs is None and self._kept is not None
                total += squared_lengths(self._kept_rows(name, some) if kept else self.images(name, block))
        rows = self.rows
        filled = rows.any(axis=1) if isinstance(rows, np.ndarray) else rows.power(2).sum(axis=1) > 0
        squares["own"] = np.asarray(filled).astype(np.float64)  # the length of filled rows is 1 already
        inverse = {name: inverse_lengths(squares[name], ROUNDING) for name in names}
        return {name: (VIEWS[name].weight * each).astype(np.float32) for name, each in inverse.items()}


def views_of(graph: Graph, attributes: Attributes, names: Sequence[str] | None = None) -> ViewMatrix:
    """The views of a graph, shared by all that read it."""
    names = tuple(VIEWS if names is None else names)
    return derived(graph, "views", lambda: ViewMatrix(graph, attributes, ()), attributes.key).named(names)


def _mapped(
    rows: NDArray[np.float32] | sp.csr_array, image: Callable[[NDArray[np.float32]], NDArray[np.float32]]
) -> NDArray[np.float32]:
    """What ``image`` makes of the columns, some at a time."""
    found = np.empty(rows.shape, np.float32)
    for first in range(0, rows.shape[1], TOGETHER):
        some = slice(first, first + TOGETHER)
        found[:, some] = image(dense(rows[:, some]))
    return found


def squared_lengths(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Squared lengths of rows, without their squares in memory."""
    squares: NDArray[np.float64] = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return squares


def worth_keeping(graph: Graph, width: int, filled: int) -> bool:
    """Whether smoothing all columns once, for products with fewer nodes later, is cheaper, and fits into memory.

    Costs are numbers that are read. A product without tables takes up to two vectors for each entry of the attributes,
    and one for each entry of the adjacency and pass. ``filled`` is the number of entries of the attributes.
    """
    n, entries, tables = graph.num_nodes, len(graph.indices), _all_tables()
    passes = sum(STEPS if table == "smoothed" else table for table in tables)
    kept = width * (passes * entries + len(tables) * (PRODUCTS * n + SAMPLED_PRODUCTS * min(n, TRAINING_SAMPLE)))
    others = (PRODUCTS + SAMPLED_PRODUCTS) * LANES * (2 * filled + passes * entries)
    return kept <= others and 4 * len(tables) * n * width <= SHARE * available_memory()


def _all_tables() -> set[ViewTable]:
    """The tables that all views consist of."""
    return {table for view in VIEWS.values() for table in view.tables}


def forecast_views(graph: Graph) -> tuple[Forecast, str]:
    """What all views of a graph will take, and a sentence about it."""
    n, x = graph.num_nodes, graph.features
    if isinstance(x, np.ndarray):
        width, parts = (graph.num_features or WIDTH) + 1, [x]
        filled, views = n * width, 4 * n * width
    else:
        width, parts = graph.num_features or WIDTH, [x.data, x.indices, x.indptr]
        filled, views = x.nnz, 16 * x.nnz
    if worth_keeping(graph, width, filled):
        views = 4 * len(_all_tables()) * n * width
    arrays = [graph.indptr, graph.indices, graph.weights, *parts]
    stored = 0 if graph.stored is None else sum(part.nbytes for part in arrays if part is not None)
    forecast = Forecast({"views of the nodes": views, "scores and ranks": BYTES_PER_NODE * n, "the store": stored})
    return forecast, f"The run takes about {forecast} of memory."


def random_signs(rows: int, columns: int) -> NDArray[np.float32]:
    """The same 1 and −1 every time, shape ``(rows, columns)``."""
    return np.random.default_rng(0).choice(np.array([-1, 1], np.float32), (rows, columns))


def comparable_rows(graph: Graph, attributes: Attributes) -> NDArray[np.float32]:
    """The smoothed view less its mean, at length 1: similar rows for similar nodes.

    Wide attributes are multiplied with random directions first, which keeps angles roughly as they are.
    """
    views = views_of(graph, attributes, ())
    if views.width <= COMPARED and views.kept:
        smoothed = views.table("smoothed").copy()
    else:
        rows = views.rows if views.width <= COMPARED else views.rows @ random_signs(views.width, COMPARED)
        smoothed = _mapped(rows, smoother_of(graph).smooth)
    smoothed *= inverse_lengths(squared_lengths(smoothed), ROUNDING)[:, None].astype(np.float32)
    smoothed -= smoothed.mean(axis=0, dtype=np.float64).astype(np.float32)
    smoothed *= inverse_lengths(squared_lengths(smoothed), ROUNDING)[:, None].astype(np.float32)
    return smoothed
