"""GraphSAGE with the mean aggregator (Hamilton et al., NeurIPS 2017)."""

from __future__ import annotations

import torch.nn.functional as F

from pugnn.models.backbone import BACKBONES, Backbone, InputLinear, Output, linear
from pugnn.models.inputs import GraphInputs


@BACKBONES.register("sage")
class GraphSAGE(Backbone):
    r"""Two layers that combine a node's own state with the mean :math:`M` over its neighbours.

    .. math:: Z = X W_1 + M (X V_1) + b_1, \qquad g = \mathrm{ReLU}(Z) W_2 + M (\mathrm{ReLU}(Z) V_2) + b_2

    Features are mapped before they are averaged, which is equivalent and keeps sparse features sparse.
    """

    neighbours = "mean_adjacency"

    def __init__(self, num_features: int, *, hidden: int = 16, dropout: float = 0.5) -> None:
        super().__init__()
        # W₁ and V₁ side by side: one product with the features serves both.
        self.first_layer = InputLinear(num_features, 2 * hidden, dropout=dropout, bias=True)
        self.second_own = linear(hidden, 1)
        self.second_neighbours = linear(hidden, 1, bias=False)
        self.dropout = dropout

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        own, neighbours = self.first_layer(inputs.features, inputs.places).chunk(2, dim=1)
        embedding = own + inputs.mean_adjacency @ neighbours
        hidden = self.drop(F.relu(embedding), inputs.places)
        logit = self.second_own(hidden) + inputs.mean_adjacency @ self.second_neighbours(hidden)
        return Output(embedding, logit.squeeze(1))
