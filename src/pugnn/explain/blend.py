r"""The parts of the log-odds of a :class:`~pugnn.models.Blend`, which are exact.

With the hidden units that are active at a node v, its log-odds are linear in its row, and its row is a weighted sum of
the attributes of nodes, divided by a length:

.. math:: \ell_v = k_v + \sum_{\text{views } q} \Big\langle w_{vq}, \sum_u c_{vuq}\, \bar x_u \Big\rangle, \qquad
    c_{vuq} = \sqrt{\omega_q} \, P^{(q)}_{vu} \Big/ \Big\lVert \sum_u P^{(q)}_{vu} \bar x_u \Big\rVert

where :math:`P^{(q)}` is personalised PageRank, the identity, or the mean over neighbours. Attribute a of node u
contributes what it differs by from the mean :math:`\mu_a` of :math:`\bar x_a` over all nodes:

.. math:: C_v(u, a) = \sum_q c_{vuq}\, w_{vqa} (\bar x_{ua} - \mu_a), \qquad
    b_v = k_v + \sum_q \Big(\sum_u c_{vuq}\Big) \langle w_{vq}, \mu \rangle, \qquad
    \ell_v = b_v + \sum_{u, a} C_v(u, a)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from pugnn.explain.parts import MOST_NUMBERS, Parts
from pugnn.graph import Graph
from pugnn.graph.smoothing import LANES
from pugnn.models import Blend, GraphInputs, inputs_on
from pugnn.models.views import VIEWS, Attributes, smooth

Matrix = NDArray[np.float64]

#: Shorter rows count as zero, as in the model.
SHORTEST = 1e-12
#: Attributes are converted to double precision so many numbers at a time.
BLOCK = 2**18


def blend_parts(model: Blend, graph: Graph, nodes: NDArray[np.int64]) -> Iterator[Parts]:
    """The parts of the log-odds of some nodes, given by position."""
    explained = _Explained.of(model, graph)
    # Smoothing takes whole vectors of columns, so fewer nodes than a vector has would save nothing.
    at_once = max(LANES, MOST_NUMBERS // max(graph.num_nodes, model.contrast.numel()))
    for start in range(0, len(nodes), at_once):
        yield from explained.parts(nodes[start : start + at_once])


@dataclass(frozen=True, eq=False)
class _Explained:
    """A model on a graph, in double precision."""

    model: dict[str, Matrix]
    inputs: GraphInputs
    views: list[str]
    roots: list[float]  # of the weights of these views
    how: Attributes

    @classmethod
    def of(cls, model: Blend, graph: Graph) -> _Explained:
        weights = model.view_weights.cpu().double().sqrt().tolist()
        used = [(name, weight) for name, weight in zip(VIEWS, weights, strict=True) if weight > 0]
        return cls(
            {name: value.cpu().double().numpy() for name, value in model.named_buffers()},
            inputs_on(graph, torch.device("cpu")),
            [name for name, _ in used],
            [weight for _, weight in used],
            model.attributes,
        )

    @cached_property
    def hashing(self) -> sp.csr_array | None:
        """Shape ``(C, width)``."""
        return self.how.hashing(self.how.columns_of(self.inputs.graph, slice(1)).shape[1])

    @cached_property
    def mean(self) -> Matrix:
        """Of the attributes, over all nodes, shape ``(C,)``."""
        total = sum(np.asarray(rows.sum(axis=0)).ravel() for _, rows in self.blocks())
        return np.asarray(total) / self.inputs.graph.num_nodes

    def attributes(self, nodes: slice | NDArray[np.int64]) -> Matrix | sp.csr_array:
        """Of some nodes, at length 1 after hashing, shape ``(n, C)``."""
        x = self.how.columns_of(self.inputs.graph, nodes).astype(np.float64)
        hashed = x if self.hashing is None else x @ self.hashing
        squares = np.square(hashed) if isinstance(hashed, np.ndarray) else hashed.power(2)
        lengths = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
        inverse = np.where(lengths > SHORTEST, 1 / np.maximum(lengths, SHORTEST), 0.0)
        if isinstance(x, np.ndarray):
            return x * inverse[:, None]
        return sp.csr_array((x.data * np.repeat(inverse, np.diff(x.indptr)), x.indices, x.indptr), shape=x.shape)

    def blocks(self, width: int = 1) -> Iterator[tuple[slice, Matrix | sp.csr_array]]:
        """The attributes of all nodes, some at a time: few enough for so many numbers more of each of them."""
        first = self.how.columns_of(graph := self.inputs.graph, slice(1))
        of_one = first.shape[1] if isinstance(first, np.ndarray) else graph.features.size // graph.num_nodes
        size = max(1, BLOCK // max(of_one, width))
        for start in range(0, graph.num_nodes, size):
            block = slice(start, min(start + size, graph.num_nodes))
            yield block, self.attributes(block)

    def parts(self, nodes: NDArray[np.int64]) -> Iterator[Parts]:
        """Of nodes that are explained together."""
        spreads = [_spread(view, nodes, self.inputs) for view in self.views]  # (N, n) each
        width, shape = len(spreads) * len(nodes), (-1, len(spreads), len(nodes))
        together = sum(rows.T @ _beside(spreads, block) for block, rows in self.blocks(width))
        sums = np.split(np.asarray(together), len(spreads), axis=1)  # (C, n) each
        totals, (base, directions, scales) = self.total(sums), self._linear(sums)
        direction, scale = np.hstack(directions), np.concatenate(scales)
        at_mean = self.mean @ direction
        by_node = np.empty((self.inputs.graph.num_nodes, len(nodes)))
        for block, rows in self.blocks(width):
            terms = _beside(spreads, block) * scale * (rows @ direction - at_mean)  # C of each view
            by_node[block] = terms.reshape(shape).sum(axis=1)
        for at, node in enumerate(nodes.tolist()):
            # Copies: a part of a matrix would keep all of it in memory while the next nodes are explained.
            columns = [_dense(spread[:, [at]]).ravel() for spread in spreads]
            weights = [float(column.sum()) for column in columns]
            difference = _dense(self.attributes(nodes[[at]]))[0] - self.mean
            own, all_columns = np.zeros((2, len(self.mean)))
            for q, column in enumerate(columns):
                along, times = directions[q][:, at], scales[q][at]
                own += times * column[node] * along * difference
                all_columns += times * along * (sums[q][:, at] - weights[q] * self.mean)
            yield Parts(
                total=float(totals[at]),
                base=float(base[at] + (scale * at_mean).reshape(shape)[0, :, at] @ weights),
                by_node=by_node[:, at].copy(),
                own=own,
                around=all_columns - own,
                without=_Without(self, columns, weights, [total[:, at].copy() for total in sums]),
            )

    def total(self, sums: list[Matrix]) -> Matrix:
        """The log-odds of the rows that these sums give, shape ``(n,)``."""
        rows, _ = self._rows(sums)
        direction, head, constant = self._weights
        units = np.maximum(self.model["hidden"].T @ rows + self.model["hidden_bias"][:, None], 0.0)
        return direction @ rows + head @ units + constant

    def _linear(self, sums: list[Matrix]) -> tuple[Matrix, list[Matrix], list[Matrix]]:
        """The form of these log-odds that is linear in the sums.

        That is a constant, and for each view a direction in the space of the columns, shape ``(C, n)``, and what its
        sums are multiplied with, shape ``(n,)``.
        """
        rows, scales = self._rows(sums)
        direction, head, constant = self._weights
        hidden, bias = self.model["hidden"], self.model["hidden_bias"]
        active = head[:, None] * (hidden.T @ rows + bias[:, None] > 0)
        directions = np.split(direction[:, None] + hidden @ active, len(sums))
        if self.hashing is not None:
            directions = [self.hashing @ each for each in directions]
        return constant + bias @ active, directions, scales

    def _rows(self, sums: list[Matrix]) -> tuple[Matrix, list[Matrix]]:
        """What the model reads, shape ``(W, n)``, and what the sums were multiplied with."""
        hashed = [total if self.hashing is None else self.hashing.T @ total for total in sums]
        lengths = [np.sqrt((total * total).sum(axis=0)) for total in hashed]
        scales = [
            np.where(length > SHORTEST, root / np.maximum(length, SHORTEST), 0.0)
            for root, length in zip(self.roots, lengths, strict=True)
        ]
        return np.concatenate([total * scale for total, scale in zip(hashed, scales, strict=True)]), scales

    @cached_property
    def _weights(self) -> tuple[Matrix, Matrix, float]:
        """What rows are multiplied with, and the perceptron's hidden units, and what is added."""
        model = self.model
        contrast, linear, perceptron = factors = Blend.SLOPE * model["shares"] / model["spreads"]
        constant = -float(Blend.SLOPE * model["cut"] + factors @ model["means"])
        return contrast * model["contrast"] + linear * model["linear"], perceptron * model["head"], constant


@dataclass(frozen=True, eq=False)
class _Without:
    """The log-odds of one node, scored anew after others have got the mean attributes."""

    explained: _Explained
    spreads: list[Matrix]  # the weights of all nodes in each view, shape ``(N,)``
    weights: list[float]  # their sums
    sums: list[Matrix]  # of the attributes, times these weights

    def __call__(self, nodes: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
        mean, changed = self.explained.mean, []
        rows = self.explained.attributes(nodes).T if len(nodes) else None
        for spread, weight, total in zip(self.spreads, self.weights, self.sums, strict=True):
            some = spread[nodes]
            moved = total.copy() if rows is None else total - rows @ some + some.sum() * mean
            moved[columns] = weight * mean[columns]
            changed.append(moved[:, None])
        return float(self.explained.total(changed)[0])


def _spread(view: str, nodes: NDArray[np.int64], inputs: GraphInputs) -> NDArray[np.float32] | sp.csr_array:
    """The weight of every node in a view of some nodes, before rows are scaled to length 1, shape ``(N, n)``."""
    graph, shape = inputs.graph, (inputs.graph.num_nodes, len(nodes))
    if view == "neighbours":
        around = [graph.neighbours(node) for node in nodes.tolist()]
        degrees = graph.degrees[nodes]
        places = np.concatenate(around), np.repeat(np.arange(len(nodes)), degrees)
        return sp.csr_array((np.repeat(1 / np.maximum(degrees, 1), degrees), places), shape=shape)
    itself = nodes, np.arange(len(nodes))
    if view == "own":
        return sp.csr_array((np.ones(len(nodes)), itself), shape=shape)
    start = np.zeros(shape, np.float32)
    start[itself] = 1.0
    spread: NDArray[np.float32] = smooth(torch.from_numpy(start), inputs).numpy()  # the matrix of all is symmetric
    return spread


def _beside(spreads: list[NDArray[np.float32] | sp.csr_array], block: slice) -> Matrix:
    """The weights of some nodes, all views side by side, in double precision."""
    return np.hstack([_dense(spread[block]) for spread in spreads])


def _dense(matrix: NDArray[np.floating] | sp.csr_array) -> Matrix:
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=np.float64)
