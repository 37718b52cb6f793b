"""What follows from a graph, made once.

A fit, its folds, other fits, scores and explanations need the same normalised adjacency, the same smoothed attributes
and the same ranking. Only what belongs to the last graph is kept, because it may be large.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, TypeVar

from pugnn.graph.graph import Graph

T = TypeVar("T")

#: The last graph and, by kind, what was made of it.
_last: tuple[Graph, dict[str, dict[Hashable, Any]]] | None = None


def derived(graph: Graph, kind: str, make: Callable[[], T], key: Hashable = None, *, most: int = 1) -> T:
    """What ``make`` makes of a graph, which must not be changed afterwards; made once, while it is kept.

    ``key`` is what it depends on besides the graph. Of a ``kind``, the last ``most`` that were made are kept.
    """
    global _last
    last = _last  # of this thread: others may be at work on other graphs
    if last is None or last[0] is not graph:
        last = _last = graph, {}
    kept = last[1].setdefault(kind, {})
    with suppress(KeyError):
        found: T = kept[key]
        return found
    for oldest in list(kept)[: max(0, len(kept) + 1 - most)]:
        kept.pop(oldest, None)  # before the new one needs the memory
    new = kept[key] = make()
    return new


def forget_derived() -> None:
    """Release all that is kept."""
    global _last
    _last = None
