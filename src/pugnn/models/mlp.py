"""A perceptron on the features alone, without edges."""

from __future__ import annotations

from pugnn.models.backbone import BACKBONES, Backbone, InputLinear, Output, linear
from pugnn.models.inputs import GraphInputs


@BACKBONES.register("mlp")
class MLP(Backbone):
    r"""Two linear layers; the embedding is the hidden layer.

    .. math:: Z = X W_1 + b_1, \qquad g = \mathrm{ReLU}(Z) W_2 + b_2
    """

    reads_edges = False
    nodewise_head = True

    def __init__(self, num_features: int, *, hidden: int = 16, dropout: float = 0.5) -> None:
        super().__init__()
        self.first_layer = InputLinear(num_features, hidden, dropout=dropout, bias=True)
        self.head = linear(hidden, 1)
        self.dropout = dropout

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        embedding = self.first_layer(inputs.features, inputs.places)
        return Output(embedding, self.logits(embedding, inputs.places))
