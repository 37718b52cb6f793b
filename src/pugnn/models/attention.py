"""Attention of every node over its neighbourhood, as in graph attention networks, and over the ends of walks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.models.attention_cpu import SLOPE, attend_cpu

#: Most entries allowed in one power of the adjacency; 32-bit positions cannot count many more.
MAX_ENTRIES = 2_000_000_000


@dataclass(eq=False)
class Neighbourhoods:
    """The nodes that each node attends to, as row starts and sorted members: symmetric, and never empty."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    device: torch.device | str = "cpu"

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


def neighbour_attention(h: Tensor, s: Tensor, t: Tensor, structure: Neighbourhoods) -> Tensor:
    r"""The attention-weighted average of each neighbourhood's values, separately for each head.

    .. math::
        e_{ij} = \mathrm{LeakyReLU}_{0.2}(s_i + t_j), \qquad
        \alpha_{ij} = \frac{\exp e_{ij}}{\sum_{l \in N_i} \exp e_{il}}, \qquad
        o_i = \sum_{j \in N_i} \alpha_{ij} h_j

    The values h and the result have the shape ``(N, heads · size)``, heads in sequence; the scores s, of the attending
    node, and t, of the node attended to, have the shape ``(N, heads)``. On the CPU, in single precision, this needs no
    memory per pair (:mod:`pugnn.models.attention_cpu`).
    """
    if h.device.type != "cpu" or h.dtype != torch.float32:
        return attend_pairs(h, s, t, *structure.pairs)
    attended, lost = attend_cpu(h, s, t, structure.indptr, structure.indices)
    return attended + attend_pairs(h, s, t, *structure.pairs_of(lost)) if len(lost) else attended


def attend_pairs(h: Tensor, s: Tensor, t: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """The attention by its definition, over the pairs where i attends to j; zero for nodes that are never i."""
    n, heads = s.shape
    scores = F.leaky_relu(s.index_select(0, i) + t.index_select(0, j), SLOPE)
    # Subtracting a node's largest score leaves the softmax unchanged and prevents overflow.
    largest = scores.new_full((n, heads), -torch.inf)
    largest = largest.scatter_reduce(0, i[:, None].expand(-1, heads), scores.detach(), "amax")
    weights = torch.exp(scores - largest.index_select(0, i))
    totals = torch.zeros_like(s).index_add(0, i, weights)
    attention = weights / totals.index_select(0, i)
    messages = attention[:, :, None] * h.index_select(0, j).view(len(j), heads, -1)
    return torch.zeros_like(h).index_add(0, i, messages.flatten(1))


def hop_graphs(graph: Graph, hops: int) -> list[tuple[NDArray[np.int64], NDArray[np.int32]]]:
    r"""The neighbourhoods of every node in the first powers of the adjacency, as (row starts, sorted members).

    .. math:: N_i^{(k)} = \{\, j : (A^k)_{ij} \neq 0 \,\} \cup \{i\}, \qquad k = 1, \dots, \text{hops}

    Powers count walks, not distances: a neighbour is also in :math:`N^{(3)}`, by going there, back and there again.
    Weights are ignored. Every structure is symmetric, and no matrix is ever dense.

    Example:
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> starts, members = hop_graphs(path, 2)[1]
        >>> [members[a:b].tolist() for a, b in zip(starts, starts[1:])]
        [[0, 2], [1, 3], [0, 2], [1, 3]]
    """
    n = graph.num_nodes
    # Boolean products, 'and' along a walk and 'or' over walks, are binary and cannot overflow.
    present = np.ones(len(graph.indices), dtype=np.bool_)
    adjacency = sp.csr_array((present, graph.indices, graph.indptr), shape=(n, n))
    own = sp.eye_array(n, dtype=np.bool_, format="csr")
    power, structures = adjacency, []
    for k in range(1, hops + 1):
        if k > 1:
            # A row of the product has at most N entries, and at most as many as the rows it combines have together.
            ends = np.concatenate([[0], np.cumsum(graph.degrees[power.indices])])
            bound = int(np.minimum(np.diff(ends[power.indptr]), n).sum())
            if bound > MAX_ENTRIES:
                raise PugnnError(
                    f"walks of {k} steps join up to {bound:,} pairs of nodes; at most {MAX_ENTRIES:,} are supported. "
                    f"Lower hops to {k - 1}."
                )
            power = sp.csr_array(power @ adjacency)
            power.sort_indices()
        reached = sp.csr_array(power + own)
        structures.append((reached.indptr.astype(np.int64), reached.indices.astype(np.int32, copy=False)))
    return structures
