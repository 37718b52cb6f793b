r"""The structural regulariser with its exact expectation, in plain PyTorch.

The expectation over the non-neighbours of i is their mean, so with :math:`c_i = K\, \deg_i / M_i` and :math:`M_i` the
number of non-neighbours, the second sum is

.. math:: B = \sum_i c_i \sum_{k \notin N(i) \cup \{i\}} S_{ik}^2, \qquad
    \frac{\partial B}{\partial z_i} = \sum_{k \notin N(i) \cup \{i\}} (c_i + c_k)\, 2 S_{ik}^2 (1 - S_{ik})\, z_k

because a pair is weighted by :math:`c_i` from one end and by :math:`c_k` from the other. Rows are processed in blocks,
so memory grows with N, not with its square.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from pugnn.graph import Graph

#: Pairs of nodes in one block.
PAIRS = 4_000_000


def expectation_weights(graph: Graph, negatives: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """:math:`c_i` for each node, shape ``(N,)``; zero where there are no non-neighbours."""
    candidates = graph.num_nodes - 1 - graph.degrees
    return np.where(candidates > 0, negatives * graph.degrees / np.maximum(candidates, 1), 0.0)


@torch.no_grad()
def structural_sums_exact(z: Tensor, graph: Graph, negatives: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A and B in double precision, and the gradient of each with respect to ``z``, shape ``(N, d)``."""
    n = graph.num_nodes
    weight = torch.from_numpy(expectation_weights(graph, negatives)).to(z)
    edges, non_edges = z.new_zeros((), dtype=torch.float64), z.new_zeros((), dtype=torch.float64)
    grad_edges, grad_non_edges = torch.zeros_like(z), torch.zeros_like(z)
    size = max(1, PAIRS // max(1, n))
    for begin in range(0, n, size):
        end = min(n, begin + size)
        first, last = graph.indptr[begin], graph.indptr[end]
        rows = torch.from_numpy(graph.sources[first:last].astype(np.int64) - begin).to(z.device)
        columns = torch.from_numpy(graph.indices[first:last].astype(np.int64)).to(z.device)
        products = z[begin:end] @ z.T

        to_neighbours = products[rows, columns]
        miss = torch.sigmoid(-to_neighbours)
        edges += miss.square().sum(dtype=torch.float64)
        slopes = torch.zeros_like(products)
        slopes[rows, columns] = -4 * miss.square() * torch.sigmoid(to_neighbours)  # both directions of an edge
        grad_edges[begin:end] = slopes @ z

        similarity = torch.sigmoid(products)
        similarity[rows, columns] = 0.0
        similarity[torch.arange(end - begin), torch.arange(begin, end)] = 0.0
        squares = similarity.square()
        non_edges += (squares.sum(dim=1) * weight[begin:end]).sum(dtype=torch.float64)
        both = weight[begin:end, None] + weight[None, :]
        grad_non_edges[begin:end] = (2 * both * squares * torch.sigmoid(-products)) @ z
    return edges, non_edges, grad_edges, grad_non_edges
