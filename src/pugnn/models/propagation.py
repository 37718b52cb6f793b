"""Scores propagated from the known positives along the edges."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.graph.digests import update
from pugnn.models.backbone import Backbone, Output
from pugnn.models.inputs import GraphInputs
from pugnn.models.sparse import SparseMatrix

#: Stop when no value changes by more than this share of the largest.
TOLERANCE = 1e-6
MAX_STEPS = 1000


class Propagation(Backbone):
    r"""The fixed point of :math:`r \leftarrow (1 - \beta) S r + \beta y`; its logit is :math:`\log r - \log r_\pi`.

    With known negatives, :math:`r^+` spreads from the known positives and :math:`r^-` in the same way from the known
    negatives, and :math:`r` is what comes from positives, times its share of all that arrives:

    .. math:: r = r^+ \cdot \frac{r^+}{r^+ + w r^-}, \qquad w = \min\Big(1, \frac{n_L}{n_N}\Big)

    A known negative counts as much as a known positive, and all of them no more than all known positives.

    It has no weights. Its state is the known nodes, the graph, and :math:`r_\pi`, the value that scores one half.

    Args:
        walk: :math:`S = A D^{-1}` instead of :math:`D^{-1/2} A D^{-1/2}`.
        restart: β.
    """

    uses_weights = True

    labelled: Tensor
    negative: Tensor
    graph: Tensor
    middle: Tensor

    def __init__(self, *, walk: bool, restart: float) -> None:
        super().__init__()
        self.walk, self.restart = walk, restart
        for name in ("labelled", "negative"):
            self.register_buffer(name, torch.empty(0, dtype=torch.int64))
        self.register_buffer("graph", torch.zeros((), dtype=torch.int64))
        self.register_buffer("middle", torch.ones((), dtype=torch.float64))

    def start_from(self, graph: Graph, labelled: Tensor, negative: Tensor) -> None:
        """Set the graph, its known positives and its known negatives."""
        self.labelled, self.negative = labelled, negative
        self.graph = torch.tensor(_fingerprint(graph))

    def spread(self, inputs: GraphInputs) -> Tensor:
        """:math:`r` for every node, double precision, shape ``(N,)``."""
        return self.lowered(*self._iterate(inputs, self._matrix(inputs))[0].unbind(dim=1))

    def lowered(self, positive: Tensor, negative: Tensor | None = None) -> Tensor:
        """:math:`r` from what arrives from the known positives, and from the known negatives before it is weighted."""
        if negative is None:
            return positive
        weight = min(1.0, len(self.labelled) / len(self.negative))
        return positive * (positive / (positive + weight * negative)).nan_to_num(0.0)  # nothing may arrive at all

    def arriving(self, inputs: GraphInputs, nodes: Tensor, at_once: int) -> Iterator[Tensor]:
        """What arrives at some nodes from each node of the graph, if it is known, shape ``(N, at_once)`` each.

        Steps go backwards, from these nodes, as often as those of :meth:`spread`, so what arrives from all known
        positives together is the same, to rounding.
        """
        matrix = self._matrix(inputs)
        steps = self._iterate(inputs, matrix)[1]
        backwards = SparseMatrix(sp.csr_array(matrix.T), inputs.device, symmetric=not self.walk)
        for first in range(0, len(nodes), at_once):
            some = nodes[first : first + at_once].to(inputs.device)
            start = some, torch.arange(len(some), device=inputs.device)
            reached = torch.zeros(inputs.graph.num_nodes, len(some), dtype=torch.float64, device=inputs.device)
            reached[start] = self.restart
            for _ in range(steps):
                reached = (backwards @ reached).mul_(1 - self.restart)
                reached[start] += self.restart
            yield reached

    def _iterate(self, inputs: GraphInputs, matrix: sp.csr_array) -> tuple[Tensor, int]:
        """What arrives from the known positives and, if there are any, from the known negatives, and after how long."""
        nodes = torch.cat([self.labelled, self.negative])
        if not len(self.labelled) or nodes.min() < 0 or nodes.max() >= inputs.graph.num_nodes:
            raise PugnnError("the model's known nodes are not in its graph: its file was changed. Fit it again.")
        product = SparseMatrix(matrix, inputs.device, symmetric=not self.walk)
        starts = [self.labelled, self.negative] if len(self.negative) else [self.labelled]
        start = torch.zeros(inputs.graph.num_nodes, len(starts), dtype=torch.float64, device=inputs.device)
        for column, nodes in enumerate(starts):
            start[nodes, column] = self.restart
        reached = start
        for step in range(MAX_STEPS):
            before, reached = reached, (1 - self.restart) * (product @ reached) + start
            if (reached - before).abs().max() <= TOLERANCE * reached.max():
                return reached, step + 1
        return reached, MAX_STEPS

    def _matrix(self, inputs: GraphInputs) -> sp.csr_array:
        """S."""
        if _fingerprint(inputs.graph) != self.graph.item():
            raise PugnnError("label propagation cannot score a graph it was not fitted on. Fit it on the new graph.")
        adjacency = sp.csr_array(inputs.graph.to_scipy(), dtype=np.float64)
        degree = np.maximum(adjacency.sum(axis=1), np.finfo(np.float64).tiny)
        if self.walk:
            return sp.csr_array(adjacency @ sp.diags_array(1 / degree))
        scale = sp.diags_array(1 / np.sqrt(degree))
        return sp.csr_array(scale @ adjacency @ scale)

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of the fitted graph; unreached nodes have the logit −∞."""
        reached = self.spread(inputs)
        return Output(reached[:, None], reached.log() - self.middle.log())

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name in ("labelled", "negative"):
            setattr(self, name, torch.empty_like(state_dict[f"{prefix}{name}"]))  # as many as were saved
        super()._load_from_state_dict(state_dict, prefix, *rest)


def _fingerprint(graph: Graph) -> int:
    hashed = hashlib.sha256()
    for array in (graph.indptr, graph.indices, graph.weights):
        if array is not None:
            update(hashed, array)
    return int.from_bytes(hashed.digest()[:7], "little")
