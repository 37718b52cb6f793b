"""A run: what was read, how it was trained, what speaks for the result, and the result."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import Displayed, counted, shown
from pugnn.graph import UNREACHABLE, Graph, graph_statistics
from pugnn.task import PUBenchmark, PUTask

if TYPE_CHECKING:
    from pugnn.estimator import PUNodeClassifier
    from pugnn.explain.suggest import Goal
    from pugnn.features import Statement
    from pugnn.store import Feedback

#: Longer titles are cut.
MAX_TITLE_LENGTH = 120
#: Rings that are shown separately; those further out are merged.
MAX_RINGS = 8

Section = TypeVar("Section")


@dataclass(frozen=True, kw_only=True, eq=False)
class InputData:
    """What was read; known positives, the truth and the true class of each node only where they are given.

    Args:
        name: a short one for runs.
        graph: with its features and ids.
        options: the data options with which ``run.json`` repeats the run.
        notes: repairs, one sentence each.
        recipe: how attributes became features.
        task: the graph with its known nodes, those that were checked among them.
        benchmark: the same with the truth.
        class_of_node: true class of each node.
        feedback: nodes that were checked.
        shown: columns of the node table as they are, one text per node.
        inputs: size and time of the last change of each table.
    """

    name: str
    graph: Graph
    options: dict[str, Any]
    notes: tuple[str, ...] = ()
    recipe: tuple[Statement, ...] = ()
    task: PUTask | None = None
    benchmark: PUBenchmark | None = None
    class_of_node: list[str] | None = None
    feedback: Feedback | None = None
    shown: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    inputs: Mapping[str, list[int]] = field(default_factory=dict)


@dataclass(kw_only=True)
class Settings:
    """How a run was made.

    Args:
        pugnn: version of this package.
        finished: when the training was.
        options: everything that decides the run, under the names of the command line: with it, ``--config`` repeats it.
        versions: of Python and of the packages that results depend on.
        parent: the run that it goes on from (:meth:`pugnn.runs.changes.EarlierRun.parent`); ``None`` if there is none.
    """

    pugnn: str
    finished: str
    options: dict[str, Any]
    versions: dict[str, str]
    parent: dict[str, Any] | None = None

    @classmethod
    def of(
        cls, estimator: PUNodeClassifier, options: Mapping[str, Any], parent: dict[str, Any] | None = None
    ) -> Settings:
        """Those of a fitted estimator on data with these options, perhaps going on from another run."""
        method, parameters = dict(estimator.settings_["method"]), dict(estimator.settings_["parameters"])
        parameters.pop("progress")
        settings = {"method": method.pop("name"), **method, **parameters}
        packages = ("torch", "numpy", "scipy", "numba", "scikit-learn")
        return cls(
            pugnn=version("pugnn"),
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
            options={**options, **{name: value for name, value in settings.items() if value is not None}},
            versions={"python": platform.python_version(), **{name: version(name) for name in packages}},
            parent=parent,
        )

    @property
    def title(self) -> str:
        """The title that the run was given, on one line and not too long; empty if it was given none."""
        return shown(" ".join(str(self.options.get("title") or "").split()), MAX_TITLE_LENGTH)


@dataclass(kw_only=True)
class Evidence:
    """What can be said of the result without negatives and, where the truth is known, with it.

    Args:
        settled_prior: how many positives there are (:class:`pugnn.evidence.Prior`), in plain values.
        estimate: how good the list is (:class:`pugnn.evidence.Estimate`), in plain values, beside the ``truth``.
        estimate_missing: why there is no estimate.
        metrics: against the truth.
        audit: how far the audit has come (:func:`pugnn.runs.audit_log.audit_so_far`), in plain values; ``None`` before
            its first draw.
    """

    settled_prior: dict[str, Any] | None = None
    estimate: dict[str, Any] | None = None
    estimate_missing: str | None = None
    metrics: dict[str, Any] | None = None
    audit: dict[str, Any] | None = None

    @property
    def measured(self) -> dict[str, Any] | None:
        """What the audit has measured (:class:`pugnn.evidence.measured.Measurement`), in plain values."""
        return None if self.audit is None else self.audit["measured"]

    @property
    def signal(self) -> bool:
        """Whether the known positives can be told from other nodes, as far as anybody knows."""
        return self.estimate is None or bool(self.estimate.get("signal", True))


@dataclass(kw_only=True)
class Results:
    """What a run has found, besides the scores; lists and mappings are plain values.

    Args:
        threshold: from which a node is decided positive.
        prior: positive share of the unlabelled nodes that the method assumed or found.
        decided_by: who is decided positive, in words.
        degenerate: signs of a collapse (:class:`pugnn.evidence.Reason`).
        method_notes: what the method decided on the way.
        warnings: that were shown meanwhile.
        changes: since an earlier run.
        suggestions: nodes to check, by goal.
        explanations: of the best finds (:class:`pugnn.explain.Explanation`).
        seconds: of the training and in total.
    """

    threshold: float
    prior: float
    decided_by: str | None = None
    degenerate: list[dict[str, Any]] = field(default_factory=list)
    method_notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    changes: dict[str, Any] | None = None
    suggestions: dict[str, list[dict[str, Any]]] | None = None
    explanations: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def ranked(self) -> bool:
        """Whether the order of the scores means anything."""
        from pugnn.evidence.degenerate import RANKING_LOST  # torch is slow to load

        return RANKING_LOST.isdisjoint(reason["code"] for reason in self.degenerate)


def read_section(kind: type[Section], record: Mapping[str, Any]) -> Section:
    """A section of the content of ``run.json``; what an earlier version did not write has its default."""
    return kind(**{each.name: record[each.name] for each in fields(kind) if each.name in record})  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Run(Displayed):
    """All of a run, which terminal, report and ``run.json`` show.

    Args:
        path: its folder.
        estimator: fitted on the task.
        data: what was read, with known positives.
        settings: how it was made.
        evidence: what speaks for the results.
        results: what it has found.
        scores: by position.
        log_odds: by position; they differ even where scores are rounded to 1.
        check_up: what was found before training (:class:`pugnn.checkup.CheckUp`), in plain values.
        log: one record per epoch; empty where nothing was trained.
        changed: how the tables differ now, in words, if the run is open with its copy of them instead.
    """

    path: Path
    estimator: PUNodeClassifier
    data: InputData
    settings: Settings
    evidence: Evidence
    results: Results
    scores: NDArray[np.float64]
    log_odds: NDArray[np.float64]
    check_up: dict[str, Any] = field(default_factory=dict)
    log: Sequence[Mapping[str, float]] = ()
    changed: str = ""

    def __repr__(self) -> str:
        return (
            f"Run({shown(self.path)}, {counted(len(self.others), 'unlabelled node')}, {self.found:,} decided positive)"
        )

    def _facts(self) -> list[str]:
        from pugnn.runs.report.answers import answers

        told = answers(self.path, len(self.others), self.evidence, self.results)
        return [" ".join(filter(None, (f"{each.question}:", each.short, each.text, each.command))) for each in told]

    @property
    def record(self) -> dict[str, Any]:
        """The content of ``run.json``."""
        return {
            **vars(self.settings),
            "data": describe_data(self.task),
            **count_nodes(self.task),
            "notes": list(self.data.notes),
            "recipe": [asdict(line) for line in self.data.recipe],
            "check_up": self.check_up,
            **vars(self.evidence),
            **vars(self.results),
        }

    @property
    def task(self) -> PUTask:
        """The graph with its known nodes."""
        assert self.data.task is not None
        return self.data.task

    @property
    def truth(self) -> PUBenchmark | None:
        """The true classes, where they are known."""
        return self.data.benchmark

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Positions of all nodes, best first, as in the table of scores."""
        return np.argsort(-self.log_odds, kind="stable")

    @cached_property
    def known(self) -> NDArray[np.int64]:
        """1 for each known positive, −1 for each known negative, and 0 for all other nodes."""
        return self.task.known

    @cached_property
    def others(self) -> NDArray[np.int64]:
        """Positions of the nodes about which nothing is known, best first."""
        others: NDArray[np.int64] = self.order[self.known[self.order] == 0]
        return others

    @cached_property
    def found(self) -> int:
        """Number of others that reach the threshold."""
        return int((self.scores[self.others] >= self.results.threshold).sum())

    @cached_property
    def rings(self) -> dict[str, NDArray[np.int64]]:
        """The others by distance in words; those without a path to any known positive come last."""
        hops = self.task.distances[self.others]
        reached = [int(each) for each in np.unique(hops) if each != UNREACHABLE]
        masks = {counted(each, "hop"): hops == each for each in reached[:MAX_RINGS]}
        if len(reached) > MAX_RINGS:
            masks[f"{reached[MAX_RINGS]} or more"] = (hops > reached[MAX_RINGS - 1]) & (hops != UNREACHABLE)
        masks["no path"] = hops == UNREACHABLE
        return {label: self.others[mask] for label, mask in masks.items() if mask.any()}

    def suggest(self, goals: Iterable[Goal], count: int) -> dict[str, list[dict[str, Any]]]:
        """Nodes to check, in plain values by goal (:func:`pugnn.explain.suggest.suggest`)."""
        from pugnn.explain.suggest import node_rows, suggest  # torch is slow to load
        from pugnn.runs.audit_log import read_audit  # which knows runs

        rows = node_rows(self.estimator.model_, self.task.graph)
        options: dict[str, Any] = {"log_odds": self.log_odds, "order": self.order, "seed": self.estimator.seed}
        options |= {"prior": self.estimator.prior_, "threshold": self.results.threshold, "count": count}
        unchecked = np.isin(self.task.unlabelled, list(read_audit(self).verdicts), invert=True)
        task = replace(self.task, unlabelled=self.task.unlabelled[unchecked])
        found = {goal: suggest(task, self.scores, rows, goal=goal, **options) for goal in goals}
        return {goal: [each.to_plain() for each in suggestions] for goal, suggestions in found.items()}

    def name(self, position: int) -> str:
        """The id of a node, as shown."""
        return shown(self.task.graph.ids[position])


def describe_data(task: PUTask) -> dict[str, Any]:
    """The entry ``data`` of ``run.json``: sizes of the graph, how it was cleaned, and digests of its parts."""
    graph = task.graph
    return {**asdict(graph_statistics(graph)), "cleaning": asdict(graph.cleaning), "digests": task.digests}


def count_nodes(task: PUTask) -> dict[str, int]:
    """Numbers of the nodes of each kind, as in ``run.json``."""
    return {name: len(getattr(task, name)) for name in ("labelled", "unlabelled", "negative")}
