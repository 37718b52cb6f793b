"""An earlier run to go on from, and what has changed since."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.estimator import PUNodeClassifier
from pugnn.evidence.rank_model import MAX_PRIOR
from pugnn.explain.explanation import plain
from pugnn.explain.parts import largest
from pugnn.graph import Graph
from pugnn.priors import prior_bounds
from pugnn.runs.audit_log import read_audit
from pugnn.runs.run import Run
from pugnn.runs.writers import read_columns
from pugnn.task import PUTask

_NOT_KNOWN = "what has changed since the earlier run is not known, because"

#: Nodes that are listed as having risen, and as having fallen, at most.
MAX_LISTED = 20


@dataclass(frozen=True, eq=False)
class EarlierRun:
    """An earlier run, as far as it can be read.

    Args:
        folder: of the run, as it was given.
        classifier: its model; ``None`` if it cannot be loaded.
        scores: by position in the graph of the new run, nan for new nodes; ``None`` if they cannot be read.
        confirmed: number of nodes that were confirmed since.
        rejected: number of nodes that were rejected since.
        notes: what could not be read, one sentence each.
        record: its ``run.json``; empty if that cannot be read.
        measured: the range of the prior that its audit measured for the new run; ``None`` where it is not used.
    """

    folder: Path
    classifier: PUNodeClassifier | None
    scores: NDArray[np.float64] | None
    confirmed: int
    rejected: int
    notes: tuple[str, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    measured: str | None = None

    def parent(self, child: Path) -> dict[str, Any]:
        """The entry ``parent`` of a new run: the way there from its folder, and what tells it from others there."""
        way = os.path.relpath(self.folder.resolve(), child.resolve())
        return {"run": way, "finished": self.record.get("finished"), "measured_prior": self.measured}

    @classmethod
    def of(cls, folder: Path, task: PUTask) -> EarlierRun:
        """The run in a folder, for a new one on this task."""
        classifier = scores = None
        notes, known = [], np.zeros(task.graph.num_nodes)
        try:
            classifier = PUNodeClassifier.load(folder / "model.safetensors")
        except PugnnError as error:
            notes.append(f"the training starts afresh, without the model of the earlier run: {error}")
        try:
            scores, known = read_columns(folder / "scores.parquet", task.graph, ["score", "known"])[0].values()
        except PugnnError as error:
            notes.append(f"{_NOT_KNOWN} {error}")
        record: dict[str, Any] = {}
        with suppress(OSError, ValueError, TypeError):
            record = dict(json.loads((folder / "run.json").read_text(encoding="utf-8")))
        new = int((known[task.confirmed] != 1).sum()), int((known[task.negative] != -1).sum())
        return cls(folder, classifier, scores, *new, tuple(notes), record)

    def changes(
        self, task: PUTask, scores: NDArray[np.float64], *, warm: bool, log_odds: NDArray[np.float64] | None = None
    ) -> dict[str, Any]:
        """What has changed, for ``run.json``: who rose and who fell, by rank among the nodes that are not known now.

        Scores are of all nodes, now; log-odds order those that are rounded to 1. ``warm`` is whether the training
        started from the earlier model.
        """
        earlier = np.full(len(scores), np.nan) if self.scores is None else self.scores
        moves = _moves(task.graph, task.known[: len(scores)] == 0, earlier, scores, log_odds)
        name = self.folder.resolve().name
        return {"before": name, "confirmed": self.confirmed, "rejected": self.rejected, "warm": warm, **moves}


def measured_prior(parent: Run, task: PUTask) -> tuple[str, int] | None:
    """The range of the prior that was measured for the run after another, and on how many checks of that one.

    An audit counts all positives of its ranking; those that have become known are no longer unlabelled. Without an
    audit of the parent, the range that was measured for the parent goes on to hold, on no checks of its own; without
    that, ``None``.

    Args:
        parent: the earlier run.
        task: of the next run.
    """
    if task.graph.num_nodes != parent.task.graph.num_nodes:
        raise PugnnError("it measured another graph")
    audit, known = read_audit(parent), len(task.labelled) - len(parent.task.labelled)
    checks, inherited = len(audit.sample().drawn), measured_for(parent.settings.parent)
    if checks:
        positives = audit.estimate().positives
        ends = positives.low, positives.high
    elif inherited is not None:
        low, high = prior_bounds(inherited)
        ends = low * len(parent.task.unlabelled), high * len(parent.task.unlabelled)
    else:
        return None
    n = len(task.unlabelled)
    low, high = (float(np.clip((end - known) / n, min(0.5 / n, MAX_PRIOR), MAX_PRIOR)) for end in ends)
    return f"{low:.4g}..{high:.4g}", checks


def measured_for(parent: Any) -> str | None:
    """The prior that was measured for a run, by the entry ``parent`` of its ``run.json``."""
    found = parent.get("measured_prior") if isinstance(parent, dict) else None
    return found if isinstance(found, str) else None


def changes_since(
    file: Path,
    graph: Graph,
    task: PUTask | None,
    scores: NDArray[np.float64],
    decided: NDArray[np.bool_],
    log_odds: NDArray[np.float64] | None = None,
) -> dict[str, Any]:
    """What has changed since the scores of a run, for a later snapshot: who is new, gone, decided otherwise, moved.

    Args:
        file: the ``scores.parquet`` of the run, which is read piece by piece.
        graph: the snapshot.
        task: the graph with its known nodes, if there are any: neither their decisions nor their ranks count.
        scores: of all nodes, now.
        decided: which nodes are decided positive, now.
        log_odds: to rank nodes by whose scores are equal.
    """
    try:
        found, gone = read_columns(file, graph, ["score", "decision"])
    except PugnnError as error:
        raise PugnnError(f"{_NOT_KNOWN} {error}") from None
    earlier, before = found["score"], found["decision"] == 1
    new, unknown = np.isnan(earlier), np.ones(len(scores), np.bool_)
    if task is not None:
        unknown = task.known[: len(scores)] == 0
    return {
        "before": file.parent.resolve().name,
        "new": int(new.sum()),
        "new_positive": int((new & unknown & decided).sum()),
        "gone": gone,
        "became_positive": int((~new & unknown & decided & ~before).sum()),
        "no_longer_positive": int((~new & unknown & ~decided & before).sum()),
        **_moves(graph, unknown, earlier, scores, log_odds),
    }


def _moves(
    graph: Graph,
    unknown: NDArray[np.bool_],
    earlier: NDArray[np.float64],
    scores: NDArray[np.float64],
    log_odds: NDArray[np.float64] | None,
) -> dict[str, list[dict[str, Any]]]:
    """Who rose and who fell most, of the nodes that are not known and had a score before, which is nan otherwise.

    The nearer to the top, the more a rank counts: from 20 to 2 is as far as from 2,000 to 200.
    """
    nodes = np.flatnonzero(unknown & ~np.isnan(earlier))
    order_by = scores if log_odds is None else log_odds
    rank_before, rank_now = _ranks(earlier[nodes]), np.zeros(len(scores), np.int64)
    rank_now[unknown] = _ranks(order_by[unknown])  # as in all lists
    rise = np.log(rank_before) - np.log(_ranks(order_by[nodes]))  # new nodes make nobody fall
    moves = {}
    for name, move in (("rose", rise), ("fell", -rise)):
        places = largest(move, MAX_LISTED)
        places = places[move[places] > 0]
        moves[name] = [
            {
                "id": plain(graph.ids[[node]].tolist()[0]),
                "rank_before": int(rank),
                "rank_now": int(rank_now[node]),
                "score_before": float(earlier[node]),
                "score_now": float(scores[node]),
            }
            for node, rank in zip(nodes[places].tolist(), rank_before[places], strict=True)
        ]
    return moves


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rank of each score, from 1 for the highest; ties in their order."""
    return np.argsort(np.argsort(-scores, kind="stable")) + 1
