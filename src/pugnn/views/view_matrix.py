r"""Views of all nodes side by side: a matrix that is multiplied with, and need not exist.

With :math:`\bar X` the attributes, each row at length 1, :math:`\hat A` the normalised adjacency and
:math:`M = D^{-1} A` the mean over neighbours, the views are

.. math:: S = \overline{H^{(T)}}, \quad H^{(t+1)} = (1 - \beta) \hat A H^{(t)} + \beta \bar X, \quad H^{(0)} = \bar X;
    \qquad \bar X; \qquad \overline{M \bar X}; \qquad \overline{\bar X - M \bar X}; \qquad \overline{M^2 \bar X}

where the bar scales rows to length 1, :math:`T = 10` and :math:`\beta = 0.15`. Side by side, each times its weight,
they are the matrix :math:`Z`. Methods only need two products of it, ``views @ w`` and ``views.transposed(r)``.

A view times a direction is a smoothed vector, :math:`S w = \mathrm{diag}(1 / \ell)\, H^{(T)}[\bar X w]`, so wide
attributes are never smoothed as a whole. Where rows are narrow for the number of edges, it is cheaper to smooth them
once and keep the tables :math:`H^{(T)}`, :math:`\bar X`, :math:`M \bar X` and :math:`M^2 \bar X`. That affects speed
and memory, but not values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from pugnn.graph import Graph
from pugnn.graph.smoothing import joined
from pugnn.views.attributes import Attributes
from pugnn.views.view import VIEWS, ViewTable
from pugnn.views.view_source import ViewSource, source_of


class ViewMatrix:
    """Some views of all nodes of a graph, or of some nodes, side by side.

    Args:
        source: what views are made of.
        names: of views, some of :data:`VIEWS`; by default all.
        nodes: positions of the nodes, where tables are kept; by default all.

    Attributes:
        scales: for each view, its weight over the length of each row.
        kept: whether rows exist, so products with a :meth:`subset` of the nodes are cheaper than with all of them.
    """

    def __init__(
        self, source: ViewSource, names: Sequence[str] | None = None, nodes: NDArray[np.int64] | None = None
    ) -> None:
        self.source = source
        self.graph, self.width, self.kept = source.graph, source.width, source.kept
        self.names = tuple(VIEWS if names is None else names)
        rows: Any = slice(None) if nodes is None else nodes
        self._tables = {table: source.table(table)[rows] for table in self._table_names()} if self.kept else {}
        self.scales = {name: source.scale(name)[rows] for name in self.names}

    def subset(self, nodes: NDArray[np.int64]) -> ViewMatrix:
        """The views of some nodes, where rows are kept."""
        assert self.kept
        return ViewMatrix(self.source, self.names, nodes)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Nodes of the graph, views, and columns of each view."""
        return self.graph.num_nodes, len(self.names), self.width

    def __matmul__(self, w: NDArray[np.float32]) -> NDArray[np.float32]:
        """The product with directions ``w``, shape ``(views, F, k)``, of shape ``(N, k)``."""
        parts = self.products(w)
        total = np.zeros(parts[0].shape, np.float32)
        for name, part in zip(self.names, parts, strict=True):
            total += self.scales[name][:, None] * part
        return total

    def products(self, w: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """The product of each view with its directions, before rows are scaled, shape ``(N, k)`` each."""
        if not self.kept:
            values = self.source.by_row @ w.transpose(1, 0, 2).reshape(self.width, -1)
            return self._images(values, w.shape[2])
        products: dict[str, Any] = dict.fromkeys(self.names, 0.0)
        by_name = dict(zip(self.names, w, strict=True))
        for table, names in self._views_by_table():
            directions = torch.from_numpy(np.concatenate([by_name[name] for name in names], axis=1))
            product = (self._tables[table] @ directions).numpy()
            for name, part in zip(names, np.split(product, len(names), axis=1), strict=True):
                products[name] = products[name] + VIEWS[name].tables[table] * part
        return list(products.values())

    def transposed(self, r: NDArray[np.float32]) -> NDArray[np.float32]:
        """The product of the transposed matrix with ``r``, shape ``(N, k)``, of shape ``(views, F, k)``."""
        k = r.shape[1]
        scaled = {name: self.scales[name][:, None] * r for name in self.names}
        if not self.kept:
            images = self._images(joined(list(scaled.values())), k, transposed=True)
            product = (self.source.by_column @ joined(images))[:, : k * len(self.names)]
            return np.ascontiguousarray(product.reshape(self.width, len(self.names), k).transpose(1, 0, 2))
        products = {name: np.zeros((self.width, k), np.float32) for name in self.names}
        for table, names in self._views_by_table():
            columns = torch.from_numpy(np.concatenate([scaled[name] for name in names], axis=1))
            product = (columns.t() @ self._tables[table]).t().numpy()  # this order is faster
            for name, part in zip(names, np.split(product, len(names), axis=1), strict=True):
                products[name] += VIEWS[name].tables[table] * part
        return np.stack(list(products.values()))

    def _images(self, values: NDArray[np.float32], k: int, *, transposed: bool = False) -> list[NDArray[np.float32]]:
        """The image of k columns by each view; one pass over the edges averages the columns of all views."""
        averaged = any(table not in ("smoothed", 0) for table in self._table_names())
        means = self.source.means(values, transposed=transposed) if averaged else None
        images = []
        for at, name in enumerate(self.names):
            columns = slice(at * k, (at + 1) * k)
            own_means = None if means is None else means[:, columns]
            images.append(self.source.image(name, values[:, columns], own_means, transposed=transposed))
        return images

    def _table_names(self) -> list[ViewTable]:
        """The tables that the views consist of; attributes first, as others are made of them."""
        tables = dict.fromkeys(table for name in self.names for table in VIEWS[name].tables)
        return sorted(tables, key=lambda table: table != 0)

    def _views_by_table(self) -> Iterator[tuple[ViewTable, list[str]]]:
        """Each table, and the views that it is part of."""
        for table in self._table_names():
            yield table, [name for name in self.names if table in VIEWS[name].tables]


def views_of(graph: Graph, attributes: Attributes, names: Sequence[str] | None = None) -> ViewMatrix:
    """Some views of a graph, by default all; what they are made of is shared by everything that reads it."""
    return ViewMatrix(source_of(graph, attributes), names)
