"""Sizes and homophily of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, require_type
from pugnn.graph.graph import Graph


@dataclass(frozen=True)
class GraphStatistics:
    """Sizes of a graph; ``isolated`` nodes have no edge, ``largest_component`` counts nodes."""

    nodes: int
    edges: int
    features: int
    isolated: int
    components: int
    largest_component: int
    mean_degree: float
    max_degree: int


def graph_statistics(graph: Graph) -> GraphStatistics:
    """Sizes that do not depend on labels."""
    require_type("graph", graph, Graph, "a pugnn.Graph")
    sizes = np.bincount(graph.components)
    return GraphStatistics(
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        features=graph.num_features,
        isolated=int((graph.degrees == 0).sum()),
        components=len(sizes),
        largest_component=int(sizes.max(initial=0)),
        mean_degree=float(graph.degrees.mean()) if graph.num_nodes else 0.0,
        max_degree=int(graph.degrees.max(initial=0)),
    )


def edge_homophily(graph: Graph, labels: NDArray[np.generic]) -> float:
    """Share of edges whose ends have the same label; ``nan`` without edges.

    Example:
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> edge_homophily(path, np.array([1, 1, 0, 0]))  # doctest: +ELLIPSIS
        0.66...
    """
    require_type("graph", graph, Graph, "a pugnn.Graph")
    require_type("labels", labels, np.ndarray, "an array, one label per node")
    if labels.shape != (graph.num_nodes,):
        raise PugnnError(f"labels must be one per node, shape ({graph.num_nodes},); got {labels.shape}")
    if not graph.num_edges:
        return float("nan")
    return float((labels[graph.sources] == labels[graph.indices]).mean())
