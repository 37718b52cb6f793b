"""Graph attention network (Veličković et al., ICLR 2018)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import nn

from pugnn.models.backbone import BACKBONES, Backbone, InputLinear, Output, size_of_heads
from pugnn.models.inputs import GraphInputs


@BACKBONES.register("gat")
class GAT(Backbone):
    """Two of PyG's attention layers; the embedding is the concatenated heads of the first.

    Args:
        dropout: before each layer and on the attention.
        heads: heads of the first layer, with ``hidden / heads`` outputs each.
    """

    neighbours = "edge_index"
    replayable = False  # PyG's layer searches for self loops in every pass

    def __init__(self, num_features: int, *, hidden: int = 16, dropout: float = 0.5, heads: int = 4) -> None:
        from torch_geometric.nn import GATConv  # slow to import

        super().__init__()
        self.first_layer = InputLinear(num_features, hidden, dropout=dropout)
        self.first_attention = GATConv(hidden, size_of_heads(hidden, heads), heads=heads, dropout=dropout)
        # PyG's layer would map dense features here; first_layer already maps both dense and sparse ones.
        self.first_attention.lin = nn.Identity()
        self.second_attention = GATConv(hidden, 1, dropout=dropout)
        self.dropout = dropout

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        embedding = self.first_attention(self.first_layer(inputs.features, inputs.places), inputs.edge_index)
        hidden = self.drop(F.elu(embedding), inputs.places)
        return Output(embedding, self.second_attention(hidden, inputs.edge_index).squeeze(1))
