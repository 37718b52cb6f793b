"""Known positives, in all the forms in which they can be given."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, require_type, shorten
from pugnn.graph import Graph
from pugnn.graph.arrays import as_array, positions_within
from pugnn.task.task import target_positions


def resolve_positives(graph: Graph, positives: Any) -> NDArray[np.int64]:
    """Sorted positions of the known positives.

    Args:
        graph: the graph.
        positives: one of

            * a boolean mask, one entry per node; with several kinds of nodes, per node of the target;
            * a vector of 1 and 0, or of 1 and −1, likewise;
            * ids of the positives;
            * positions of the positives, where no id of the graph is a number, or text that reads like one of them.

            Ambiguous input is rejected.

    Example:
        >>> graph = Graph.from_edges(["a", "b"], ["b", "c"], ids=["a", "b", "c"])
        >>> resolve_positives(graph, ["c", "a"]), resolve_positives(graph, [1, 0, 0])
        (array([0, 2]), array([0]))
    """
    found = resolve_nodes(graph, positives, "positives")
    if not len(found):
        raise PugnnError("there are no known positives; at least one is needed, and ten or more help a lot")
    if len(found) == graph.num_targets:
        raise PugnnError("all nodes are known positives, so there is nothing left to find")
    return found


def resolve_nodes(graph: Graph, nodes: Any, what: str) -> NDArray[np.int64]:
    """Sorted positions of nodes, perhaps none, in the forms of :func:`resolve_positives`; in a vector, 1 marks them.

    ``what`` they are is for messages.
    """
    require_type("graph", graph, Graph, "a pugnn.Graph")
    n = graph.num_targets
    values = list(nodes) if isinstance(nodes, set | frozenset) else nodes
    given = _as_array(values, what)
    if given.dtype == object and given.ndim == 1:
        # From a table: the values, not the type of the array, tell ids from booleans.
        values = given.tolist()
        given = _as_array(values, what)
    if given.ndim != 1:
        raise PugnnError(f"{what} must be a list of nodes or one entry per node; got shape {given.shape}")
    if not len(given):
        return np.zeros(0, np.int64)
    numeric = given.dtype.kind in "iuf"
    repeats = numeric and len(np.unique(given)) < len(given)
    if given.dtype == bool:
        if len(given) != n:
            raise PugnnError(f"the mask of {what} has {len(given)} entries, but the graph has {n} nodes")
        found = np.flatnonzero(given)
    elif numeric and len(given) == n and np.isin(given, (-1, 0, 1)).all():
        if (given == 0).any() and (given == -1).any():
            raise PugnnError(
                f"the vector of {what} holds 1, 0 and −1; use 1 and 0, or 1 and −1. If −1 means known negative, write "
                "fit(graph, labels == 1, negatives=labels == -1)."
            )
        if not repeats and _name_nodes(graph, given):
            raise PugnnError(
                f"the {what} {given.tolist()} are ambiguous: they may be a vector with one entry per node, or a "
                f"list of the nodes {shorten(given)}. Give a boolean mask instead, such as {(given == 1).tolist()}."
            )
        found = np.flatnonzero(given == 1)
    elif repeats and np.isin(given, (-1, 0, 1)).all():
        raise PugnnError(f"a vector of {what} needs one entry per node: got {len(given)} for {n} nodes")
    elif repeats and len(given) == n:
        raise PugnnError(
            f"the {what} look like a vector of classes, one entry per node: {shorten(given)}. Select the "
            "class with a boolean mask, such as `classes == 1`."
        )
    elif given.dtype.kind in "iu" and not _any_id_is_number(graph):
        found = np.unique(positions_within(given, n, what))
        texts = list(map(str, found.tolist()))
        named = graph.find(texts)
        alike = (named >= 0) & (named != found)
        if alike.any():
            raise PugnnError(
                f"the {what} are whole numbers, but the graph's ids are text such as {texts[alike.argmax()]!r}: give "
                "them as text, or as a mask"
            )
    else:
        # From the list itself: an array would convert all ids to one type.
        found = np.unique(graph.positions(values if isinstance(values, list | tuple) else given))
    return target_positions(graph, found.astype(np.int64), what)


def _name_nodes(graph: Graph, numbers: NDArray[Any]) -> bool:
    """Whether all numbers are ids, or positions if no id is a number."""
    if _any_id_is_number(graph):
        return bool((graph.find(numbers) >= 0).all())
    return bool(((numbers >= 0) & (numbers < graph.num_targets)).all())


def _any_id_is_number(graph: Graph) -> bool:
    if graph.stored is not None or graph.ids.dtype.kind != "O":  # all are of one type
        return graph.ids.dtype.kind in "biuf"
    return any(isinstance(node_id, Real) for node_id in graph.ids.tolist())


def _as_array(values: Any, what: str) -> NDArray[Any]:
    """An array with one entry per value, even if the values are tuples."""
    if isinstance(values, list | tuple) and any(isinstance(value, tuple) for value in values):
        return np.fromiter(values, dtype=object, count=len(values))
    return as_array(values, what)
