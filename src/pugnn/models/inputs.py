"""A graph as tensors, with the normalised adjacencies that backbones need."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.graph import Graph, Neighbourhood
from pugnn.graph.derived import derived
from pugnn.models.attention import Neighbourhoods, hop_graphs
from pugnn.models.sparse import SparseMatrix


def inputs_on(graph: Graph, device: torch.device) -> GraphInputs:
    """The inputs for a graph, shared by training and scoring."""
    return derived(graph, "inputs", lambda: GraphInputs(graph, device), device)


class GraphInputs:
    """The tensors that a backbone reads; each adjacency is computed on first use."""

    #: Numbers of the rows, on which dropout depends where they are not 0, 1, 2, …
    places: Tensor | None = None

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
        scale = sp.diags_array((1.0 / np.maximum(self.graph.degrees, 1)).astype(np.float32))
        return SparseMatrix(sp.csr_array(scale @ self._links), self.device)

    @cached_property
    def sum_adjacency(self) -> SparseMatrix:
        """Each row adds up the neighbours."""
        return SparseMatrix(self._links, self.device, symmetric=True)

    @cached_property
    def edge_index(self) -> Tensor:
        """Both directions of every edge as two rows of positions, shape ``(2, 2E)``, for PyG's layers."""
        pairs = np.stack([self.graph.sources, self.graph.indices])
        return torch.from_numpy(pairs.astype(np.int64)).to(self.device)

    @property
    def _links(self) -> sp.csr_array:
        return sp.csr_array(self.graph.to_scipy() != 0, dtype=np.float32)

    def hop_structures(self, hops: int) -> list[Neighbourhoods]:
        """Each node and the nodes reached by walks of 1, 2, … ``hops`` steps; see :func:`~.hop_graphs`."""
        if hops not in self._hop_structures:
            self._hop_structures[hops] = [Neighbourhoods(*part, self.device) for part in hop_graphs(self.graph, hops)]
        return self._hop_structures[hops]


class SampledInputs(GraphInputs):
    """A sampled part of a graph, for the outputs of its seeds; rows are local numbers.

    Every adjacency has the degrees of the whole graph. Terms of neighbours are scaled by the degree over the number of
    those that were drawn, so a product is an unbiased estimate of the one with the whole graph, and equal to it
    where no node has more neighbours than were drawn. Attention over ``edge_index`` is among those drawn.
    """

    def __init__(self, graph: Graph, sample: Neighbourhood, device: torch.device | str = "cpu") -> None:
        self.graph, self.device = graph, torch.device(device)
        self.nodes, self._sample = sample.nodes, sample
        self.places = torch.from_numpy(sample.nodes).to(self.device)
        if isinstance(graph.features, np.ndarray):
            self.features = torch.from_numpy(np.take(graph.features, sample.nodes, axis=0)).to(self.device)
        else:
            x = graph.features[sample.nodes]
            firsts = graph.features.indptr[sample.nodes] - x.indptr[:-1]
            numbers = np.arange(x.nnz) + np.repeat(firsts, np.diff(x.indptr))
            self.features = SparseMatrix(x, self.device, numbers=numbers)

    @cached_property
    def gcn_adjacency(self) -> SparseMatrix:
        """Rows of the whole graph's, estimated, diagonal entries first; nodes of the last hop need none."""
        sample, graph = self._sample, self.graph
        strengths = self._degrees if graph.weights is None else _strengths(graph)[self.nodes]
        scale = 1 / np.sqrt(1.0 + strengths)
        weights = self._times if graph.weights is None else self._times * graph.weights[sample.places]
        values = weights * scale[sample.sources] * scale[sample.indices]
        own = np.arange(sample.inner)
        values = np.insert(values, sample.indptr[own], scale[own] * scale[own])
        columns = np.insert(sample.indices, sample.indptr[own], own)
        return self._matrix(values, columns, sample.indptr + np.minimum(np.arange(len(sample.indptr)), sample.inner))

    @cached_property
    def mean_adjacency(self) -> SparseMatrix:
        """Each row averages over the neighbours that were drawn; rows of isolated nodes are zero."""
        sizes = np.diff(self._sample.indptr)
        return self._matrix(1 / np.repeat(sizes, sizes), self._sample.indices, self._sample.indptr)

    @cached_property
    def sum_adjacency(self) -> SparseMatrix:
        """Each row adds up the neighbours, estimated."""
        return self._matrix(self._times, self._sample.indices, self._sample.indptr)

    @cached_property
    def edge_index(self) -> Tensor:
        """From each neighbour that was drawn to its node, as two rows of local numbers."""
        return torch.from_numpy(np.stack([self._sample.indices, self._sample.sources])).to(self.device)

    @cached_property
    def _degrees(self) -> NDArray[np.int64]:
        """In the whole graph."""
        return self.graph.indptr[self.nodes + 1] - self.graph.indptr[self.nodes]

    @cached_property
    def _times(self) -> NDArray[np.float64]:
        """For each neighbour that was drawn, how many neighbours of its node it stands for."""
        sizes = np.diff(self._sample.indptr)
        return np.repeat(self._degrees / np.maximum(sizes, 1), sizes)

    def _matrix(self, values: NDArray[np.float64], columns: NDArray[Any], starts: NDArray[np.int64]) -> SparseMatrix:
        parts = values.astype(np.float32), columns, starts
        return SparseMatrix(sp.csr_array(parts, shape=2 * (len(self.nodes),)), self.device)


def _strengths(graph: Graph) -> NDArray[np.float64]:
    """Sum of the weights of each node's edges."""
    return derived(graph, "strengths", lambda: np.asarray(graph.to_scipy() @ np.ones(graph.num_nodes)))
