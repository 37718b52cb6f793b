"""Predict, then propagate (Gasteiger et al., ICLR 2019)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from pugnn.models.backbone import BACKBONES, Backbone, InputLinear, Output, linear
from pugnn.models.inputs import GraphInputs


@BACKBONES.register("appnp")
class APPNP(Backbone):
    r"""A perceptron on the features, then personalised PageRank over its outputs.

    .. math:: Z^{(t+1)} = (1 - \beta) \hat A Z^{(t)} + \beta Z^{(0)}, \qquad
        Z^{(0)} = \mathrm{ReLU}(X W_1 + b_1) W_2 + b_2, \qquad g = Z^{(T)} w + c

    The logit is computed after propagation, so the embedding, too, depends on the neighbourhood.

    Args:
        steps: T.
        restart: β, the restart probability.
    """

    uses_weights = True
    nodewise_head = True

    def __init__(
        self, num_features: int, *, hidden: int = 16, dropout: float = 0.5, steps: int = 10, restart: float = 0.1
    ) -> None:
        super().__init__()
        self.first_layer = InputLinear(num_features, hidden, dropout=dropout, bias=True)
        self.second_layer = linear(hidden, hidden)
        self.head = linear(hidden, 1)
        self.dropout, self.steps, self.restart = dropout, steps, restart

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        hidden = self.drop(F.relu(self.first_layer(inputs.features)))
        embedding = start = self.second_layer(hidden)
        for _ in range(self.steps):
            embedding = (1 - self.restart) * (inputs.gcn_adjacency @ embedding) + self.restart * start
        return Output(embedding, self.logits(embedding))

    def logits(self, embedding: Tensor, places: Tensor | None = None) -> Tensor:  # noqa: ARG002 (no dropout here)
        """Logits for these embeddings."""
        assert self.head is not None
        logit: Tensor = self.head(embedding)
        return logit.squeeze(1)
