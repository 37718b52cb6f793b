"""What a report is made from, and views of it that its parts share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import shown
from pugnn.graph import UNREACHABLE
from pugnn.methods.degenerate import RANKING_LOST
from pugnn.runs.report.picture import Picture, picture
from pugnn.runs.writers import table_file
from pugnn.task import PUBenchmark, PUTask

if TYPE_CHECKING:
    from pugnn.checkup import CheckUp

#: Longer titles are cut.
LONGEST_TITLE = 120

#: Rings that are shown separately; those further out are merged.
MOST_RINGS = 8


@dataclass(frozen=True)
class Ring:
    """The nodes other than known positives at one distance from the nearest known one."""

    label: str
    members: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReportContent:
    """A finished run, as the report needs it: ``record`` is the content of ``run.json``.

    ``log`` is empty where nothing was trained; the true classes are given where they are known. ``shown`` are columns
    of the node table as they are, one text per node. ``folder`` is the name of the run's.
    """

    record: Mapping[str, Any]
    log: Sequence[Mapping[str, float]]
    task: PUTask
    scores: NDArray[np.float64]
    log_odds: NDArray[np.float64]
    threshold: float
    check_up: CheckUp
    truth: PUBenchmark | None = None
    class_of_node: Sequence[str] | None = None
    shown: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    folder: str = ""

    @property
    def table_file(self) -> str:
        """The file with the scores of all nodes that most people can open."""
        return table_file(self.task.graph.num_nodes)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Positions of all nodes, best first, as in the table of scores."""
        return np.argsort(-self.log_odds, kind="stable")

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which nodes are known positives."""
        mask = np.zeros(self.task.graph.num_nodes, dtype=bool)
        mask[self.task.labelled] = True
        return mask

    @cached_property
    def rejected(self) -> NDArray[np.bool_]:
        """Which nodes are known negatives."""
        mask = np.zeros(self.task.graph.num_nodes, dtype=bool)
        mask[self.task.negative] = True
        return mask

    @cached_property
    def others(self) -> NDArray[np.int64]:
        """Positions of the nodes about which nothing is known, best first."""
        return self.order[~(self.known | self.rejected)[self.order]]

    @cached_property
    def found(self) -> int:
        """Number of others that reach the threshold."""
        return int((self.scores[self.others] >= self.threshold).sum())

    @cached_property
    def ranked(self) -> bool:
        """Whether the order of the scores means anything."""
        return RANKING_LOST.isdisjoint(reason["code"] for reason in self.record["degenerate"])

    @cached_property
    def rings(self) -> list[Ring]:
        """The others by distance; those without a path to any known positive come last."""
        hops = self.task.distances[self.others]
        reached = [int(each) for each in np.unique(hops) if each != UNREACHABLE]
        rings = [Ring(in_hops(each), self.others[hops == each]) for each in reached[:MOST_RINGS]]
        if len(reached) > MOST_RINGS:
            far = (hops > reached[MOST_RINGS - 1]) & (hops != UNREACHABLE)
            rings.append(Ring(f"{reached[MOST_RINGS]} or more", self.others[far]))
        unreached = self.others[hops == UNREACHABLE]
        return [*rings, Ring("no path", unreached)] if len(unreached) else rings

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Which nodes have a known true class."""
        mask = np.zeros(self.task.graph.num_nodes, dtype=bool)
        if self.truth is not None:
            mask[:] = True
            mask[self.truth.test] = False
            mask[self.truth.scored] = True
        return mask

    @cached_property
    def picture(self) -> Picture:
        """The graph around the best finds."""
        return picture(self)

    def name(self, position: int) -> str:
        """The id of a node, as shown."""
        return shown(self.task.graph.ids[position])

    @property
    def title(self) -> str:
        """That of the run, or else one from the name of its folder or of its data."""
        options = self.record["options"]
        if given := run_title(options):
            return given
        data = options.get("dataset") or Path(options.get("edges", "your graph")).name
        return f"Report on {shown(self.folder or data)}"


def run_title(options: Mapping[str, Any]) -> str:
    """The title that a run was given, on one line and not too long; empty if it was given none."""
    return shown(" ".join(str(options.get("title") or "").split()), LONGEST_TITLE)


def in_hops(hops: int) -> str:
    """``1 hop``, ``2 hops``."""
    return f"{hops} hop" if hops == 1 else f"{hops} hops"
