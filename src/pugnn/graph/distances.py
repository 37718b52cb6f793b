"""Hop distances to the nearest of several source nodes, and the nodes reached by walks of exactly k steps."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pugnn.errors import PugnnError, require_type, require_whole
from pugnn.graph.arrays import positions_within
from pugnn.graph.compiling import kernel
from pugnn.graph.graph import Graph

#: Distance of an unreachable node: larger than any real distance, so ``distance <= delta`` is correct.
UNREACHABLE = int(np.iinfo(np.int32).max)
#: Nearest source of an unreachable node.
NO_SOURCE = -1
#: Most entries allowed in one power of the adjacency; 32-bit positions cannot count many more.
MAX_ENTRIES = 2_000_000_000


def hop_distances(graph: Graph, sources: ArrayLike, *, cap: int | None = None) -> NDArray[np.int32]:
    """Number of edges from each node to the nearest source, shape ``(N,)``; :data:`UNREACHABLE` if there is none.

    Args:
        graph: the graph; weights are ignored.
        sources: positions of the sources, shape ``(S,)``.
        cap: stop after this many hops; nodes farther away count as unreachable.

    Example:
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], num_nodes=5)
        >>> hop_distances(path, [0])[:4]
        array([0, 1, 2, 3], dtype=int32)
        >>> bool(hop_distances(path, [0])[4] == UNREACHABLE)
        True
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
    if cap is not None:
        require_whole("cap", cap, 0, UNREACHABLE)
    limit = UNREACHABLE if cap is None else cap
    distances, nearest = _breadth_first(graph.indptr, graph.indices, start, limit)
    return distances, nearest


@kernel()
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
    require_whole("hops", hops, 1)
    n = graph.num_nodes
    # Boolean products, 'and' along a walk and 'or' over walks, are binary and cannot overflow.
    present = np.ones(len(graph.indices), dtype=np.bool_)
    adjacency = sp.csr_array((present, graph.indices, graph.indptr), shape=(n, n))
    own = sp.eye_array(n, dtype=np.bool_, format="csr")
    power, structures = adjacency, []
    for k in range(1, hops + 1):
        if k > 1:
            _check_size(power, graph, k)
            power = sp.csr_array(power @ adjacency)
            power.sort_indices()
        reached = sp.csr_array(power + own)
        structures.append((reached.indptr.astype(np.int64), reached.indices.astype(np.int32, copy=False)))
    return structures


def _check_size(power: sp.csr_array, graph: Graph, k: int) -> None:
    """Raise if the product may be too large.

    A row of the product has at most N entries, and at most as many as the rows it combines have together.
    """
    ends = np.concatenate([[0], np.cumsum(graph.degrees[power.indices])])
    bound = int(np.minimum(np.diff(ends[power.indptr]), graph.num_nodes).sum())
    if bound > MAX_ENTRIES:
        raise PugnnError(
            f"walks of {k} steps join up to {bound:,} pairs of nodes; at most {MAX_ENTRIES:,} are supported. "
            f"Lower hops to {k - 1}."
        )
