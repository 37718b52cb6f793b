"""Known positives, in whichever form people have them."""

from __future__ import annotations

from numbers import Real
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
            * positions of the positives, where no id of the graph is a number, or text that reads like one of them.

    Example:
        >>> graph = Graph.from_edges(["a", "b"], ["b", "c"], ids=["a", "b", "c"])
        >>> resolve_positives(graph, ["c", "a"]), resolve_positives(graph, [1, 0, 0])
        (array([0, 2]), array([0]))
    """
    n = graph.num_nodes
    # Object arrays hold whatever a table had, ids or truth values: look at the values, not at the array.
    loose = isinstance(positives, set | frozenset) or getattr(getattr(positives, "dtype", None), "kind", "") == "O"
    values = list(positives) if loose else positives
    given = _as_array(values)
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
    elif given.dtype.kind in "iuf" and len(np.unique(given)) < len(given) and np.isin(given, (-1, 0, 1)).all():
        raise PugnnError(f"a vector of positives needs one entry per node: got {len(given)} for {n} nodes")
    elif given.dtype.kind in "iu" and not any(isinstance(node_id, Real) for node_id in graph.ids.tolist()):
        if len(given) and (given.min() < 0 or given.max() >= n):
            outside = given[(given < 0) | (given >= n)][0]
            raise PugnnError(f"position {outside} among the positives is not in the graph (0 to {n - 1})")
        names = set(graph.ids.tolist())
        alike = [text for text in map(str, given.tolist()) if text in names]
        if alike:
            raise PugnnError(
                f"the positives are whole numbers, but the graph's ids are text such as {alike[0]!r}: give them as "
                "text, or as a mask"
            )
        found = np.unique(given)
    else:
        # From a list itself where there is one: an array would have made all of its ids the same type.
        found = np.unique(graph.positions(values if isinstance(values, list | tuple) else given))
    if not len(found):
        raise PugnnError("there are no known positives; at least one is needed, and ten or more help a lot")
    if len(found) == n:
        raise PugnnError("all nodes are known positives, so there is nothing left to find")
    return found.astype(np.int64)


def _as_array(values: Any) -> NDArray[Any]:
    """An array with one entry per value, where numpy would make a matrix of ids that are tuples."""
    if isinstance(values, list | tuple) and any(isinstance(value, tuple) for value in values):
        return np.fromiter(values, dtype=object, count=len(values))
    try:
        return np.asarray(values)
    except ValueError:
        raise PugnnError(
            "positives must be a list of nodes or one entry per node; got lists of several lengths"
        ) from None
