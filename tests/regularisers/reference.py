"""The structural regulariser in plain PyTorch, holding all 2E · K pairs in memory: the reference for the kernels."""

import numpy as np
import torch

from pugnn.graph import NO_NEGATIVE, Graph, sample_non_neighbours


def reference(z: torch.Tensor, graph: Graph, negatives: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The two sums."""
    sources = graph.sources.astype(np.int64)
    drawn = sample_non_neighbours(graph, sources, negatives, seed=seed)
    pairs_from = np.repeat(sources, negatives)[drawn.ravel() != NO_NEGATIVE]
    pairs_to = drawn.ravel()[drawn.ravel() != NO_NEGATIVE].astype(np.int64)
    # S - 1 = -σ(-x), which keeps its precision where S is close to 1.
    edges = torch.sigmoid(-_products(z, sources, graph.indices.astype(np.int64))).square().sum()
    return edges, torch.sigmoid(_products(z, pairs_from, pairs_to)).square().sum()


def _products(z: torch.Tensor, left: np.ndarray, right: np.ndarray) -> torch.Tensor:
    return (z[torch.from_numpy(left)] * z[torch.from_numpy(right)]).sum(dim=1)
