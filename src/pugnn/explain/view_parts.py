r"""The parts of the log-odds of :class:`~pugnn.models.LinearViews`, which are exact.

The log-odds of a node v are linear in its row, and in each view its row is a weighted sum of the attributes of nodes,
divided by a length:

.. math:: \ell_v = c + \sum_{\text{views } q} \Big\langle w_q, \sum_u c_{vuq}\, \bar x_u \Big\rangle, \qquad
    c_{vuq} = P^{(q)}_{vu} \omega_q / \ell_{vq}

where :math:`P^{(q)}` is personalised PageRank, the identity, the mean over neighbours, the identity less that mean, or
the mean over two hops, and :math:`\omega_q` the weight of the view. Attribute a of node u contributes what it differs
by from the mean :math:`\mu_a` of :math:`\bar x_a` over all nodes:

.. math:: C_v(u, a) = \sum_q c_{vuq}\, w_{qa} (\bar x_{ua} - \mu_a), \qquad
    b_v = c + \sum_q \Big(\sum_u c_{vuq}\Big) \langle w_q, \mu \rangle, \qquad
    \ell_v = b_v + \sum_{u, a} C_v(u, a)

Closeness to known positives (:mod:`pugnn.views.walks`) stands beside the attributes as one more column. It
adds :math:`\kappa \log(1 + 10\, p_v / \bar p)` to the log-odds without any path to them, and each of them contributes
in proportion to the walks from v that end at it. If v is known itself, its own part of that belongs to the base.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.explain.parts import MAX_NUMBERS, Parts
from pugnn.graph import Graph
from pugnn.graph.smoothing import LANES
from pugnn.views import FAR, ROUNDING, LinearViews, NodeViews, relative_walks

Matrix = NDArray[np.float64]

#: Attributes are converted to double precision so many numbers at a time.
BLOCK = 2**18


def view_parts(model: LinearViews, graph: Graph, nodes: NDArray[np.int64]) -> Iterator[Parts]:
    """The parts of the log-odds of some nodes, given by position."""
    closeness = _Closeness.of(model, graph) if model.by_closeness else None
    explained = _Explained(model.views(graph), model.direction.double().numpy(), float(model.constant), closeness)
    # Smoothing takes whole vectors of columns, so fewer nodes than a vector has would save nothing.
    at_once = max(LANES, MAX_NUMBERS // max(graph.num_nodes, model.direction.numel()))
    for start in range(0, len(nodes), at_once):
        yield from explained.parts(nodes[start : start + at_once])


@dataclass(frozen=True, eq=False)
class _Closeness:
    """What closeness contributes: its weight, the known positives, and how close to them all nodes are."""

    weight: float
    known: NDArray[np.int64]
    relative: NDArray[np.float32]  # p / p̄

    @classmethod
    def of(cls, model: LinearViews, graph: Graph) -> _Closeness:
        relative = relative_walks(graph, model.seeds(graph))[:, 0]
        return cls(float(model.by_closeness), model.known_in(graph), relative)

    @cached_property
    def base(self) -> float:
        """Of a node from which no path leads to a known positive."""
        return self.weight * float(np.log(FAR) - np.log(self.relative + np.float32(FAR)).mean(dtype=np.float64))

    def gain(self, node: int, share: float = 1.0) -> float:
        """Of the walks from a node to known positives, or of a share of these walks, beyond that."""
        return self.weight * float(np.log1p(share * float(self.relative[node]) / FAR))

    def shares(self, walks: Matrix) -> Matrix:
        """The share of each known positive in the walks of a node, given what comes from every node."""
        of_known = walks[self.known]
        shares: Matrix = of_known / max(of_known.sum(), np.finfo(np.float64).tiny)
        return shares


@dataclass(frozen=True, eq=False)
class _Explained:
    """A model on a graph, in double precision: its views, a direction in each of them, the constant, and closeness."""

    views: NodeViews
    directions: Matrix
    constant: float
    closeness: _Closeness | None

    @cached_property
    def mean(self) -> Matrix:
        """Of the attributes, over all nodes, shape ``(F,)``."""
        total = sum(np.asarray(rows.sum(axis=0)).ravel() for _, rows in self.blocks())
        return np.asarray(total) / self.views.graph.num_nodes

    def blocks(self) -> Iterator[tuple[slice, Matrix | sp.csr_array]]:
        """The attributes of all nodes, some at a time."""
        rows = self.views.rows
        count = rows.shape[0]
        of_one = rows.shape[1] if isinstance(rows, np.ndarray) else max(1, rows.nnz // count)
        size = max(1, BLOCK // of_one)
        for start in range(0, count, size):
            block = slice(start, min(start + size, count))
            yield block, rows[block].astype(np.float64)

    def parts(self, nodes: NDArray[np.int64]) -> Iterator[Parts]:
        """Of nodes that are explained together."""
        spreads = [_spread(self.views, name, nodes) for name in self.views.names]  # (N, n) each
        shape = (len(self.mean), len(nodes))
        sums = [np.zeros(shape) for _ in spreads]
        by_node = np.zeros((self.views.graph.num_nodes, len(nodes)))
        scales = [self.views.scales[name][nodes].astype(np.float64) for name in self.views.names]
        at_mean = self.directions @ self.mean
        for block, rows in self.blocks():
            along = np.asarray(rows @ self.directions.T) - at_mean
            for q, spread in enumerate(spreads):
                weights = _dense(spread[block])
                sums[q] += rows.T @ weights
                by_node[block] += scales[q] * weights * along[:, q : q + 1]
        for at, node in enumerate(nodes.tolist()):
            # Copies: a part of a matrix would keep all of it in memory while the next nodes are explained.
            columns = [_dense(spread[:, [at]]).ravel() for spread in spreads]
            weights = np.array([column.sum() for column in columns])
            difference = _dense(self.views.rows[[node]])[0] - self.mean
            times = np.array([scale[at] for scale in scales])
            own = sum(
                t * column[node] * w * difference for t, column, w in zip(times, columns, self.directions, strict=True)
            )
            each = np.stack([total[:, at] for total in sums])
            all_columns = (times[:, None] * self.directions * (each - weights[:, None] * self.mean)).sum(axis=0)
            base = self.constant + float(times * weights @ at_mean)
            own, around = np.asarray(own), all_columns - own
            by_others = by_node[:, at].copy()
            shares = None
            if self.closeness is not None:
                shares = self.closeness.shares(columns[0])
                by_known = self.closeness.gain(node) * shares
                by_known[self.closeness.known == node] = 0.0  # being known itself is where it starts
                base += self.closeness.base + self.closeness.gain(node) - float(by_known.sum())
                by_others[self.closeness.known] += by_known
                own, around = np.append(own, 0.0), np.append(around, by_known.sum())
            yield Parts(
                total=base + float(own.sum() + around.sum()),
                base=base,
                by_node=by_others,
                own=own,
                around=around,
                without=_Without(self, node, columns, weights, each, times, shares),
                closeness=self.closeness is not None,
            )


@dataclass(frozen=True, eq=False)
class _Without:
    """The log-odds of one node, scored anew after others have got the mean attributes."""

    explained: _Explained
    node: int
    spreads: list[Matrix]  # the weights of all nodes in each view, shape ``(N,)``
    weights: Matrix  # their sums
    sums: Matrix  # of the attributes, times these weights, shape ``(views, F)``
    times: Matrix  # what the sums are multiplied with
    shares: Matrix | None  # of each known positive in the walks of the node

    def __call__(self, nodes: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
        mean, total, closeness = self.explained.mean, self.explained.constant, self.explained.closeness
        if closeness is not None and self.shares is not None:
            itself = closeness.known == self.node
            gone = np.isin(closeness.known, nodes) | (columns == len(mean)).any()
            total += closeness.base + closeness.gain(self.node, float(self.shares[itself | ~gone].sum()))
            columns = columns[columns < len(mean)]
        rows = self.explained.views.rows[nodes].T if len(nodes) else None
        every = zip(self.spreads, self.weights, self.sums, self.times, self.explained.directions, strict=True)
        for spread, weight, before, times, direction in every:
            some = spread[nodes]
            after = before.copy() if rows is None else before - rows @ some + some.sum() * mean
            after[columns] = weight * mean[columns]
            length = np.linalg.norm(after)
            if length > ROUNDING:  # the row has another length now
                total += times * np.linalg.norm(before) / length * float(direction @ after)
        return total


def _spread(views: NodeViews, name: str, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
    """The weight of every node in a view of some nodes, before rows are scaled to length 1, shape ``(N, n)``."""
    start = np.zeros((views.graph.num_nodes, len(nodes)), np.float32)
    start[nodes, np.arange(len(nodes))] = 1.0
    return views.images(name, start, transposed=True)


def _dense(matrix: NDArray[np.floating] | sp.csr_array) -> Matrix:
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=np.float64)
