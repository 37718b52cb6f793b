"""Attention of every node over its neighbourhood, as in graph attention networks."""

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
    """The nodes that each node attends to, as row starts and sorted members: symmetric, and never empty."""

    def __init__(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32], device: torch.device | str = "cpu"
    ) -> None:
        self.indptr = indptr
        self.indices = indices
        self.device = torch.device(device)

    @cached_property
    def pairs(self) -> tuple[Tensor, Tensor]:
        """All pairs of a node i and a member j of its neighbourhood, two tensors of shape ``(entries,)``."""
        return self.pairs_of(np.arange(len(self.indptr) - 1))

    def pairs_of(self, nodes: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """The pairs of some nodes, given by position."""
        sizes = self.indptr[nodes + 1] - self.indptr[nodes]
        # The index of a pair is its node's start plus its offset within that node.
        shifts = self.indptr[nodes] - (np.cumsum(sizes) - sizes)
        members = self.indices[np.repeat(shifts, sizes) + np.arange(sizes.sum())]
        i, j = np.repeat(nodes, sizes), members.astype(np.int64)
        return torch.from_numpy(i).to(self.device), torch.from_numpy(j).to(self.device)


def neighbour_attention(
    values: Tensor, source_scores: Tensor, target_scores: Tensor, structure: Neighbourhoods
) -> Tensor:
    r"""The attention-weighted average of each neighbourhood's values, separately for each head.

    .. math::
        e_{ij} = \mathrm{LeakyReLU}_{0.2}(s_i + t_j), \qquad
        \alpha_{ij} = \frac{\exp e_{ij}}{\sum_{l \in N_i} \exp e_{il}}, \qquad
        o_i = \sum_{j \in N_i} \alpha_{ij} h_j

    On the CPU, in single precision, this needs no memory per pair (:mod:`pugnn.models.attention.cpu`).

    Args:
        values: h, shape ``(N, heads · size)``, heads in sequence; the result has the same shape.
        source_scores: s, of the attending node, shape ``(N, heads)``.
        target_scores: t, of the node attended to, shape ``(N, heads)``.
        structure: the neighbourhoods.
    """
    if values.device.type != "cpu" or values.dtype != torch.float32:
        return attend_pairs(values, source_scores, target_scores, *structure.pairs)
    attended, lost = attend_cpu(values, source_scores, target_scores, structure.indptr, structure.indices, SLOPE)
    if len(lost):
        pairs = structure.pairs_of(lost)
        attended = attended + attend_pairs(values, source_scores, target_scores, *pairs)
    return attended


def attend_pairs(values: Tensor, source_scores: Tensor, target_scores: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """The attention by its definition, over the pairs where i attends to j; zero for nodes that are never i."""
    n, heads = source_scores.shape
    scores = F.leaky_relu(source_scores.index_select(0, i) + target_scores.index_select(0, j), SLOPE)
    # Subtracting a node's largest score leaves the softmax unchanged and prevents overflow.
    largest = scores.new_full((n, heads), -torch.inf)
    largest = largest.scatter_reduce(0, i[:, None].expand(-1, heads), scores.detach(), "amax")
    weights = torch.exp(scores - largest.index_select(0, i))
    totals = torch.zeros_like(source_scores).index_add(0, i, weights)
    attention = weights / totals.index_select(0, i)
    messages = attention[:, :, None] * values.index_select(0, j).view(len(j), heads, -1)
    return torch.zeros_like(values).index_add(0, i, messages.flatten(1))
