"""Powers of the adjacency as neighbourhoods: the nodes reached by walks of exactly k steps."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError, require_whole
from pugnn.graph.graph import Graph

#: Most entries allowed in one power; 32-bit positions cannot count many more.
MOST_ENTRIES = 2_000_000_000


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
    if bound > MOST_ENTRIES:
        raise PugnnError(
            f"walks of {k} steps join up to {bound:,} pairs of nodes; at most {MOST_ENTRIES:,} are supported. "
            f"Lower hops to {k - 1}."
        )
