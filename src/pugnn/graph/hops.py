"""Who can be reached by a walk of exactly so many steps: a graph's powers as neighbourhoods."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError, require_whole
from pugnn.graph.graph import Graph

#: Most entries that one power may have: beyond, 32-bit positions run out, and no training would end anyway.
MOST_ENTRIES = 2_000_000_000


def hop_graphs(graph: Graph, hops: int) -> list[tuple[NDArray[np.int64], NDArray[np.int32]]]:
    r"""The neighbourhoods of every node in the graphs of the first powers of the adjacency.

    .. math:: N_i^{(k)} = \{\, j : (A^k)_{ij} \neq 0 \,\} \cup \{i\}, \qquad k = 1, \dots, \text{hops}

    A power counts walks, not distances: a neighbour is in :math:`N^{(3)}` as well, by going there, back and there
    again. Weights play no part. Each structure is symmetric and sorted, and no matrix is ever dense.

    Args:
        graph: the graph.
        hops: how many powers, at least 1.

    Returns:
        For each power the row starts, shape ``(N + 1,)``, and the sorted members, shape ``(entries,)``.

    Example:
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> starts, members = hop_graphs(path, 2)[1]
        >>> [members[a:b].tolist() for a, b in zip(starts, starts[1:])]
        [[0, 2], [1, 3], [0, 2], [1, 3]]
    """
    require_whole("hops", hops, 1)
    n = graph.num_nodes
    # Products of truth values: 'and' along a walk, 'or' over walks. So every product is binary already, and a number
    # of walks that is too large for its type cannot occur.
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
    """Refuse a product that may be too large, by a bound that costs no more than reading its factors.

    Row i of the product has at most as many entries as the rows that it joins have together, and at most N.
    """
    ends = np.concatenate([[0], np.cumsum(graph.degrees[power.indices])])
    bound = int(np.minimum(np.diff(ends[power.indptr]), graph.num_nodes).sum())
    if bound > MOST_ENTRIES:
        raise PugnnError(
            f"walks of {k} steps join up to {bound:,} pairs of nodes, more than the {MOST_ENTRIES:,} that can be "
            f"held; lower hops to {k - 1}"
        )
