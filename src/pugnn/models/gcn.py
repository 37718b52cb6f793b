"""Graph convolutional network (Kipf & Welling, ICLR 2017), the paper's backbone."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from pugnn.models.backbone import BACKBONES, Backbone, InputLinear, Output, linear
from pugnn.models.inputs import GraphInputs


@BACKBONES.register("gcn")
class GCN(Backbone):
    r"""Two graph convolutions with the normalised adjacency :math:`\hat A`.

    .. math:: Z = \hat A X W_1 + b_1, \qquad g = \hat A\, \mathrm{ReLU}(Z)\, W_2 + b_2

    The paper only says "two-layer GCN with hidden dimension 16". By default this is Kipf's network,
    :math:`F \to 16 \to 1`, with the hidden layer as embedding. With ``linear_head`` it is GRAB's: both convolutions
    have ``hidden`` outputs, the second is the embedding, and a linear layer follows.
    """

    uses_weights = True
    neighbours = "gcn_adjacency"

    def __init__(self, num_features: int, *, hidden: int = 16, dropout: float = 0.5, linear_head: bool = False) -> None:
        super().__init__()
        self.first_layer = InputLinear(num_features, hidden, dropout=dropout)
        self.first_bias = nn.Parameter(torch.zeros(hidden))
        outputs = hidden if linear_head else 1
        self.second_layer = linear(hidden, outputs, bias=False)
        self.second_bias = nn.Parameter(torch.zeros(outputs))
        self.head = linear(hidden, 1) if linear_head else None
        self.nodewise_head = linear_head
        self.dropout = dropout

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        adjacency = inputs.gcn_adjacency
        first = adjacency @ self.first_layer(inputs.features, inputs.places) + self.first_bias
        hidden = self.drop(F.relu(first), inputs.places)
        second = adjacency @ self.second_layer(hidden) + self.second_bias
        if self.head is None:
            return Output(first, second.squeeze(1))
        return Output(second, self.logits(second, inputs.places))


@BACKBONES.register("gcn-linear")
def gcn_linear(num_features: int, *, hidden: int = 16, dropout: float = 0.5) -> GCN:
    """A GCN with a linear head."""
    return GCN(num_features, hidden=hidden, dropout=dropout, linear_head=True)
