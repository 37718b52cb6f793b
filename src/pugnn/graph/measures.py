"""What is measured on a graph: hop distances, components, sizes, homophily."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pugnn.errors import PugnnError, require_type, require_whole
from pugnn.graph.arrays import positions_within
from pugnn.graph.compiling import kernel
from pugnn.graph.graph import Graph

#: Distance of an unreachable node: larger than any real distance, so ``distance <= delta`` is correct.
UNREACHABLE = int(np.iinfo(np.int32).max)
#: Nearest source of an unreachable node.
NO_SOURCE = -1


def hop_distances(graph: Graph, sources: ArrayLike, *, cap: int | None = None) -> NDArray[np.int32]:
    """Number of edges from each node to the nearest source, shape ``(N,)``; :data:`UNREACHABLE` if there is none.

    ``sources`` are positions; nodes that are more than ``cap`` hops away count as unreachable. Weights are ignored.

    Example:
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> hop_distances(path, [0])
        array([0, 1, 2, 3], dtype=int32)
    """
    return nearest_sources(graph, sources, cap=cap)[0]


def nearest_sources(
    graph: Graph, sources: ArrayLike, *, cap: int | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The distances of :func:`hop_distances` and the position of each node's nearest source, shape ``(N,)`` each.

    Ties go to the source with the lowest position; unreachable nodes have :data:`NO_SOURCE`.

    Example:
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], num_nodes=5)
        >>> nearest_sources(path, [0, 3])[1]
        array([ 0,  0,  3,  3, -1], dtype=int32)
    """
    require_type("graph", graph, Graph, "a pugnn.Graph")
    start = np.unique(positions_within(sources, graph.num_nodes, "sources"))
    limit = UNREACHABLE if cap is None else cap
    require_whole("cap", limit, 0, UNREACHABLE)
    found: tuple[NDArray[np.int32], NDArray[np.int32]] = _breadth_first(graph.indptr, graph.indices, start, limit)
    return found


@kernel(nogil=True)
def _breadth_first(indptr, indices, start, cap):  # type: ignore[no-untyped-def]
    n = len(indptr) - 1
    distance = np.full(n, UNREACHABLE, dtype=np.int32)
    nearest = np.full(n, NO_SOURCE, dtype=np.int32)
    queue = np.empty(n, dtype=np.int32)
    tail = 0
    for node in start:
        distance[node] = 0
        nearest[node] = node
        queue[tail] = node
        tail += 1
    head = 0
    while head < tail:
        node = queue[head]
        head += 1
        if distance[node] >= cap:
            break  # the queue is ordered by distance: the rest are at least as far
        for neighbour in indices[indptr[node] : indptr[node + 1]]:
            if distance[neighbour] == UNREACHABLE:
                distance[neighbour] = distance[node] + 1
                nearest[neighbour] = nearest[node]
                queue[tail] = neighbour
                tail += 1
            elif distance[neighbour] == distance[node] + 1 and nearest[node] < nearest[neighbour]:
                nearest[neighbour] = nearest[node]
    return distance, nearest


@kernel(nogil=True)
def connected_components(indptr, indices):  # type: ignore[no-untyped-def]
    """Number of the component of each node, from 0 in the order of their first nodes, shape ``(N,)``."""
    n = len(indptr) - 1
    component = np.full(n, -1, dtype=np.int32)
    queue = np.empty(n, dtype=np.int32)
    found = 0
    for first in range(n):
        if component[first] >= 0:
            continue
        component[first] = found
        queue[0], done, reached = first, 0, 1
        while done < reached:
            node = queue[done]
            done += 1
            for entry in range(indptr[node], indptr[node + 1]):
                neighbour = indices[entry]
                if component[neighbour] < 0:
                    component[neighbour] = found
                    queue[reached] = neighbour
                    reached += 1
        found += 1
    return component


@dataclass(frozen=True)
class GraphStatistics:
    """Sizes that do not depend on labels; ``isolated`` nodes have no edge, ``largest_component`` counts nodes."""

    nodes: int
    edges: int
    features: int
    isolated: int
    components: int
    largest_component: int
    mean_degree: float
    max_degree: int


def graph_statistics(graph: Graph) -> GraphStatistics:
    """The sizes of a graph."""
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
        >>> edge_homophily(Graph.from_edges([0, 1], [1, 2]), np.array([1, 1, 0]))
        0.5
    """
    require_type("graph", graph, Graph, "a pugnn.Graph")
    require_type("labels", labels, np.ndarray, "an array, one label per node")
    if labels.shape != (graph.num_nodes,):
        raise PugnnError(f"labels must be one per node, shape ({graph.num_nodes},); got {labels.shape}")
    return float((labels[graph.sources] == labels[graph.indices]).mean()) if graph.num_edges else float("nan")
