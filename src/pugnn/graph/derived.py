"""What follows from a graph: made once, for all that comes next on the same graph.

A fit, its folds, other fits, scores and explanations need the same normalised adjacency, the same smoothed attributes
and the same ranking. Only what belongs to the last graph is kept, because it may be large.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from pugnn.graph.graph import Graph

T = TypeVar("T")

_last: list[tuple[Graph, dict[str, dict[Hashable, Any]]]] = []


def derived(graph: Graph, kind: str, make: Callable[[], T], key: Hashable = None, *, most: int = 1) -> T:
    """Something of a graph, which is made if it is not at hand.

    Args:
        graph: the graph.
        kind: what it is.
        make: makes it; nobody may change it afterwards.
        key: what it depends on besides the graph.
        most: of a kind, so many are kept, the last ones made.
    """
    if not _last or _last[0][0] is not graph:
        forget_derived()
        _last.append((graph, {}))
    kept = _last[0][1].setdefault(kind, {})
    if key not in kept:
        while len(kept) >= most:
            kept.pop(next(iter(kept)))  # before the new one needs the memory
        kept[key] = make()
    found: T = kept[key]
    return found


def forget_derived() -> None:
    """Release all that is kept."""
    _last.clear()
