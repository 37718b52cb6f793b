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

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.explain.parts import Parts
from pugnn.graph import Graph
from pugnn.models import Blend, GraphInputs, inputs_on
from pugnn.models.views import VIEWS, smooth

Matrix = NDArray[np.float64]

#: Nodes are explained together as long as a matrix of weights has no more numbers than this.
MOST_NUMBERS = 2**23
#: Shorter rows count as zero, as in the model.
SHORTEST = 1e-12


def blend_parts(model: Blend, graph: Graph, nodes: NDArray[np.int64]) -> Iterator[Parts]:
    """The parts of the log-odds of some nodes, given by position."""
    explained = _Explained.of(model, graph)
    at_once = max(1, MOST_NUMBERS // graph.num_nodes)
    for start in range(0, len(nodes), at_once):
        yield from explained.parts(nodes[start : start + at_once])


@dataclass(frozen=True, eq=False)
class _Explained:
    """A model on a graph, in double precision."""

    model: dict[str, Matrix]
    inputs: GraphInputs
    views: list[str]
    roots: list[float]  # of the weights of these views
    attributes: Matrix | sp.csr_array  # of all nodes, at length 1 after hashing, shape ``(N, C)``
    mean: Matrix  # over the nodes, shape ``(C,)``
    hashing: sp.csr_array | None  # shape ``(C, width)``

    @classmethod
    def of(cls, model: Blend, graph: Graph) -> _Explained:
        how = model.attributes
        x = how.columns_of(graph)
        x = x.astype(np.float64)
        hashing = how.hashing(x.shape[1])
        hashed = x if hashing is None else x @ hashing
        lengths = np.sqrt(np.asarray((hashed * hashed).sum(axis=1)).ravel())
        inverse = np.where(lengths > SHORTEST, 1 / np.maximum(lengths, SHORTEST), 0.0)
        x = x * inverse[:, None] if isinstance(x, np.ndarray) else sp.csr_array(sp.diags_array(inverse) @ x)
        weights = model.view_weights.cpu().double().sqrt().tolist()
        used = [(name, weight) for name, weight in zip(VIEWS, weights, strict=True) if weight > 0]
        return cls(
            {name: value.cpu().double().numpy() for name, value in model.named_buffers()},
            inputs_on(graph, torch.device("cpu")),
            [name for name, _ in used],
            [weight for _, weight in used],
            x,
            np.asarray(x.mean(axis=0)).ravel(),
            hashing,
        )

    def parts(self, nodes: NDArray[np.int64]) -> Iterator[Parts]:
        """Of nodes that are explained together."""
        spreads = [_spread(view, nodes, self.inputs) for view in self.views]  # (N, n) each
        sums = [np.asarray(self.attributes.T @ spread) for spread in spreads]  # (C, n) each
        totals, constants, directions, scales = self._linear(sums)
        by_node, base = np.zeros((len(spreads[0]), len(nodes))), constants
        own, all_columns = np.zeros((2, len(nodes), len(self.mean)))
        rows = self.attributes[nodes]
        differences = (rows if isinstance(rows, np.ndarray) else rows.toarray()) - self.mean
        for spread, total, direction, scale in zip(spreads, sums, directions, scales, strict=True):
            weights = spread * scale  # c
            weight = weights.sum(axis=0)
            at_mean = self.mean @ direction
            by_node += weights * (np.asarray(self.attributes @ direction) - at_mean)
            base = base + weight * at_mean
            all_columns += (direction * (total * scale - np.outer(self.mean, weight))).T
            own += weights[nodes, np.arange(len(nodes))][:, None] * differences * direction.T
        for at in range(len(nodes)):
            yield Parts(
                total=float(totals[at]),
                base=float(base[at]),
                by_node=by_node[:, at],
                own=own[at],
                around=all_columns[at] - own[at],
                without=_Without(self, [spread[:, at] for spread in spreads], [total[:, at] for total in sums]),
            )

    def _linear(self, sums: list[Matrix]) -> tuple[Matrix, Matrix, list[Matrix], list[Matrix]]:
        """The log-odds of the rows that these sums give, and their form that is linear in them.

        That is a constant, and for each view a direction in the space of the columns, shape ``(C, n)``, and what its
        sums are multiplied with, shape ``(n,)``.
        """
        model, hashing = self.model, self.hashing
        hashed = [total if hashing is None else hashing.T @ total for total in sums]
        lengths = [np.sqrt((total * total).sum(axis=0)) for total in hashed]
        scales = [
            np.where(length > SHORTEST, root / np.maximum(length, SHORTEST), 0.0)
            for root, length in zip(self.roots, lengths, strict=True)
        ]
        rows = np.concatenate([total * scale for total, scale in zip(hashed, scales, strict=True)])
        contrast, linear, perceptron = (by / over for by, over in zip(model["shares"], model["spreads"], strict=True))
        before = model["hidden"].T @ rows + model["hidden_bias"][:, None]
        head = model["head"][:, None] * (before > 0)
        weights = (contrast * model["contrast"] + linear * model["linear"])[:, None]
        weights = Blend.SLOPE * (weights + perceptron * (model["hidden"] @ head))
        constants = perceptron * (model["hidden_bias"] @ head) - model["cut"]
        constants = Blend.SLOPE * (constants - (model["shares"] * model["means"] / model["spreads"]).sum())
        directions = np.split(weights, len(sums))
        if hashing is not None:
            directions = [hashing @ direction for direction in directions]
        return (weights * rows).sum(axis=0) + constants, constants, directions, scales


@dataclass(frozen=True, eq=False)
class _Without:
    """The log-odds of one node, scored anew after others have got the mean attributes."""

    explained: _Explained
    spreads: list[Matrix]
    sums: list[Matrix]

    def __call__(self, nodes: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
        mean, changed = self.explained.mean, []
        rows = self.explained.attributes[nodes].T if len(nodes) else None
        for spread, total in zip(self.spreads, self.sums, strict=True):
            moved = total.copy() if rows is None else total - rows @ spread[nodes] + spread[nodes].sum() * mean
            moved[columns] = spread.sum() * mean[columns]
            changed.append(moved[:, None])
        return float(self.explained._linear(changed)[0][0])


def _spread(view: str, nodes: NDArray[np.int64], inputs: GraphInputs) -> Matrix:
    """The weight of every node in a view of some nodes, before rows are scaled to length 1, shape ``(N, n)``."""
    graph = inputs.graph
    weights = np.zeros((graph.num_nodes, len(nodes)), np.float32)
    if view == "neighbours":
        for at, node in enumerate(nodes.tolist()):
            weights[graph.neighbours(node), at] = 1 / max(int(graph.degrees[node]), 1)
        return weights.astype(np.float64)
    weights[nodes, np.arange(len(nodes))] = 1.0
    if view == "own":
        return weights.astype(np.float64)
    spread: Tensor = smooth(torch.from_numpy(weights), inputs)  # the matrix of all of them is symmetric
    return spread.double().numpy()
