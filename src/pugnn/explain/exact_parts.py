r"""The parts of scores that are exact sums: of :class:`~pugnn.views.LinearModel` and of label propagation.

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

With label propagation, the odds :math:`r_v / r_\pi` are a sum over the known positives. With known negatives, all of
them are multiplied by the share of what arrives from positives (:class:`pugnn.models.Propagation`), so they still
add up.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.explain.parts import MAX_NUMBERS, NOTHING, Parts, at_once
from pugnn.graph import Graph
from pugnn.graph.arrays import dense
from pugnn.graph.smoothing import smoother_of
from pugnn.models import Propagation, inputs_on
from pugnn.views import EXACT_WIDTH, FAR, ROUNDING, VIEWS, LinearModel, relative_walks, source_of
from pugnn.views.attributes import inverse_lengths

Matrix = NDArray[np.float64]

#: Attributes are converted to double precision so many numbers at a time.
BLOCK = 2**18


def view_parts(
    model: LinearModel, graph: Graph, nodes: NDArray[np.int64], *, of_place: bool = False
) -> Iterator[Parts]:
    """The parts of the log-odds of some nodes, given by position.

    With ``of_place``, features say where nodes are in the graph: they count as one part, which belongs to no node.
    """
    explained = _Explained(model, graph, of_place)
    together = at_once(max(graph.num_nodes, model.direction.numel()))
    for start in range(0, len(nodes), together):
        yield from explained.parts(nodes[start : start + together])


class _Closeness:
    """What closeness contributes: its weight, the known positives, and how close to them all nodes are, p / p̄."""

    def __init__(self, model: LinearModel, graph: Graph) -> None:
        self.weight, self.known = float(model.by_closeness), model.known_in(graph)
        self.relative = relative_walks(graph, model.seeds(graph))[:, 0]
        far = np.log(FAR) - np.log(self.relative + np.float32(FAR)).mean(dtype=np.float64)
        self.base = self.weight * float(far)  # of a node from which no path leads to a known positive

    def gain(self, node: int, share: float = 1.0) -> float:
        """Of the walks from a node to known positives, or of a share of these walks, beyond that."""
        return self.weight * float(np.log1p(share * float(self.relative[node]) / FAR))

    def shares(self, walks: Matrix) -> Matrix:
        """The share of each known positive in the walks of a node, given what comes from every node."""
        of_known = walks[self.known]
        shares: Matrix = of_known / max(of_known.sum(), np.finfo(np.float64).tiny)
        return shares


class _Explained:
    """A model on a graph, in double precision: its views, a direction in each of them, the constant, and closeness."""

    def __init__(self, model: LinearModel, graph: Graph, of_place: bool) -> None:
        self.of_place = of_place
        self.closeness = _Closeness(model, graph) if model.by_closeness else None
        self.names, self.constant = tuple(VIEWS)[: len(model.direction)], float(model.constant)
        self.source = source_of(graph, model.attributes)
        # The length of rows of few attributes is found node by node, so those of all nodes are not smoothed.
        self.known_scales = model.views(graph).scales if self.source.width > EXACT_WIDTH else None
        self.directions: Matrix = model.direction.double().numpy()

    @cached_property
    def mean(self) -> Matrix:
        """Of the attributes, over all nodes, shape ``(F,)``."""
        total = sum(np.asarray(rows.sum(axis=0)).ravel() for _, rows in self.blocks())
        return np.asarray(total) / self.source.graph.num_nodes

    def blocks(self) -> Iterator[tuple[slice, Matrix | sp.csr_array]]:
        """The attributes of all nodes, some at a time."""
        rows = self.source.rows
        count = rows.shape[0]
        size = max(1, BLOCK // (rows.shape[1] if isinstance(rows, np.ndarray) else max(1, rows.nnz // count)))
        for start in range(0, count, size):
            block = slice(start, min(start + size, count))
            yield block, rows[block].astype(np.float64)

    def parts(self, nodes: NDArray[np.int64]) -> Iterator[Parts]:
        """Of nodes that are explained together."""
        count, names = self.source.graph.num_nodes, self.names
        start = np.zeros((count, len(nodes)), np.float32)
        start[nodes, np.arange(len(nodes))] = 1.0
        # The weight of every node in a view of these, before rows are scaled to length 1, (N, n) each
        mean = smoother_of(self.source.graph).mean(start, transposed=True) if len(names) > 1 else None
        spreads = [self.source.image(name, start, mean, transposed=True) for name in names]
        side_by_side = np.zeros((len(self.mean), len(names) * len(nodes)))
        for block, rows in self.blocks():
            side_by_side += rows.T @ np.concatenate([spread[block] for spread in spreads], axis=1, dtype=np.float64)
        sums = side_by_side.reshape(-1, len(names), len(nodes)).transpose(1, 0, 2)
        by_node = np.zeros((count, len(nodes)))
        scales, at_mean = self._scales(nodes, sums), self.directions @ self.mean
        for block, rows in self.blocks() if not self.of_place else ():
            along = np.asarray(rows @ self.directions.T) - at_mean
            for q, spread in enumerate(spreads):
                by_node[block] += scales[q] * spread[block] * along[:, q : q + 1]
        walks = spreads[names.index("smoothed")] if "smoothed" in names else None
        if walks is None and self.closeness is not None:
            walks = self.source.image("smoothed", start, transposed=True)
        for at, node in enumerate(nodes.tolist()):
            # Copies: a part of a matrix would keep all of it in memory while the next nodes are explained.
            columns = [spread[:, at].astype(np.float64) for spread in spreads]
            ended = np.zeros(0) if walks is None else walks[:, at].astype(np.float64)
            found = sums[:, :, at].copy(), scales[:, at].copy(), by_node[:, at].copy()
            yield self._parts_of(node, columns, ended, *found)

    def _scales(self, nodes: NDArray[np.int64], sums: Matrix) -> Matrix:
        """The weight of each view over the length of its rows of some nodes, which are ``sums``."""
        if self.known_scales is not None:
            return np.stack([self.known_scales[name][nodes].astype(np.float64) for name in self.names])
        weights = np.array([VIEWS[name].weight for name in self.names])
        return weights[:, None] * inverse_lengths((sums**2).sum(axis=1), ROUNDING)

    def _parts_of(
        self, node: int, spreads: list[Matrix], walks: Matrix, sums: Matrix, scales: Matrix, by_node: Matrix
    ) -> Parts:
        """Of one node.

        Args:
            node: its position.
            spreads: weights of all nodes, shape ``(N,)`` for each view.
            walks: where walks from the node end, shape ``(N,)``; empty if closeness does not count.
            sums: attributes summed with these weights, shape ``(views, F)``.
            scales: weight of each view over the length of the node's row in it, shape ``(views,)``.
            by_node: contribution of each node, shape ``(N,)``, to which closeness is added.
        """
        mean, closeness, shares = self.mean, self.closeness, np.zeros(0)
        weights = np.array([spread.sum() for spread in spreads])
        difference = dense(self.source.rows[[node]])[0] - mean
        every = zip(scales, spreads, self.directions, strict=True)
        own = np.asarray(sum(scale * spread[node] * w * difference for scale, spread, w in every))
        all_columns = (scales[:, None] * self.directions * (sums - weights[:, None] * mean)).sum(axis=0)
        base = self.constant + float(scales * weights @ (self.directions @ mean))
        around = all_columns - own
        if self.of_place:
            own, around = np.zeros(1), all_columns.sum(keepdims=True)
        closeness_column = len(own)
        if closeness is not None:
            shares = closeness.shares(walks)
            by_known = closeness.gain(node) * shares
            by_known[closeness.known == node] = 0.0  # being known itself is where it starts
            base += closeness.base + closeness.gain(node) - float(by_known.sum())
            by_node[closeness.known] += by_known
            own, around = np.append(own, 0.0), np.append(around, by_known.sum())

        def without(nodes: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
            """The log-odds, computed anew after others have got the mean attributes."""
            total = self.constant
            if closeness is not None:
                gone = np.isin(closeness.known, nodes) | (columns == closeness_column).any()
                left = float(shares[(closeness.known == node) | ~gone].sum())
                total += closeness.base + closeness.gain(node, left)
                columns = columns[columns < closeness_column]
            if self.of_place:
                nodes, columns = NOTHING, np.arange(len(mean) if len(columns) else 0)
            rows = self.source.rows[nodes].T if len(nodes) else None
            for q, before in enumerate(sums):
                some = spreads[q][nodes]
                after = before.copy() if rows is None else before - rows @ some + some.sum() * mean
                after[columns] = weights[q] * mean[columns]
                length = np.linalg.norm(after)
                if length > ROUNDING:  # the row has another length now, or one at all
                    weight = float(scales[q] * np.linalg.norm(before)) or VIEWS[self.names[q]].weight
                    total += weight * float(self.directions[q] @ after) / float(length)
            return total

        total = base + float(own.sum() + around.sum())
        return Parts(total, base, by_node, own, around, without, closeness=closeness is not None)


def propagation_parts(model: Propagation, graph: Graph, nodes: NDArray[np.int64]) -> Iterator[Parts]:
    """The parts of the odds of some nodes, given by position."""
    together = max(1, MAX_NUMBERS // graph.num_nodes)
    inputs = inputs_on(graph, model.labelled.device)
    for some in model.arriving(inputs, torch.from_numpy(nodes.copy()), together):
        yield from (_from_positives(model, arriving) for arriving in some.T)


def _from_positives(model: Propagation, arriving: Tensor) -> Parts:
    """The parts of one node, given what arrives there from each node."""
    labelled, positive = model.labelled.cpu().numpy(), arriving[model.labelled]
    negative = [arriving[model.negative].sum()] if len(model.negative) else []

    def without(nodes: NDArray[np.int64], columns: NDArray[np.int64]) -> float:  # noqa: ARG001 (no attribute counts)
        kept = positive[torch.from_numpy(~np.isin(labelled, nodes)).to(positive.device)].sum()
        return float(model.lowered(kept, *negative) / model.middle)  # known negatives stay

    total, by_node, none = without(NOTHING, NOTHING), np.zeros(len(arriving)), np.zeros(0)
    if total:
        by_node[labelled] = (positive * (total / positive.sum())).cpu().numpy()
    return Parts(total, 0.0, by_node, none, none, without, unit="odds")
