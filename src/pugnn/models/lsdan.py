"""Long-short distance attention network (Wu, Pan, Du & Zhu, TKDD 2021)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pugnn.errors import require_whole
from pugnn.models.attention import Neighbourhoods, neighbour_attention
from pugnn.models.backbone import BACKBONES, Backbone, InputLinear, Output, linear, size_of_heads
from pugnn.models.inputs import GraphInputs

#: Longer walks reach no further nodes.
MAX_HOPS = 100


@BACKBONES.register("lsdan")
class LSDAN(Backbone):
    r"""Two layers that attend over walks of 1, 2, … K steps, and then over the walk lengths.

    Short-distance attention over the nodes reached by walks of k steps, with the same weights for every k:

    .. math::
        h_i^k = \mathrm{ELU}\Big(\sum_{j \in N_i^{(k)}} \alpha_{ij}^k W_1 x_j\Big), \qquad
        \alpha_{ij}^k = \operatorname*{softmax}_{j \in N_i^{(k)}}
            \mathrm{LeakyReLU}_{0.2}(a^\top W_1 x_i + b^\top W_1 x_j)

    Long-distance attention over the walk lengths, with a query per node:

    .. math::
        o_i = \sum_{k=1}^{K} \beta_i^k h_i^k, \qquad \beta_i^k = \operatorname*{softmax}_k \; (h_i^k)^\top W_2 x_i

    The second layer takes o as input and has one head, one output and no ELU. The embedding is the first layer's o;
    it follows an ELU, which unlike a ReLU allows values down to -1.

    Args:
        hops: K, the longest walk.
        heads: heads of the first layer's short-distance attention, with ``hidden / heads`` outputs each.
    """

    def __init__(
        self, num_features: int, *, hidden: int = 16, dropout: float = 0.5, hops: int = 3, heads: int = 4
    ) -> None:
        super().__init__()
        require_whole("hops", hops, 1, MAX_HOPS)
        # W₁ and W₂ side by side: one product with the features serves both.
        self.first_layer = InputLinear(num_features, 2 * hidden, dropout=dropout)
        self.first_attention = ShortAttention(heads, size_of_heads(hidden, heads))
        self.second_layer = linear(hidden, 2, bias=False)
        self.second_attention = ShortAttention(1, 1)
        self.dropout, self.hops = dropout, hops

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        structures = inputs.hop_structures(self.hops)
        values, queries = self.first_layer(inputs.features).chunk(2, dim=1)
        embedding = long_attention([F.elu(h) for h in self.first_attention(values, structures)], queries)
        hidden = self.drop(embedding)
        values, queries = self.second_layer(hidden).chunk(2, dim=1)
        return Output(embedding, long_attention(self.second_attention(values, structures), queries).squeeze(1))


class ShortAttention(nn.Module):
    """Attention over several structures with shared scores; each of the heads has ``size`` outputs."""

    def __init__(self, heads: int, size: int) -> None:
        super().__init__()
        self.source, self.target = (nn.Parameter(torch.empty(heads, size)) for _ in range(2))
        for vectors in (self.source, self.target):
            nn.init.xavier_uniform_(vectors)

    def forward(self, values: Tensor, structures: list[Neighbourhoods]) -> list[Tensor]:
        """Attend over values of shape ``(N, heads · size)``; one result of that shape per structure."""
        by_head = values.view(len(values), *self.source.shape)
        s, t = (by_head * self.source).sum(dim=2), (by_head * self.target).sum(dim=2)
        return [neighbour_attention(values, s, t, structure) for structure in structures]


def long_attention(states: list[Tensor], queries: Tensor) -> Tensor:
    """Average the states, one ``(N, d)`` tensor per walk length, by a softmax of their products with the queries."""
    stacked = torch.stack(states)
    shares = torch.softmax((stacked * queries).sum(dim=2), dim=0)
    return (shares[:, :, None] * stacked).sum(dim=0)
