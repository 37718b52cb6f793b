"""Small runs to make reports of, without any training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logit

from pugnn.checkup import Finding
from pugnn.estimator import PUNodeClassifier
from pugnn.features import Statement
from pugnn.graph import Graph
from pugnn.methods import DEFAULT_METHOD
from pugnn.runs.run import Evidence, InputData, Results, Run, Settings, read_section
from pugnn.task import PUBenchmark, PUTask

#: All of a check-up that a report looks at.
CHECK_UP = {
    "findings": [
        asdict(Finding("homophily", "good", "Positives cluster", "They do.")),
        asdict(Finding("size", "warning", "Few labels", "Only one.", "Label ten more.")),
    ],
    "advice": ["Positives cluster, so the wider neighbourhood counts."],
}

RECORD = {
    "pugnn": "1.2.3",
    "finished": "2026-05-04T10:11:12+00:00",
    "options": {"edges": "tables/edges.csv", "method": DEFAULT_METHOD, "seed": 0},
    "threshold": 0.5,
    "prior": 0.25,
    "versions": {"python": "3.12.0"},
    "metrics": None,
    "notes": [],
    "recipe": [],
    "warnings": [],
    "method_notes": [],
    "degenerate": [],
    "explanations": [],
}

LOG = [{"epoch": epoch, "near": 1 / epoch, "total": 2 / epoch, "seconds": 0.1 * epoch} for epoch in (1, 2, 3)]


def path_content(scores: Sequence[float], *, ids: Sequence[Any] | None = None, **changes: Any) -> Run:
    """A run on a path whose first node is the known positive."""
    count = len(scores)
    ends = np.arange(count - 1)
    ids = [f"n{position}" for position in range(count)] if ids is None else ids
    graph = Graph.from_edges(ends, ends + 1, num_nodes=count)
    named = np.empty(count, dtype=object)
    named[:] = ids
    return graph_content(_with_ids(graph, named), scores, labelled=[0], **changes)


def random_content(count: int, *, seed: int = 0, truth: bool = True, **changes: Any) -> Run:
    """A run on a random graph, with scores that are right more often than not."""
    rng = np.random.default_rng(seed)
    graph = Graph.from_edges(*rng.integers(0, count, (2, 3 * count)), num_nodes=count)
    graph = _with_ids(graph, np.array([f"user-{position:07d}" for position in range(count)], dtype=object))
    positive = rng.random(count) < 0.3
    labelled = rng.choice(np.flatnonzero(positive), max(1, count // 100), replace=False)
    scores = 1 / (1 + np.exp(1 - rng.normal(size=count) - 2 * positive))
    return graph_content(graph, scores, labelled=labelled, positive=positive if truth else None, **changes)


def graph_content(
    graph: Graph, scores: Any, *, labelled: Any, positive: Any = None, record: Any = None, **changes: Any
) -> Run:
    task = PUTask.from_positives(graph, np.asarray(labelled))
    record = {**RECORD, **(record or {})}
    data = InputData(
        name="tables",
        graph=graph,
        options={},
        notes=tuple(record["notes"]),
        recipe=tuple(Statement(**line) for line in record["recipe"]),
        task=task,
        benchmark=None if positive is None else PUBenchmark.of_unlabelled(task, np.asarray(positive, dtype=bool)),
        class_of_node=changes.pop("class_of_node", None),
        shown=changes.pop("shown", {}),
    )
    results = read_section(Results, record)
    results.threshold = changes.pop("threshold", 0.5)
    values: dict[str, Any] = {
        "path": Path("edges.csv"),
        "estimator": PUNodeClassifier(),
        "data": data,
        "settings": read_section(Settings, record),
        "evidence": read_section(Evidence, record),
        "results": results,
        "scores": np.asarray(scores, dtype=np.float64),
        "log_odds": logit(np.asarray(scores, dtype=np.float64)),
        "check_up": CHECK_UP,
        "log": LOG,
    }
    return Run(**{**values, **changes})


def with_task(run: Run, task: PUTask) -> Run:
    """The same run with other known nodes."""
    return replace(run, data=replace(run.data, task=task))


def _with_ids(graph: Graph, ids: Any) -> Graph:
    return Graph(graph.indptr, graph.indices, graph.features, ids)
