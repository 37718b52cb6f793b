"""One case: everything that a person needs to decide on a node."""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from itertools import islice
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.explain.attribute_columns import Columns
from pugnn.explain.explaining import EXACT, explain
from pugnn.explain.explanation import Explanation
from pugnn.explain.sentences import link_words, linked_words
from pugnn.explain.suggest import node_rows
from pugnn.explore.room import CONFIRMED, OPEN, REJECTED, STATUSES, Room
from pugnn.explore.surroundings import Surroundings
from pugnn.graph.smoothing import LANES
from pugnn.runs.audit_table import MAX_NODES_EXPLAINED
from pugnn.store.case_log import Case

#: Letters of a cell that are sent.
MAX_LETTERS = 10_000
#: What a case says that is not explained yet.
PENDING = "This is a large graph, and why is still being worked out."
#: Decided cases that look alike.
SIMILAR = 5
#: Explanations that are kept.
KEPT = 200
#: Nodes of a queue that are explained before anybody asks.
AHEAD = 2
#: From so many nodes on, several are explained together if that is exact: it takes hardly longer than for one.
LARGE = 100_000
#: Seconds that a case waits for its explanation, which takes seconds in a large graph; it can be asked for again.
PATIENCE = 0.5


class CaseFile:
    """The cases of a room, and why each has its score."""

    def __init__(self, room: Room, surroundings: Surroundings) -> None:
        self._room, self._surroundings = room, surroundings
        self._explained: OrderedDict[int, Future[Explanation]] = OrderedDict()
        self._lock = RLock()
        self._worker = ThreadPoolExecutor(1)  # explanations share what they are made from
        self._queue: list[int] = []
        exact = type(room.run.estimator.model_) in EXACT
        self._together = LANES if exact and room.graph.num_nodes >= LARGE else 1
        self._ahead = max(AHEAD, self._together)

    def of(self, node: int, *, blind: bool) -> dict[str, Any]:
        """A case; ``blind`` without what would sway the person who judges it."""
        room = self._room
        room.require_node(node)
        why, missing = self._why(node, blind)
        case, known_id = room.cases.get(node, Case()), room.plain_id(node)
        shown = room.run.data.shown.items() if node < room.graph.num_targets else ()
        paths = self._surroundings.paths(node)
        return {
            "row": room.rows([node], blind=blind)[0],
            "columns": [{"name": name, "value": str(cells[node])[:MAX_LETTERS]} for name, cells in shown],
            "why": why,
            "whyMissing": missing,
            "whyPending": missing == PENDING,
            "nearest": [
                {
                    **self._named(path[-1]),
                    "hops": len(path) - 1,
                    "path": self._all_named(path),
                    "confirmed": bool(room.run.known[path[-1]] != 1),
                }
                for path in paths
            ],
            "similar": self._similar(node),
            "degree": len(room.graph.neighbours(node)),
            "note": case.note,
            "history": [
                {
                    **{name: getattr(event, name) for name in ("seq", "at", "who", "verdict")},
                    "note": event.note or "",
                }
                for event in reversed(room.decisions.events)
                if event.node == known_id
            ],
        }

    def ahead(self, queue: list[int]) -> None:
        """Explain the first open nodes of a queue, and from now on those that follow the one that is asked for."""
        self._queue = queue
        if self._room.graph.num_nodes > MAX_NODES_EXPLAINED:
            return
        is_open = (node for node in queue if self._room.status[node] == OPEN and node < self._room.graph.num_targets)
        self._explained_soon(list(islice(is_open, self._ahead)))

    def warm(self) -> None:
        """Make beforehand what finds similar cases, when the first of a queue are explained."""
        with suppress(RuntimeError):  # closed meanwhile
            self._worker.submit(lambda: self._looks)

    def close(self) -> None:
        """Explain nothing any more."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _why(self, node: int, blind: bool) -> tuple[dict[str, Any] | None, str]:
        """What speaks for and against a node, or why that is not told."""
        room = self._room
        if node >= room.graph.num_targets:
            return None, "Only nodes of the kind that is looked for have a score."
        if room.graph.num_nodes > MAX_NODES_EXPLAINED:
            return None, f"In graphs of more than {MAX_NODES_EXPLAINED:,} nodes this takes long: `pugnn explain` tells."
        try:
            found = self._explained_soon([node])[0].result(PATIENCE)
        except TimeoutError:
            return None, PENDING
        except PugnnError as error:
            return None, str(error)
        following = self._following(node)
        missing = sum(other not in self._explained for other in following)
        if missing > self._ahead // 2 or missing == len(following):
            self._explained_soon(following)
        parts, nodes = [*found.speak_for, *found.speak_against], list(found.nodes)
        if blind:  # any order by what they contribute, those for it first, would tell something of the score
            parts.sort(key=lambda part: self._places.get(part.name, len(self._places)))
            nodes.sort(key=lambda part: (part.hops is None, part.hops, str(part.id)))
        numbers = ("own", "around", "contribution")
        speaking = room.find([part.id for part in nodes])
        around = zip(self._all_named(speaking), nodes, speaking, strict=True)
        linked = int((room.run.known[room.graph.neighbours(node)] == 1).sum())
        words = [linked_words(linked), link_words(found)] if blind else found.sentences
        return {
            "sentences": [each for each in words if each],
            "parts": [
                {
                    "name": part.name,
                    "value": part.value,
                    **{name: None if blind else getattr(part, name) for name in numbers},
                }
                for part in parts
            ],
            "nodes": [
                {
                    **named,
                    "contribution": None if blind else part.contribution,
                    "status": STATUSES[room.status[at]],
                    "known": int(room.run.known[at]),
                }
                for named, part, at in around
            ],
            "relations": [
                {"name": name, "contribution": None if blind else value} for name, value in found.relations.items()
            ],
        }, ""

    def _explained_soon(self, nodes: list[int]) -> list[Future[Explanation]]:
        with self._lock:
            if new := {node: Future[Explanation]() for node in nodes if node not in self._explained}:
                self._explained |= new
                for at in range(0, len(new), self._together):
                    self._worker.submit(self._explain, dict(islice(new.items(), at, at + self._together)))
            found = [self._explained[node] for node in nodes]
            while len(self._explained) > KEPT:
                self._explained.popitem(last=False)
            return found

    def _explain(self, nodes: dict[int, Future[Explanation]]) -> None:
        """Explain nodes together, and tell those who wait for one of them."""
        run = self._room.run
        try:
            found = explain(run.estimator, run.task, list(nodes), log_odds=run.log_odds, order=run.order)
            for future, explanation in zip(nodes.values(), found, strict=True):
                future.set_result(explanation)
        except BaseException as error:  # whoever waits is told
            for future in nodes.values():
                future.set_exception(error)

    def _following(self, node: int) -> list[int]:
        """The next nodes of the queue, if this is one of them."""
        at = self._queue.index(node) + 1 if node in self._queue else len(self._queue)
        return [other for other in self._queue[at : at + self._ahead] if other < self._room.graph.num_targets]

    @cached_property
    def _places(self) -> dict[str, int]:
        """The places of attributes among the columns."""
        graph = self._room.graph
        return {name: at for at, name in enumerate(Columns(graph, graph.num_features).names)}

    @cached_property
    def _looks(self) -> NDArray[np.float32]:
        """A row for every node, similar for similar nodes."""
        return node_rows(self._room.run.estimator.model_, self._room.graph)

    def _similar(self, node: int) -> list[dict[str, Any]]:
        """The decided cases that look most like a node."""
        room = self._room
        decided = np.flatnonzero((room.status == CONFIRMED) | (room.status == REJECTED))
        decided = decided[decided != node]
        if not len(decided):
            return []
        alike = self._looks[decided] @ self._looks[node]
        best = decided[np.argsort(-alike, kind="stable")[:SIMILAR]].tolist()
        return [
            {**self._named(each), "status": STATUSES[room.status[each]], "note": room.cases.get(each, Case()).note}
            for each in best
        ]

    def _named(self, node: int) -> dict[str, Any]:
        return self._all_named([node])[0]

    def _all_named(self, nodes: list[int]) -> list[dict[str, Any]]:
        return [{"node": node, "id": name} for node, name in zip(nodes, self._room.texts(nodes), strict=True)]
