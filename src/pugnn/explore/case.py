"""One case: everything that a person needs to decide on a node."""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.explain.explaining import explain
from pugnn.explain.explanation import Explanation
from pugnn.explain.sentences import link_words, why_words
from pugnn.explain.suggest import node_rows
from pugnn.explore.room import CONFIRMED, REJECTED, STATUSES, Room
from pugnn.explore.surroundings import Surroundings
from pugnn.runs.audit_table import MAX_NODES_EXPLAINED
from pugnn.store.case_log import Case

#: Letters of a cell that are sent.
MAX_LETTERS = 10_000
#: Decided cases that look alike.
SIMILAR = 5
#: Explanations that are kept.
KEPT = 200


class CaseFile:
    """The cases of a room, and why each has its score."""

    def __init__(self, room: Room, surroundings: Surroundings) -> None:
        self._room, self._surroundings = room, surroundings
        self._explained: OrderedDict[int, Explanation] = OrderedDict()
        self._lock = Lock()  # explanations share what they are made from

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
            "nearest": [
                {**self._named(path[-1]), "hops": len(path) - 1, "path": self._all_named(path)} for path in paths
            ],
            "similar": self._similar(node),
            "degree": len(room.graph.neighbours(node)),
            "note": case.note,
            "history": [
                {name: getattr(event, name) for name in ("seq", "at", "who", "verdict", "note")}
                for event in reversed(room.decisions.events)
                if event.node == known_id
            ],
        }

    def warm(self) -> None:
        """Make what the first case needs."""
        others = self._room.run.others
        if len(others):
            self.of(int(others[0]), blind=True)

    def _why(self, node: int, blind: bool) -> tuple[dict[str, Any] | None, str]:
        """What speaks for and against a node, or why that is not told."""
        room = self._room
        if node >= room.graph.num_targets:
            return None, "Only nodes of the kind that is looked for have a score."
        if room.graph.num_nodes > MAX_NODES_EXPLAINED:
            return None, f"In graphs of more than {MAX_NODES_EXPLAINED:,} nodes this takes long: `pugnn explain` tells."
        try:
            found = self._explanation(node)
        except PugnnError as error:
            return None, str(error)
        parts = [*found.speak_for, *found.speak_against]
        numbers = ("own", "around", "contribution")
        speaking = room.find([part.id for part in found.nodes])
        around = zip(self._all_named(speaking), found.nodes, speaking, strict=True)
        linked = int((room.run.known[room.graph.neighbours(node)] == 1).sum())
        words = [why_words(found, linked), link_words(found)] if blind else found.sentences
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

    def _explanation(self, node: int) -> Explanation:
        with self._lock:
            if node not in self._explained:
                run = self._room.run
                options: dict[str, Any] = {"log_odds": run.log_odds, "order": run.order}
                self._explained[node] = explain(run.estimator, run.task, [node], **options)[0]
                if len(self._explained) > KEPT:
                    self._explained.popitem(last=False)
            return self._explained[node]

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
