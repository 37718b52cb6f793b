"""What follows from a graph, made once.

A fit, its folds, other fits, scores and explanations need the same normalised adjacency, the same smoothed attributes
and the same ranking. Only what belongs to the last graph and its parts is kept, because it may be large.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, ref

from pugnn.graph.graph import Graph

T = TypeVar("T")

#: The last graph and what was made of it and of its parts, by kind.
_last: tuple[Graph, dict[Graph, dict[str, dict[Hashable, Any]]]] | None = None
#: The graphs that others are parts of. (Neither keeps the other alive.)
_wholes: WeakKeyDictionary[Graph, ref[Graph]] = WeakKeyDictionary()


def derived(graph: Graph, kind: str, make: Callable[[], T], key: Hashable = None, *, most: int = 1) -> T:
    """What ``make`` makes of a graph, which must not be changed afterwards; made once, while it is kept.

    ``key`` is what it depends on besides the graph. Of a ``kind``, the last ``most`` that were made are kept.
    """
    global _last
    last, whole = _last, _whole_of(graph)  # of this thread: others may be at work on other graphs
    if last is None or last[0] is not whole:
        last = _last = whole, {}
    kept = last[1].setdefault(graph, {}).setdefault(kind, {})
    with suppress(KeyError):
        found: T = kept[key]
        return found
    for oldest in list(kept)[: max(0, len(kept) + 1 - most)]:
        kept.pop(oldest, None)  # before the new one needs the memory
    new = kept[key] = make()
    return new


def keep_with(whole: Graph, part: Graph) -> Graph:
    """The part, of which things are from now on kept as long as those of the whole."""
    _wholes[part] = ref(_whole_of(whole))
    return part


def _whole_of(graph: Graph) -> Graph:
    return (_wholes[graph]() if graph in _wholes else None) or graph


def forget_derived(part: Graph | None = None) -> None:
    """Release all that is kept, or all of a part."""
    global _last
    if part is None:
        _last = None
    elif _last is not None:
        _last[1].pop(part, None)
