"""Graph isomorphism network (Xu et al., ICLR 2019)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from pugnn.models.backbone import BACKBONES, Backbone, InputLinear, Output, linear
from pugnn.models.inputs import GraphInputs


@BACKBONES.register("gin")
class GIN(Backbone):
    r"""Two sum aggregations, each followed by a two-layer perceptron.

    .. math:: h_i' = \mathrm{MLP}\Big((1 + \varepsilon) h_i + \sum_{j \in N(i)} h_j\Big)

    The perceptron's first linear map is applied before the sum, which is equivalent and keeps sparse features sparse.
    The embedding is the output of the first perceptron.
    """

    neighbours = "sum_adjacency"

    def __init__(self, num_features: int, *, hidden: int = 16, dropout: float = 0.5) -> None:
        super().__init__()
        self.first_layer = InputLinear(num_features, hidden, dropout=dropout)
        self.first_bias = nn.Parameter(torch.zeros(hidden))
        self.first_output = linear(hidden, hidden)
        self.first_epsilon = nn.Parameter(torch.zeros(()))
        self.second_layer = linear(hidden, hidden, bias=False)
        self.second_bias = nn.Parameter(torch.zeros(hidden))
        self.second_output = linear(hidden, 1)
        self.second_epsilon = nn.Parameter(torch.zeros(()))
        self.dropout = dropout

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        mapped = self.first_layer(inputs.features, inputs.places)
        summed = (1 + self.first_epsilon) * mapped + inputs.sum_adjacency @ mapped + self.first_bias
        embedding = self.first_output(F.relu(summed))
        mapped = self.second_layer(self.drop(F.relu(embedding), inputs.places))
        summed = (1 + self.second_epsilon) * mapped + inputs.sum_adjacency @ mapped + self.second_bias
        return Output(embedding, self.second_output(F.relu(summed)).squeeze(1))
