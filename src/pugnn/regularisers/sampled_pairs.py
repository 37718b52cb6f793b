r"""Pairs of nodes for the structural regulariser where a step sees a part of the graph.

Directed edges :math:`(i, j)` are drawn uniformly, with replacement, and for each a single non-neighbour k of i. With
m directed edges and K draws per edge in the whole graph,

.. math:: \tfrac1m A = \mathbb{E} (S_{ij} - 1)^2, \qquad \tfrac1m B = K\, \mathbb{E} S_{ik}^2

so means over the pairs, the second one times K, are unbiased estimates of both sums: one draw that counts K times
instead of K draws. Every node that occurs needs its own neighbourhood, so further draws for the same edge would cost
as much as further edges, and tell less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.graph import NO_NEGATIVE, Graph, sample_non_neighbours


@dataclass(frozen=True)
class Pairs:
    """Edges from i, ``source``, to j, ``target``, and non-neighbours k, ``other``, of i.

    They are positions in a graph, or rows of a network's output. Where there is no non-neighbour, k is i itself.
    ``directed`` is the number of directed edges of the whole graph.
    """

    source: Tensor
    target: Tensor
    other: Tensor
    has_other: Tensor
    directed: int

    @property
    def ends(self) -> NDArray[np.int64]:
        """All of them in one array: first sources, then targets, then non-neighbours."""
        return torch.cat([self.source, self.target, self.other]).numpy()

    def as_rows(self, rows: Tensor) -> Pairs:
        """The same pairs by the rows that :attr:`ends` have in a network's output, on the device of these."""
        source, target, other = rows.chunk(3)
        return Pairs(source, target, other, self.has_other.to(rows.device), self.directed)


def sample_pairs(graph: Graph, count: int, seed: int, share: slice = slice(None)) -> Pairs:
    """Draw ``count`` edges with a non-neighbour each, and take a share of them."""
    edges = np.random.default_rng(seed).integers(0, len(graph.indices), count)
    source = np.searchsorted(graph.indptr, edges, side="right") - 1
    other = sample_non_neighbours(graph, source, 1, seed=seed)[:, 0]
    target, has_other = graph.indices[edges].astype(np.int64), other != NO_NEGATIVE
    other = np.where(has_other, other, source)
    i, j, k, has_k = (torch.from_numpy(part[share]) for part in (source, target, other, has_other))
    return Pairs(i, j, k, has_k, len(graph.indices))
