"""An earlier run to go on from, and what has changed since."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.estimator import PUNodeClassifier
from pugnn.io.ids import ids_of, text_column
from pugnn.task import PUTask

#: Nodes that are listed as having risen, and as having fallen, at most.
MOST_LISTED = 20


@dataclass(frozen=True, eq=False)
class EarlierRun:
    """An earlier run, as far as it can be read.

    Args:
        name: of its folder.
        classifier: its model; ``None`` if it cannot be loaded.
        scores: a table of each node's id, as text, and score; ``None`` if they cannot be read.
        confirmed: number of nodes that were confirmed since the first labels.
        rejected: number of nodes that were rejected.
        notes: what could not be read, one sentence each.
    """

    name: str
    classifier: PUNodeClassifier | None
    scores: pa.Table | None
    confirmed: int
    rejected: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: Path, *, confirmed: int, rejected: int) -> EarlierRun:
        """The run in a folder."""
        classifier = scores = None
        notes = []
        try:
            classifier = PUNodeClassifier.load(folder / "model.safetensors")
        except PugnnError as error:
            notes.append(f"the training starts afresh, without the model of the earlier run: {error}")
        file = folder / "scores.parquet"
        try:
            table = pq.read_table(file, columns=["id", "score"])
            scores = pa.table({"id": _as_text(table["id"]), "score": table["score"]})
        except (OSError, pa.ArrowException, KeyError) as error:
            notes.append(f"what has changed since the earlier run is not known, because {file} cannot be read: {error}")
        return cls(folder.resolve().name, classifier, scores, confirmed, rejected, tuple(notes))

    def changes(
        self, task: PUTask, scores: NDArray[np.float64], *, warm: bool, log_odds: NDArray[np.float64] | None = None
    ) -> dict[str, Any]:
        """What has changed, for ``run.json``: who rose and who fell, by rank among the nodes that are not known now.

        The nearer to the top, the more a rank counts: from 20 to 2 is as far as from 2,000 to 200.

        Args:
            task: with all nodes that are known now.
            scores: of all nodes, now.
            warm: whether the training started from the earlier model.
            log_odds: order of the nodes where scores are rounded to 1.
        """
        counts = {"before": self.name, "confirmed": self.confirmed, "rejected": self.rejected, "warm": warm}
        if self.scores is None:
            return {**counts, "rose": [], "fell": []}
        ids = task.graph.ids
        positions = ids_of(task.graph).find(self.scores["id"])
        earlier = np.full(len(scores), np.nan)
        earlier[positions[positions >= 0]] = self.scores["score"].to_numpy()[positions >= 0]
        is_free = ~np.isnan(earlier)
        is_free[task.labelled] = is_free[task.negative] = False
        free = np.flatnonzero(is_free)
        before, now = earlier[free], scores[free]
        rank_before, rank_now = _ranks(before), task.ranks(scores if log_odds is None else log_odds)[free]
        rise = np.log(rank_before) - np.log(rank_now)

        def listed(order: NDArray[np.int64]) -> list[dict[str, Any]]:
            return [
                {
                    "id": node_id if isinstance(node_id, str | int | float) else str(node_id),
                    "rank_before": int(rank_before[at]),
                    "rank_now": int(rank_now[at]),
                    "score_before": float(before[at]),
                    "score_now": float(now[at]),
                }
                for at, node_id in zip(
                    order[:MOST_LISTED].tolist(), ids[free[order[:MOST_LISTED]]].tolist(), strict=True
                )
            ]

        rose, fell = np.argsort(-rise, kind="stable"), np.argsort(rise, kind="stable")
        return {**counts, "rose": listed(rose[rise[rose] > 0]), "fell": listed(fell[rise[fell] < 0])}


def _as_text(ids: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_integer(ids.type) or pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type):
        return ids.cast(pa.large_string())
    return text_column(list(map(str, ids.to_pylist())))


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rank of each score, from 1 for the highest; ties in their order."""
    ranks = np.empty(len(scores), np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks
