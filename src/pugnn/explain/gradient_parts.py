r"""The parts of the logit of any network, by integrated gradients (Sundararajan, Taly & Yan, ICML 2017).

From features of zero to the features X of the whole graph, attribute a of node u contributes to the logit of node v

.. math:: C_v(u, a) = X_{ua} \int_0^1 \frac{\partial \ell_v(t X)}{\partial X_{ua}} \, dt

which add up to :math:`\ell_v(X) - \ell_v(0)`. The integral is a mean over :data:`STEPS` midpoints, so the sum is not
exact; the explanation says what is missing. The logit without some nodes or attributes, whose features are then zero,
is computed anew.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import chain

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.explain.parts import MAX_GRADIENTS, Parts
from pugnn.graph import Graph
from pugnn.models import Backbone, GraphInputs, inputs_on
from pugnn.models.sparse import SparseMatrix
from pugnn.training.batches import sampled_inputs
from pugnn.training.planning import scores_whole

#: Midpoints of the integral.
STEPS = 32
#: Rows that are converted to double precision at a time.
BLOCK = 2**12


def gradient_parts(model: Backbone, graph: Graph, nodes: NDArray[np.int64]) -> Iterator[Parts]:
    """The parts of the logits of some nodes, given by position."""
    device = next(chain(model.parameters(), model.buffers())).device
    there, rows, x = np.arange(graph.num_nodes), nodes, graph.features  # the nodes that rows of x belong to
    if scores_whole(graph, model, str(device)):
        inputs = copy.copy(inputs_on(graph, device))
    else:  # the neighbours that the scores were computed from
        inputs, sample = sampled_inputs(model, graph, nodes, device)
        there, rows, x = sample.nodes, sample.rows, graph.features[sample.nodes]
    features = _SparseFeatures(inputs, x) if sp.issparse(x) else _DenseFeatures(inputs)
    model = model.eval()
    with torch.no_grad():
        full = model(features.at(1.0)).logit.double()
        base = model(features.at(0.0)).logit.double()
        numbers = sum(leaf.numel() for leaf in features.leaves)

    def parts(node: int, gradients: list[Tensor]) -> Parts:
        by_row, all_columns, own = features.contributions(node, gradients)
        by_node = np.zeros(graph.num_nodes)
        by_node[there] = by_row

        @torch.no_grad()
        def without(nodes: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
            return float(model(features.without(np.flatnonzero(np.isin(there, nodes)), columns)).logit[node])

        total, around = float(full[node]), all_columns - own
        return Parts(total, float(base[node]), by_node, own, around, without, how="gradients")

    at_once = max(1, MAX_GRADIENTS // max(numbers, 1))
    for start in range(0, len(rows), at_once):
        block = rows[start : start + at_once].tolist()
        yield from map(parts, block, _mean_gradients(model, features, block))


def _mean_gradients(
    model: Backbone, features: _DenseFeatures | _SparseFeatures, nodes: list[int]
) -> list[list[Tensor]]:
    """For each node, the mean gradients of its logit along the way from zero to the features."""
    found: list[list[Tensor]] = []
    for step in range(STEPS):
        logit, leaves = model(features.at((step + 0.5) / STEPS)).logit, features.leaves
        found = found or [[torch.zeros_like(leaf, requires_grad=False) for leaf in leaves] for _ in nodes]
        for node, means in zip(nodes, found, strict=True):
            gradients = torch.autograd.grad(logit[node], leaves, retain_graph=True, materialize_grads=True)
            for mean, gradient in zip(means, gradients, strict=True):
                mean.add_(gradient, alpha=1 / STEPS)
    return found


class _DenseFeatures:
    """Dense features. The ``leaves`` that gradients are taken by are the features themselves."""

    def __init__(self, inputs: GraphInputs) -> None:
        assert isinstance(inputs.features, Tensor)
        self.inputs, self.x = inputs, inputs.features
        self.leaves: list[Tensor] = []

    def at(self, share: float) -> GraphInputs:
        """The inputs with this share of the features."""
        self.leaves = [(share * self.x).requires_grad_()]
        self.inputs.features = self.leaves[0]
        return self.inputs

    def without(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> GraphInputs:
        """The inputs with features of 0 in some rows and in some columns."""
        self.leaves = []
        self.inputs.features = self.x.clone()
        self.inputs.features[torch.from_numpy(rows)] = 0
        self.inputs.features[:, torch.from_numpy(columns)] = 0
        return self.inputs

    def contributions(self, node: int, gradients: list[Tensor]) -> tuple[NDArray[np.float64], ...]:
        """From the mean gradients of a node: by node, by column, and by column of the node itself."""
        by_node, by_column, (gradient,) = [], self.x.new_zeros(self.x.shape[1], dtype=torch.float64), gradients
        for start in range(0, len(self.x), BLOCK):
            product = (self.x[start : start + BLOCK] * gradient[start : start + BLOCK]).double()
            by_node.append(product.sum(dim=1))
            by_column += product.sum(dim=0)
        own = (self.x[node] * gradient[node]).double()
        return tuple(part.cpu().numpy() for part in (torch.cat(by_node), by_column, own))


class _SparseFeatures:
    """The same of sparse features, by their products XW with weights: no matrix has a number for each zero."""

    def __init__(self, inputs: GraphInputs, features: sp.csr_array) -> None:
        assert isinstance(inputs.features, SparseMatrix)
        self.inputs, self.x, self.matrix = inputs, features, inputs.features
        self.leaves: list[Tensor] = []
        self.weights: list[Tensor] = []

    def at(self, share: float) -> GraphInputs:
        self.inputs.features = recorded = _Recorded(self.matrix, share)
        self.leaves, self.weights = recorded.products, recorded.weights
        return self.inputs

    def without(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> GraphInputs:
        gone = np.isin(self.x.indices, columns)
        for row in rows.tolist():
            gone[self.x.indptr[row] : self.x.indptr[row + 1]] = True
        self.inputs.features = matrix = copy.copy(self.matrix)
        matrix.values = matrix.values.masked_fill(torch.from_numpy(gone).to(self.inputs.device), 0.0)
        return self.inputs

    def contributions(self, node: int, gradients: list[Tensor]) -> tuple[NDArray[np.float64], ...]:
        by_node, (by_column, own) = np.zeros(self.x.shape[0]), np.zeros((2, self.x.shape[1]))
        for gradient, weight in zip(gradients, self.weights, strict=True):
            w = weight.detach().double().cpu().numpy()
            for start in range(0, len(by_node), BLOCK):
                block = slice(start, start + BLOCK)
                x, slope = self.x[block], gradient[block].double().cpu().numpy()
                by_node[block] += ((x @ w) * slope).sum(axis=1)
                by_column += ((x.T @ slope) * w).sum(axis=1)
            own += self.x[[node]].toarray()[0] * (w @ gradient[node].double().cpu().numpy())
        return by_node, by_column, own


class _Recorded(SparseMatrix):
    """A share of a matrix that remembers its products and what it was multiplied with."""

    def __init__(self, matrix: SparseMatrix, share: float) -> None:
        vars(self).update(vars(matrix))  # the arrays of the matrix itself: a copy would take as much memory again
        self.share = share
        self.products: list[Tensor] = []
        self.weights: list[Tensor] = []

    def __matmul__(self, dense: Tensor) -> Tensor:
        product = self.share * super().__matmul__(dense)
        self.products.append(product)
        self.weights.append(dense)
        return product
