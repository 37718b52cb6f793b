"""One training of a grid: its settings and its result."""

from __future__ import annotations

import hashlib
import json
import platform
import time
import warnings
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
import torch

from pugnn import __version__
from pugnn.datasets import Dataset, load_dataset
from pugnn.errors import PugnnWarning
from pugnn.estimator import PUNodeClassifier
from pugnn.features import Structure
from pugnn.fitting import METHOD_DEFAULTS
from pugnn.metrics import measure as measure_scores
from pugnn.task import PUBenchmark, draw_benchmark, draw_labels
from pugnn.training import TrainingSettings
from pugnn_paper.protocols import draw_rare, draw_share
from pugnn_paper.rows import Reading, Row
from pugnn_paper.variants import method_class


@dataclass(frozen=True)
class Cell:
    """Everything that determines the result of one training.

    Args:
        dataset: a named data set.
        protocol: arguments of :func:`pugnn.task.draw_benchmark`; with ``share`` of :func:`draw_share`, with
            ``prior`` of :func:`draw_rare`, and with ``sampling`` of :func:`pugnn.task.draw_labels`.
        method: name of the method.
        options: the method's own settings, including defaults, so that a changed default is another cell.
        known_prior: whether the method is given the true positive share of the unlabelled nodes.
        prior_error: what is added to that share.
        training: settings of the training, including defaults.
        threshold: of the decision.
        seed: of the training.
        positive_classes: instead of the data set's own.
        pugnn: version that trains it; another one may train differently.
    """

    dataset: str
    protocol: dict[str, Any]
    method: str
    options: dict[str, Any]
    known_prior: bool
    training: dict[str, Any]
    threshold: float | Literal["prior"]
    seed: int
    positive_classes: tuple[int, ...] | None = None
    prior_error: float = 0.0
    pugnn: str = __version__

    @classmethod
    def of(cls, row: Row, reading: Reading, *, dataset: str, ratio: float, draw: int) -> Cell:
        """A cell of a table: a row under a reading, and the number of the draw."""
        return cls.of_protocol(row.under(reading), reading.protocol(ratio, draw), dataset=dataset, seed=draw)

    @classmethod
    def of_protocol(
        cls,
        row: Row,
        protocol: dict[str, Any],
        *,
        dataset: str,
        seed: int,
        positive_classes: tuple[int, ...] | None = None,
    ) -> Cell:
        """A cell of a row under any protocol."""
        defaults = {each.name: each.default for each in fields(method_class(row.method)) if each.name != "prior"}
        options = {**defaults, **row.options}
        method = method_class(row.method)(**options, **({"prior": 0.5} if row.known_prior else {}))
        settings = asdict(TrainingSettings(**{**method.training, **row.training}))
        return cls(
            dataset=dataset,
            protocol=protocol,
            method=row.method,
            options=options,
            known_prior=row.known_prior,
            training={name: settings[name] for name in METHOD_DEFAULTS} if method.trains else {},
            threshold=row.threshold,
            seed=seed,
            positive_classes=positive_classes,
            prior_error=row.prior_error,
        )

    @cached_property
    def key(self) -> str:
        """The cell's name: the same in every process, and different for every other cell."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:24]

    def draw(self) -> PUBenchmark:
        """The benchmark of the cell."""
        data = named_dataset(self.dataset, self.positive_classes)
        if "share" in self.protocol:
            return draw_share(data, **self.protocol)
        if "prior" in self.protocol:
            return draw_rare(data, **self.protocol)
        return (draw_labels if "sampling" in self.protocol else draw_benchmark)(data, **self.protocol)


def measure(cell: Cell) -> dict[str, Any]:
    """Train a cell on one thread, whatever the number of processes, and evaluate it on its test nodes."""
    torch.set_num_threads(1)
    started = time.perf_counter()
    benchmark = cell.draw()
    task = benchmark.task
    known = {}
    if cell.known_prior:
        share = float(benchmark.positive[task.unlabelled].mean())
        known["prior"] = float(np.clip(share + cell.prior_error, 0.01, 0.99)) if cell.prior_error else share
    estimator = PUNodeClassifier(
        method_class(cell.method)(**cell.options, **known),
        **cell.training,
        threshold=cell.threshold,
        decide=True,
        seed=cell.seed,
        progress=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PugnnWarning)  # a single label leaves a small near set; the tables show it
        training_started = time.perf_counter()
        estimator.fit(task.graph, task.graph.ids[task.labelled], unlabelled=task.unlabelled)
        trained = time.perf_counter()
    metrics = measure_scores(benchmark, estimator.predict_proba()[:, 1], estimator.threshold_)
    return {
        "key": cell.key,
        "cell": asdict(cell),
        "labels": len(task.labelled),
        "unlabelled": len(task.unlabelled),
        "metrics": metrics,
        "prior": estimator.prior_,
        "threshold": estimator.threshold_,
        "settings": estimator.settings_,
        "epochs": len(estimator.log_),
        "degenerate": [reason.code for reason in estimator.degenerate_],
        "seconds": {"training": round(trained - training_started, 3), "total": round(time.perf_counter() - started, 3)},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "numpy", "scipy", "numba")},
        },
    }


@lru_cache(maxsize=32)
def named_dataset(name: str, positive_classes: tuple[int, ...] | None = None) -> Dataset:
    """A data set; without features, it gets those of its structure, as `pugnn fit` does without a table of nodes."""
    data = load_dataset(name, positive_classes=positive_classes)
    if data.graph.num_features:
        return data
    return replace(data, graph=replace(data.graph, features=Structure().encode(data.graph)))
