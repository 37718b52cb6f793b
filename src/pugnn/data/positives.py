"""Known positives, in whichever form people have them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.graph import Graph


def resolve_positives(graph: Graph, positives: Any) -> NDArray[np.int64]:
    """Sorted positions of the known positives.

    Args:
        graph: the graph.
        positives: one of

            * a boolean mask, one entry per node;
            * a vector of 1 and 0, or of 1 and −1, one entry per node;
            * ids of the positives;
            * positions of the positives, where the graph's ids are not whole numbers themselves.

    Example:
        >>> graph = Graph.from_edges(["a", "b"], ["b", "c"], ids=["a", "b", "c"])
        >>> resolve_positives(graph, ["c", "a"]), resolve_positives(graph, [1, 0, 0])
        (array([0, 2]), array([0]))
    """
    n = graph.num_nodes
    given = np.asarray(list(positives) if isinstance(positives, set | frozenset) else positives)
    if given.ndim != 1:
        raise PugnnError(f"positives must be a list of nodes or one entry per node; got shape {given.shape}")
    if given.dtype == bool:
        if len(given) != n:
            raise PugnnError(f"the mask of positives has {len(given)} entries, but the graph has {n} nodes")
        found = np.flatnonzero(given)
    elif given.dtype.kind in "iuf" and len(given) == n and np.isin(given, (-1, 0, 1)).all():
        if (given == 0).any() and (given == -1).any():
            raise PugnnError(
                "the vector of positives holds 1, 0 and −1. In PU learning there are known positives (1) and "
                "unlabelled nodes (0, or −1), and no known negatives: use 1 and 0, or 1 and −1. If −1 means "
                "a known negative here, set it to 0 to leave it unlabelled."
            )
        found = np.flatnonzero(given == 1)
    elif given.dtype.kind in "iu" and graph.ids.dtype.kind not in "iu":
        if len(given) and (given.min() < 0 or given.max() >= n):
            outside = given[(given < 0) | (given >= n)][0]
            raise PugnnError(f"position {outside} among the positives is not in the graph (0 to {n - 1})")
        found = np.unique(given)
    else:
        found = np.unique(graph.positions(positives if isinstance(positives, list | tuple) else given))
    if not len(found):
        raise PugnnError("there are no known positives; at least one is needed, and ten or more help a lot")
    if len(found) == n:
        raise PugnnError("all nodes are known positives, so there is nothing left to find")
    return found.astype(np.int64)
