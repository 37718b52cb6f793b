"""A graph as tensors, with the normalised adjacencies that backbones need."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from pugnn.graph import Graph
from pugnn.graph.hops import hop_graphs
from pugnn.models.attention import Neighbourhoods
from pugnn.models.sparse import SparseMatrix


@lru_cache(maxsize=1)
def inputs_on(graph: Graph, device: torch.device) -> GraphInputs:
    """The inputs for a graph; those of the last graph are cached for consecutive training and scoring."""
    return GraphInputs(graph, device)


class GraphInputs:
    """The tensors that a backbone reads; each adjacency is computed on first use."""

    def __init__(self, graph: Graph, device: torch.device | str = "cpu") -> None:
        self.graph = graph
        self.device = torch.device(device)
        self._hop_structures: dict[int, list[Neighbourhoods]] = {}

    @cached_property
    def features(self) -> Tensor | SparseMatrix:
        """Features of all nodes, shape ``(N, F)``."""
        if isinstance(self.graph.features, np.ndarray):
            return torch.from_numpy(np.array(self.graph.features)).to(self.device)
        return SparseMatrix(self.graph.features, self.device)

    @cached_property
    def gcn_adjacency(self) -> SparseMatrix:
        r""":math:`\tilde D^{-1/2} (A + I) \tilde D^{-1/2}` with :math:`\tilde D_{ii} = 1 + \sum_j A_{ij}`."""
        adjacency = sp.csr_array(self.graph.to_scipy() + sp.eye_array(self.graph.num_nodes, dtype=np.float32))
        scale = sp.diags_array(1.0 / np.sqrt(adjacency.sum(axis=1, dtype=np.float64)))
        normalised = sp.csr_array(scale @ adjacency @ scale, dtype=np.float32)
        return SparseMatrix(normalised, self.device, symmetric=True)

    @cached_property
    def mean_adjacency(self) -> SparseMatrix:
        """Each row averages over the neighbours; rows of isolated nodes are zero."""
        adjacency = sp.csr_array(self.graph.to_scipy() != 0, dtype=np.float32)
        scale = sp.diags_array((1.0 / np.maximum(self.graph.degrees, 1)).astype(np.float32))
        return SparseMatrix(sp.csr_array(scale @ adjacency), self.device)

    @cached_property
    def sum_adjacency(self) -> SparseMatrix:
        """Each row adds up the neighbours."""
        adjacency = sp.csr_array(self.graph.to_scipy() != 0, dtype=np.float32)
        return SparseMatrix(adjacency, self.device, symmetric=True)

    @cached_property
    def edge_index(self) -> Tensor:
        """Both directions of every edge as two rows of positions, shape ``(2, 2E)``, for PyG's layers."""
        pairs = np.stack([self.graph.sources, self.graph.indices])
        return torch.from_numpy(pairs.astype(np.int64)).to(self.device)

    def hop_structures(self, hops: int) -> list[Neighbourhoods]:
        """Each node and the nodes reached by walks of 1, 2, … ``hops`` steps; see :func:`~.hop_graphs`."""
        if hops not in self._hop_structures:
            self._hop_structures[hops] = [Neighbourhoods(*part, self.device) for part in hop_graphs(self.graph, hops)]
        return self._hop_structures[hops]


class RowInputs(GraphInputs):
    """Rows of features on their own, without a graph, for networks that read no edges.

    Args:
        features: one row per node.
        places: numbers of the rows in the whole batch, where this process holds only a part of it; dropout depends on
            them.
    """

    features: Tensor

    def __init__(self, features: Tensor, places: Tensor | None = None) -> None:
        self.features, self.places = features, places
        self.device = features.device
