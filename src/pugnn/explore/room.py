"""A run that people decide on: who is what by now, the queues of nodes to decide, and the audit."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pugnn.errors import PugnnError, WriteError, counted
from pugnn.evidence.audit import Audit
from pugnn.explain.explanation import plain
from pugnn.explore.decisions import Decisions
from pugnn.graph import UNREACHABLE
from pugnn.runs.audit_log import LOG, read_audit, recording
from pugnn.runs.audit_table import place_file, progress
from pugnn.runs.report import renew_report
from pugnn.runs.report.answers import CHECKS, GOALS
from pugnn.runs.report.data import cut
from pugnn.runs.run import Run
from pugnn.store.case_log import NAME, Case, Event, Verdict

Goal = Literal["audit", "finds", "discovery", "learning"]
QUEUES: tuple[Goal, ...] = get_args(Goal)
#: Where a decision can be made.
PLACES = (*QUEUES, "list", "graph")
#: Statuses of a node, by the numbers that stand for them.
STATUSES = ("open", "confirmed", "rejected", "skipped")
OPEN, CONFIRMED, REJECTED, SKIPPED = range(4)
_STATUS_OF = {"": OPEN, "yes": CONFIRMED, "no": REJECTED, "skip": SKIPPED}
#: Nodes in a queue of suggestions.
SUGGESTED = 50
#: What suggestions call the best finds.
_GOAL_OF: dict[str, Any] = {"finds": "precision", "discovery": "discovery", "learning": "learning"}


@dataclass(frozen=True)
class Queued:
    """Nodes to decide, in their order: why these, the reason for each, and how many are decided."""

    goal: Goal
    words: str
    nodes: list[int]
    reasons: list[str]
    checked: int


class Room:
    """A run that is open in a case room. Threads share it.

    Args:
        run: opened.
        who: makes the decisions.
        read_only: make none.
    """

    def __init__(self, run: Run, *, who: str = "", read_only: bool = False) -> None:
        self.run, self.who, self.read_only = run, who, read_only
        self.graph = run.task.graph
        self.decisions = Decisions(run.path / NAME, read_only=read_only)
        self.rank = run.task.ranks(run.log_odds, run.order)
        known = run.known[: self.graph.num_targets]
        self.decided = (run.scores >= run.results.threshold) & (known >= 0)
        self.lock, self._suggesting = RLock(), RLock()  # the latter for seconds, while others go on
        self.status: NDArray[np.int8] = np.zeros(self.graph.num_nodes, np.int8)
        self.cases: dict[int, Case] = {}
        self._audit: Audit | None = None
        self._seen: Any = None  # the last event, and size and time of the audit's log, that the above is made from
        self._suggested: dict[str, tuple[list[int], list[str]]] = {}
        self.refresh()
        self._first = self._seen

    # ------------------------------------------------------------------ what is decided

    def refresh(self) -> int:
        """Take in what this process, another one or `pugnn audit` has written; gives the number of the last event."""
        with self.lock:
            self.decisions.refresh()
            seen = self.decisions.last, _state(self.run.path / LOG)
            if self._audit is None or seen != self._seen:
                audit, cases = read_audit(self.run), self.decisions.cases
                found = zip(self.find(cases), cases.values(), strict=True)
                self.cases = {node: case for node, case in found if node >= 0}
                status = np.zeros(self.graph.num_nodes, np.int8)
                for node, case in self.cases.items():
                    status[node] = _STATUS_OF[case.verdict]
                for node, positive in audit.verdicts.items():  # those that were recorded from files too
                    status[node] = CONFIRMED if positive else REJECTED
                self.status, self._audit, self._seen = status, audit, seen
            return self.decisions.last

    def finish(self) -> None:
        """Let the report, and the file of an audit that is not done, tell what was decided; let go of the log."""
        with self.lock, suppress(WriteError):  # the decisions are safe, and the next `pugnn audit` writes these
            self.refresh()
            if self._seen != self._first and not self.read_only:
                progress(self.run, self.audit)
                renew_report(self.run)
        self.decisions.close()

    @property
    def audit(self) -> Audit:
        """The audit of the run, with all verdicts up to now."""
        self.refresh()
        assert self._audit is not None
        return self._audit

    def decide(self, node: int, verdict: Verdict, note: str | None, queue: str) -> Event:
        """Keep a decision or a note; it is on disk when this returns."""
        self.require_node(node)
        if verdict in ("yes", "no") and (node >= self.graph.num_targets or self.run.known[node]):
            raise PugnnError(f"{self.run.name(node)} was known before the training, or is of another kind of nodes")
        event = self.decisions.add(self.plain_id(node), verdict, note=note, queue=queue, who=self.who)
        self.refresh()
        return event

    def undo(self, seq: int | None) -> tuple[Event, int]:
        """Take back a decision or a note; gives it, and its node."""
        taken = self.decisions.undo(seq, who=self.who)
        self.refresh()
        return taken, self.find([taken.node])[0]

    def changed_since(self, seq: int) -> list[int]:
        """Positions of the nodes on which something was decided after an event."""
        nodes = self.find(dict.fromkeys(event.node for event in self.decisions.events if event.seq > seq))
        return [node for node in nodes if node >= 0]

    def events_since(self, seq: int) -> list[dict[str, Any]]:
        """What was decided after an event, and by whom, in plain values."""
        events = [event for event in self.decisions.events if event.seq > seq]
        found = zip(events, self.find(event.node for event in events), strict=True)
        return [
            {"seq": event.seq, "node": node, "who": event.who, "verdict": event.verdict}
            for event, node in found
            if node >= 0
        ]

    # ------------------------------------------------------------------ nodes

    def require_node(self, node: int) -> None:
        """Raise unless there is a node at this position."""
        if not 0 <= node < self.graph.num_nodes:
            raise PugnnError(f"there is no node {node}; positions go from 0 to {self.graph.num_nodes - 1}")

    def find(self, ids: Iterable[Any]) -> list[int]:
        """Positions of nodes by id; −1 for those that are not in the graph."""
        wanted = list(ids)
        found: list[int] = self.graph.find(wanted).tolist() if wanted else []
        return found

    def plain_id(self, node: int) -> Any:
        """The id of a node, as the log keeps it."""
        return plain(self.graph.ids[[node]].tolist()[0])

    def texts(self, nodes: ArrayLike) -> list[str]:
        """The ids of nodes as text, cut where they are long."""
        return [cut(name) for name in self.graph.ids[np.asarray(nodes, np.int64)].tolist()]

    @cached_property
    def log_odds(self) -> NDArray[np.float64]:
        """Of all nodes: those that are not looked for rank below all others."""
        rest = np.full(self.graph.num_nodes - self.graph.num_targets, -np.inf)
        return np.concatenate([self.run.log_odds, rest])

    @property
    def positives(self) -> NDArray[np.bool_]:
        """Which nodes are known or confirmed positives."""
        found: NDArray[np.bool_] = (self.run.known == 1) | (self.status == CONFIRMED)
        return found

    def rows(self, nodes: ArrayLike, *, blind: bool = False) -> list[dict[str, Any]]:
        """What a list shows of nodes; ``blind`` leaves out what would sway a person who is to judge."""
        positions = np.asarray(nodes, np.int64)
        targets, columns = self.graph.num_targets, self.run.data.shown.values()
        ranked = [node < targets and not blind for node in positions.tolist()]
        return [
            {
                "node": node,
                "id": name,
                "score": float(self.run.scores[node]) if tells else None,
                "rank": (int(self.rank[node]) or None) if tells else None,
                "hops": None if hops == UNREACHABLE else int(hops),
                "known": int(known),
                "status": STATUSES[status],
                "decided": bool(self.decided[node]) if tells else None,
                "cells": [cut(cells[node]) if node < targets else "" for cells in columns],
            }
            for node, name, tells, hops, known, status in zip(
                positions.tolist(),
                self.texts(positions),
                ranked,
                self.run.task.distances[positions].tolist(),
                self.run.known[positions].tolist(),
                self.status[positions].tolist(),
                strict=True,
            )
        ]

    @property
    def counts(self) -> dict[str, int]:
        """How many nodes have each status; those that are known anyway are none of them."""
        numbers = np.bincount(self.status[self.run.others], minlength=len(STATUSES)).tolist()
        return dict(zip(STATUSES, numbers, strict=True))

    # ------------------------------------------------------------------ queues

    @property
    def progress(self) -> dict[str, int]:
        """How many nodes were drawn for the audit, and how many of them are checked."""
        audit = self.audit
        return {"drawn": len(audit.drawn), "checked": len(audit.drawn) - len(audit.open)}

    def queue(self, goal: Goal) -> Queued:
        """Nodes to decide for a goal."""
        if goal == "audit":
            return self._audit_queue()
        with self._suggesting:
            if goal not in self._suggested:
                free = len(self.run.others) - len(self.audit.verdicts)
                name = _GOAL_OF[goal]
                found = self.run.suggest([name], min(SUGGESTED, free))[name] if free else []
                self._suggested[goal] = self.find(each["id"] for each in found), [each["reason"] for each in found]
        nodes, reasons = self._suggested[goal]
        words = GOALS[_GOAL_OF[goal]][1]
        return Queued(goal, words, nodes, reasons, int((self.status[nodes] > OPEN).sum()))

    def _audit_queue(self) -> Queued:
        with self.lock:
            if not self.audit.draws and not self.read_only and self.audit.left:
                self._draw()
            audit = self.audit
        nodes = audit.drawn.tolist()
        words = f"{counted(len(nodes), 'node')} drawn at random from all parts of the list: your verdicts tell how good"
        words = f"{words} it is." if nodes else "No audit was drawn, and nothing can be drawn here."
        reason = "drawn for the audit: at random, whatever its score"
        return Queued("audit", words, nodes, [reason] * len(nodes), len(nodes) - len(audit.open))

    def _draw(self) -> None:
        """Draw the first nodes of the audit, as `pugnn audit` does; the file to fill in can wait (:meth:`finish`)."""
        with recording(self.run) as audit:
            if audit.draws:  # by another process, meanwhile
                return
            audit.draw(min(CHECKS, audit.left))
            place_file(self.run, audit, None)


def _state(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
