"""The list of all nodes: sorted, searched and filtered within a moment, also a million of them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.explore.room import STATUSES, Room
from pugnn.explore.surroundings import links_of
from pugnn.graph import UNREACHABLE
from pugnn.graph.stored import TextIds
from pugnn.runs.run import MAX_RINGS

#: Filtered lists and answers to searches that are kept.
KEPT = 8
#: Between the cells of a node in the text that is searched; nobody types it.
SEPARATOR = "\x1f"


@dataclass(frozen=True)
class Wanted:
    """Which nodes to list, in which order.

    Args:
        sort: ``score``, ``id``, ``hops``, ``status``, or the name of a shown column.
        descending: the other way round; the best score is the first by ``descending``.
        text: that the id or a shown column contains, in any case of its letters.
        statuses: of the nodes; all if empty.
        decided: whether they are decided positive; ``None`` for either.
        known: 1 for known positives, −1 for known negatives, 0 for all others; ``None`` for any.
        hops: to the nearest known positive; −1 for nodes without a path, ``None`` for any.
        relation: in which they have a link; any if empty.
        least: lowest score.
        most: highest score.
    """

    sort: str = "score"
    descending: bool = True
    text: str = ""
    statuses: frozenset[str] = frozenset()
    decided: bool | None = None
    known: int | None = None
    hops: int | None = None
    relation: str = ""
    least: float | None = None
    most: float | None = None


class Listing:
    """The targets of a room in every order that is asked for; each order is sorted once."""

    def __init__(self, room: Room) -> None:
        self._room, self._run = room, room.run
        self._targets = room.graph.num_targets
        self._lock = RLock()
        self._orders: dict[str, NDArray[np.int32]] = {}
        self._lists: OrderedDict[tuple[Wanted, int], NDArray[np.int32]] = OrderedDict()
        self._found: OrderedDict[str, NDArray[np.bool_]] = OrderedDict()

    def nodes(self, wanted: Wanted) -> NDArray[np.int32]:
        """Positions of the nodes, in their order."""
        status = wanted.sort == "status" or wanted.statuses
        key = wanted, self._room.refresh() if status else 0
        with self._lock:
            if key not in self._lists:
                order = self._order(wanted.sort)
                mask = self._mask(wanted)
                chosen = order if mask is None else order[mask[order]]
                _keep(self._lists, key, chosen[::-1] if wanted.descending else chosen)
            self._lists.move_to_end(key)
            return self._lists[key]

    def place(self, node: int, wanted: Wanted) -> int | None:
        """Where a node is in that list, from 0; ``None`` if it is not."""
        places = np.flatnonzero(self.nodes(wanted) == node)
        return int(places[0]) if len(places) else None

    @cached_property
    def rings(self) -> list[dict[str, Any]]:
        """The rings around known positives: name, hops of the nearest of its nodes, and how many there are."""
        hops = self._run.task.distances
        found = []
        for name, nodes in self._run.rings.items():
            nearest = int(hops[nodes].min())
            found.append({"name": name, "hops": None if nearest == UNREACHABLE else nearest, "count": len(nodes)})
        return found

    def warm(self) -> None:
        """Make all orders, and what the first search needs."""
        for sort in ("score", "hops", "id", *self._run.data.shown):
            with self._lock:  # for one at a time: others may ask between two
                self._order(sort)
        self._searched("")

    # ------------------------------------------------------------------ orders

    def _order(self, sort: str) -> NDArray[np.int32]:
        """Positions of all targets, ascending; by score, the worst is the first."""
        if sort == "status":
            return np.argsort(self._room.status[: self._targets], kind="stable").astype(np.int32)
        if sort not in self._orders:
            self._orders[sort] = self._sorted(sort).astype(np.int32)
        return self._orders[sort]

    def _sorted(self, sort: str) -> NDArray[Any]:
        if sort == "score":
            return self._run.order[::-1]
        if sort == "hops":
            return np.argsort(self._run.task.distances[: self._targets], kind="stable")
        if sort == "id":
            return _sorted_texts(_texts_of(self._run.task.graph.ids)[: self._targets])
        if sort not in self._run.data.shown:
            names = ", ".join(("score", "id", "hops", "status", *self._run.data.shown))
            raise PugnnError(f"the list cannot be sorted by {sort!r}; it can by {names}")
        return _sorted_texts(_texts_of(self._run.data.shown[sort]))

    # ------------------------------------------------------------------ filters

    def _mask(self, wanted: Wanted) -> NDArray[np.bool_] | None:
        """Which targets are wanted; ``None`` for all of them."""
        run, room, masks = self._run, self._room, list[NDArray[np.bool_]]()
        known, hops = run.known[: self._targets], run.task.distances[: self._targets]
        if wanted.text:
            masks.append(self._searched(wanted.text))
        if wanted.statuses:
            masks.append(np.isin(room.status[: self._targets], [STATUSES.index(each) for each in wanted.statuses]))
        if wanted.decided is not None:
            masks.append(room.decided == wanted.decided)
        if wanted.known is not None:
            masks.append(known == wanted.known)
        if wanted.hops is not None:
            masks.append(self._ring(hops, wanted.hops))
        if wanted.relation:
            degrees = sum(link.degrees for link in links_of(room.graph, wanted.relation))
            masks.append(np.asarray(degrees)[: self._targets] > 0)
        if wanted.least is not None:
            masks.append(run.scores >= wanted.least)
        if wanted.most is not None:
            masks.append(run.scores <= wanted.most)
        return np.logical_and.reduce(masks) if masks else None

    def _ring(self, hops: NDArray[np.int32], wanted: int) -> Any:
        """The nodes at so many hops, −1 for those without a path; the last ring goes on to the farthest."""
        if wanted < 0:
            return hops == UNREACHABLE
        reached = [ring["hops"] for ring in self.rings if ring["hops"] is not None]
        if len(reached) > MAX_RINGS and wanted == reached[-1]:
            return (hops >= wanted) & (hops != UNREACHABLE)
        return hops == wanted

    def _searched(self, text: str) -> NDArray[np.bool_]:
        """The nodes of which a text that is shown contains this one."""
        with self._lock:
            lowered = pc.utf8_lower(pa.scalar(text, pa.large_string())).as_py()
            if lowered not in self._found:
                contains = pc.match_substring(self._texts, lowered)
                _keep(self._found, lowered, contains.to_numpy(zero_copy_only=False))
            self._found.move_to_end(lowered)
            return self._found[lowered]

    @cached_property
    def _texts(self) -> pa.Array:
        """All that is shown of each target, in small letters."""
        arrays = [_texts_of(self._run.task.graph.ids)[: self._targets]]
        arrays += [_texts_of(cells) for cells in self._run.data.shown.values()]
        return pc.utf8_lower(pc.binary_join_element_wise(*arrays, pa.scalar(SEPARATOR, pa.large_string())))


def _sorted_texts(values: pa.Array) -> NDArray[Any]:
    """The order of a column: by number if all its cells are numbers, else by text in any case of its letters."""
    try:
        cells = pc.cast(values, pa.float64())
    except pa.ArrowInvalid:
        cells = pc.utf8_lower(values)
    found: NDArray[Any] = pc.sort_indices(cells).to_numpy()
    return found


def _texts_of(cells: Any) -> pa.Array:
    """A column as text."""
    if isinstance(cells, TextIds):
        return cells.arrow
    return pa.array(map(str, cells.tolist()), pa.large_string(), size=len(cells))


def _keep(cache: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    """Keep a value, and no more than a few of those before."""
    cache[key] = value
    while len(cache) > KEPT:
        cache.popitem(last=False)
