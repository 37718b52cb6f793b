"""Scores propagated from the known positives along the edges."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.models.backbone import Backbone, Output
from pugnn.models.inputs import GraphInputs
from pugnn.models.sparse import SparseMatrix

#: Stop when no value changes by more than this share of the largest.
TOLERANCE = 1e-6
MOST_STEPS = 1000


class Propagation(Backbone):
    r"""The fixed point of :math:`r \leftarrow (1 - \beta) S r + \beta y`; its logit is :math:`\log r - \log r_\pi`.

    With known negatives, :math:`r^+` spreads from the known positives and :math:`r^-` in the same way from the known
    negatives, and :math:`r` is what comes from positives, times its share of all that arrives:

    .. math:: r = r^+ \cdot \frac{r^+}{r^+ + w r^-}, \qquad w = \min\Big(1, \frac{n_L}{n_N}\Big)

    A known negative counts as much as a known positive, and all of them no more than all known positives.

    It has no weights. Its state is the starting nodes, the known negatives, the graph, and :math:`r_\pi`, the value
    that scores one half.

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
        self.walk = walk
        self.restart = restart
        for name in ("labelled", "negative"):
            self.register_buffer(name, torch.empty(0, dtype=torch.int64))
        self.register_buffer("graph", torch.zeros((), dtype=torch.int64))
        self.register_buffer("middle", torch.ones((), dtype=torch.float64))

    def start_from(self, graph: Graph, labelled: Tensor, negative: Tensor) -> None:
        """Set the graph, its known positives and its known negatives."""
        self.labelled, self.negative = labelled, negative
        self.graph = torch.tensor(_fingerprint(graph))

    def spread(self, inputs: GraphInputs, *, apart: bool = False) -> Tensor:
        """:math:`r` for every node, double precision, shape ``(N,)``.

        If ``apart``, from each known positive on its own, shape ``(N, n_L)``: they add up to :math:`r`.
        """
        if _fingerprint(inputs.graph) != self.graph.item():
            raise PugnnError("label propagation cannot score a graph it was not fitted on. Fit it on the new graph.")
        matrix = _normalised(inputs.graph, self.walk, inputs.device)
        known, nodes = len(self.labelled), torch.cat([self.labelled, self.negative])
        if not known or nodes.min() < 0 or nodes.max() >= inputs.graph.num_nodes:
            raise PugnnError("the model's known nodes are not in its graph: its file was changed. Fit it again.")
        columns = torch.arange(known, device=inputs.device) * apart
        width = int(columns.max()) + 1
        start = torch.zeros(inputs.graph.num_nodes, width + 1, dtype=torch.float64, device=inputs.device)
        start[self.labelled, columns] = self.restart
        start[self.negative, width] = self.restart
        if not len(self.negative):
            start = start[:, :width]
        reached = start
        for _ in range(MOST_STEPS):
            before, reached = reached, (1 - self.restart) * (matrix @ reached) + start
            if (reached - before).abs().max() <= TOLERANCE * reached.max():
                break
        parts = reached[:, :width]
        if len(self.negative):
            positive = parts.sum(dim=1)
            negative = min(1.0, known / len(self.negative)) * reached[:, width]
            parts = parts * (positive / (positive + negative)).nan_to_num(0.0)[:, None]  # nothing may arrive at all
        return parts if apart else parts.squeeze(1)

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of the fitted graph; unreached nodes have the logit −∞."""
        reached = self.spread(inputs)
        return Output(reached[:, None], reached.log() - self.middle.log())

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name in ("labelled", "negative"):
            setattr(self, name, torch.empty_like(state_dict[f"{prefix}{name}"]))  # as many as were saved
        super()._load_from_state_dict(state_dict, prefix, *rest)


def _fingerprint(graph: Graph) -> int:
    weights = b"" if graph.weights is None else graph.weights.tobytes()
    digest = hashlib.sha256(graph.indptr.tobytes() + graph.indices.tobytes() + weights)
    return int.from_bytes(digest.digest()[:7], "little")


def _normalised(graph: Graph, walk: bool, device: torch.device) -> SparseMatrix:
    adjacency = sp.csr_array(graph.to_scipy(), dtype=np.float64)
    degree = np.maximum(adjacency.sum(axis=1), np.finfo(np.float64).tiny)
    if walk:
        return SparseMatrix(sp.csr_array(adjacency @ sp.diags_array(1 / degree)), device)
    scale = sp.diags_array(1 / np.sqrt(degree))
    return SparseMatrix(sp.csr_array(scale @ adjacency @ scale), device, symmetric=True)
