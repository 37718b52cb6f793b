"""Attention of every node over its neighbourhood, as graph attention networks have it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from pugnn.models.attention.cpu import attend_cpu

#: Slope of the leaky rectifier for negative scores.
SLOPE = 0.2


class Neighbourhoods:
    """For every node the nodes that it attends to. Symmetric, and nobody's is empty.

    Args:
        indptr: row starts, shape ``(N + 1,)``.
        indices: sorted members, shape ``(entries,)``.
        device: where the attention happens.
    """

    def __init__(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32], device: torch.device | str = "cpu"
    ) -> None:
        self.indptr = indptr
        self.indices = indices
        self.device = torch.device(device)

    @cached_property
    def pairs(self) -> tuple[Tensor, Tensor]:
        """Every node i with each member j of its neighbourhood, two tensors of shape ``(entries,)``."""
        return self.pairs_of(np.arange(len(self.indptr) - 1))

    def pairs_of(self, nodes: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """The same for some of the nodes only, given by their positions."""
        sizes = self.indptr[nodes + 1] - self.indptr[nodes]
        # Where each pair stands among all: its node's start, and its place among the pairs of that node.
        shifts = self.indptr[nodes] - (np.cumsum(sizes) - sizes)
        members = self.indices[np.repeat(shifts, sizes) + np.arange(sizes.sum())]
        i, j = np.repeat(nodes, sizes), members.astype(np.int64)
        return torch.from_numpy(i).to(self.device), torch.from_numpy(j).to(self.device)


def neighbour_attention(
    values: Tensor, source_scores: Tensor, target_scores: Tensor, structure: Neighbourhoods
) -> Tensor:
    r"""Each node's average of its neighbourhood's values, weighted by attention, for each head on its own.

    .. math::
        e_{ij} = \mathrm{LeakyReLU}_{0.2}(s_i + t_j), \qquad
        \alpha_{ij} = \frac{\exp e_{ij}}{\sum_{l \in N_i} \exp e_{il}}, \qquad
        o_i = \sum_{j \in N_i} \alpha_{ij} h_j

    On the CPU and in single precision this costs no memory per pair; see :mod:`pugnn.models.attention.cpu`.

    Args:
        values: h, shape ``(N, heads · size)``, one head after the other.
        source_scores: s, of the node that attends, shape ``(N, heads)``.
        target_scores: t, of the node attended to, shape ``(N, heads)``.
        structure: the neighbourhoods.

    Returns:
        o, shape ``(N, heads · size)``.
    """
    if values.device.type != "cpu" or values.dtype != torch.float32:
        return attend_pairs(values, source_scores, target_scores, *structure.pairs)
    attended, lost = attend_cpu(values, source_scores, target_scores, structure.indptr, structure.indices, SLOPE)
    if len(lost):
        pairs = structure.pairs_of(lost)
        attended = attended + attend_pairs(values, source_scores, target_scores, *pairs)
    return attended


def attend_pairs(values: Tensor, source_scores: Tensor, target_scores: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """The attention pair by pair, as it is defined.

    Args:
        values: shape ``(N, heads · size)``.
        source_scores: shape ``(N, heads)``.
        target_scores: shape ``(N, heads)``.
        i: the node that attends, shape ``(pairs,)``.
        j: the node attended to, shape ``(pairs,)``.

    Returns:
        Shape ``(N, heads · size)``; zero for nodes that are never i.
    """
    n, heads = source_scores.shape
    scores = F.leaky_relu(source_scores.index_select(0, i) + target_scores.index_select(0, j), SLOPE)
    # The largest score of a node is taken off all its scores: their softmax is the same and cannot overflow.
    largest = scores.new_full((n, heads), -torch.inf)
    largest = largest.scatter_reduce(0, i[:, None].expand(-1, heads), scores.detach(), "amax")
    weights = torch.exp(scores - largest.index_select(0, i))
    totals = torch.zeros_like(source_scores).index_add(0, i, weights)
    attention = weights / totals.index_select(0, i)
    messages = attention[:, :, None] * values.index_select(0, j).view(len(j), heads, -1)
    return torch.zeros_like(values).index_add(0, i, messages.flatten(1))
