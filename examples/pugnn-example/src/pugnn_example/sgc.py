"""A backbone: simple graph convolution (Wu et al., ICML 2019), one linear layer on smoothed features."""

from __future__ import annotations

from pugnn.models import BACKBONES, Backbone, GraphInputs, Output
from pugnn.models.backbone import InputLinear, linear


@BACKBONES.register("sgc")
class SGC(Backbone):
    r"""Two steps of propagation and a linear map, :math:`Z = \hat A^2 X W`, and a linear layer to the logit.

    Args:
        num_features: F.
        hidden: size of the embedding, d.
        dropout: on the features, in training.
    """

    uses_weights = True

    def __init__(self, num_features: int, *, hidden: int = 16, dropout: float = 0.5) -> None:
        super().__init__()
        self.first_layer = InputLinear(num_features, hidden, dropout=dropout)
        self.head = linear(hidden, 1)

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        adjacency = inputs.gcn_adjacency
        embedding = adjacency @ (adjacency @ self.first_layer(inputs.features))
        return Output(embedding, self.head(embedding).squeeze(1))
