"""The nearest known positives of a node, and the way there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pugnn.graph import UNREACHABLE, Graph, hop_distances

#: At most so many of them.
MAX_PATHS = 3
#: Hops are counted up to this number, or farther if the nearest known positive is.
NEAR = 3


def distances_around(graph: Graph, node: int, farthest: int) -> NDArray[np.int32]:
    """Hops from a node, counted as far as the nearest known positive, which is ``farthest`` hops away."""
    return hop_distances(graph, [node], cap=NEAR if farthest == UNREACHABLE else max(NEAR, farthest))


def nearest_paths(
    graph: Graph, node: int, labelled: NDArray[np.int64], distances: NDArray[np.int32]
) -> list[list[int]]:
    """Shortest paths from a node to the known positives that are nearest to it, itself apart.

    Args:
        graph: the graph.
        node: position of the node.
        labelled: positions of the known positives.
        distances: hops from the node, see :func:`distances_around`.
    """
    others = labelled[(labelled != node) & (distances[labelled] != UNREACHABLE)]
    if not len(others):
        return []
    nearest = others[distances[others] == distances[others].min()][:MAX_PATHS]
    return [_path(graph, int(known), distances) for known in nearest]


def _path(graph: Graph, end: int, distances: NDArray[np.int32]) -> list[int]:
    path = [end]
    while distances[path[-1]] > 0:
        around = graph.neighbours(path[-1])
        path.append(int(around[distances[around] == distances[path[-1]] - 1][0]))
    return path[::-1]
