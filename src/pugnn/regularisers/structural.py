r"""The structural regulariser of PU-GNN (section 3.2 of the paper).

With similarities :math:`S_{ij} = \sigma(z_i^\top z_j)`, neighbours are pulled together and K nodes drawn from
:math:`P(v_i)`, the uniform distribution on the nodes that are not neighbours of :math:`v_i`, are pushed away:

.. math::
    R_S = \sum_i \sum_{j \in N(i)} \Big( (S_{ij} - 1)^2
        + \sum_{k=1}^{K} \mathbb{E}_{v_k \sim P(v_i)} S_{ik}^2 \Big)

Each edge counts in both directions; a node is never drawn for itself. The expectation is estimated from K fresh draws
at every step, or computed exactly over all non-neighbours. Gradients flow to both ends of every pair.

On CUDA devices both forms are Triton kernels (``structural_gpu.py``), where Triton can run. Otherwise the sampled form
is computed on the CPU (``structural_cpu.py``), and the exact one in blocks of rows on any device, so that memory grows
with N, not with its square. The expectation over the non-neighbours of i is their mean: with
:math:`c_i = K\, \deg_i / M_i` and :math:`M_i` the number of non-neighbours, the second sum is

.. math:: B = \sum_i c_i \sum_{k \notin N(i) \cup \{i\}} S_{ik}^2, \qquad
    \frac{\partial B}{\partial z_i} = \sum_{k \notin N(i) \cup \{i\}} (c_i + c_k)\, 2 S_{ik}^2 (1 - S_{ik})\, z_k

because a pair is weighted by :math:`c_i` from one end and by :math:`c_k` from the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pugnn.errors import require_whole
from pugnn.graph import Graph
from pugnn.regularisers.sampled_pairs import Pairs
from pugnn.regularisers.structural_cpu import structural_sums_cpu

#: Pairs of nodes in one block.
PAIRS = 4_000_000


@dataclass(frozen=True)
class StructuralRegulariser:
    r"""R_S as two named terms, scaled to a mean over edges.

    With :math:`m = 2E` directed edges, these are :math:`A / m` and :math:`B / m` for the two sums
    :math:`A = \sum (S_{ij} - 1)^2` and :math:`B = \sum S_{ik}^2`. The paper's literal sum starts at about 135,000 on
    Cora against a PU loss of about 1, so α = 0.01 would drown out the PU loss.

    Args:
        negatives: K, draws per directed edge. Paper: 50.
    """

    negatives: int = 50

    def __post_init__(self) -> None:
        require_whole("negatives", self.negatives, 1)

    def divisors(self, directed: int) -> tuple[int, int]:
        """What A and B are divided by in a graph with this number of directed edges; variants override it."""
        return directed, directed

    def __call__(self, embedding: Tensor, graph: Graph, *, seed: int | Tensor | None) -> dict[str, Tensor]:
        """The two terms by name, for z of shape ``(N, d)``; their sum is R_S.

        Use a new ``seed`` at every step; it may be an int64 tensor of shape ``(1,)`` on the device. ``None`` is for the
        exact expectation over all pairs of nodes.
        """
        edges, non_edges = structural_sums(embedding, graph, self.negatives, seed=seed)
        by_edges, by_non_edges = self.divisors(max(1, len(graph.indices)))
        return {"edges": edges / by_edges, "non_edges": non_edges / by_non_edges}

    def over_pairs(self, embedding: Tensor, pairs: Pairs, mean: Callable[[Tensor], Tensor]) -> dict[str, Tensor]:
        """The same terms, estimated from a sample of edges and non-neighbours; see :mod:`.sampled_pairs`.

        ``pairs`` are rows of the batch's z; ``mean`` takes a mean over them, as :meth:`pugnn.losses.Sets.mean` does.
        """
        by_edges, by_non_edges = self.divisors(pairs.directed)
        own = embedding[pairs.source]
        miss = torch.sigmoid(-(own * embedding[pairs.target]).sum(dim=1))
        similarity = torch.sigmoid((own * embedding[pairs.other]).sum(dim=1)) * pairs.has_other
        return {
            "edges": pairs.directed / by_edges * mean(miss.square()),
            "non_edges": pairs.directed * self.negatives / by_non_edges * mean(similarity.square()),
        }


def structural_sums(
    embedding: Tensor, graph: Graph, negatives: int, *, seed: int | Tensor | None
) -> tuple[Tensor, Tensor]:
    """The two sums A and B by the fastest implementation for the embedding's device.

    ``negatives`` is K; ``seed`` is ``None`` for the exact expectation, otherwise as in :class:`StructuralRegulariser`.
    """
    sums: tuple[Tensor, Tensor] = _FusedSums.apply(embedding, graph, negatives, seed)  # type: ignore[no-untyped-call]
    return sums


class _FusedSums(torch.autograd.Function):
    """Computes both sums and their gradients in one pass; backward only scales the gradients."""

    @staticmethod
    def forward(ctx: Any, embedding: Tensor, graph: Graph, negatives: int, seed: Any) -> tuple[Tensor, Tensor]:
        z = embedding.detach().contiguous()
        if z.device.type == "cuda" and z.dtype == torch.float32 and has_fused_gpu_kernel():
            from pugnn.regularisers.structural_gpu import structural_sums_gpu

            edges, non_edges, *gradients = structural_sums_gpu(z, graph, negatives, seed)
        elif seed is None:
            edges, non_edges, *gradients = structural_sums_exact(z, graph, negatives)
        else:
            sums, *tables = structural_sums_cpu(z.cpu().numpy(), graph.indptr, graph.indices, negatives, int(seed))
            edges, non_edges = (torch.tensor(value, dtype=z.dtype, device=z.device) for value in sums)
            gradients = [torch.from_numpy(table).to(z.device) for table in tables]
        ctx.save_for_backward(*gradients)
        return edges.to(z.dtype), non_edges.to(z.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, edges: Tensor, non_edges: Tensor) -> tuple[Tensor, None, None, None]:
        grad_edges, grad_non_edges = ctx.saved_tensors
        return edges * grad_edges + non_edges * grad_non_edges, None, None, None


@cache
def has_fused_gpu_kernel() -> bool:
    """Whether the Triton kernels can run: Triton is installed and supports the GPU."""
    if find_spec("triton") is None or not torch.cuda.is_available():
        return False
    return torch.cuda.get_device_capability() >= (8, 0)


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
