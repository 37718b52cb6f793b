"""One training of a grid: its settings and its result."""

from __future__ import annotations

import hashlib
import json
import platform
import time
import warnings
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from importlib.metadata import version
from typing import Any, Literal

import torch

from pugnn import __version__
from pugnn.data import load_dataset
from pugnn.errors import PugnnWarning
from pugnn.estimator import METHOD_DEFAULTS, PUNodeClassifier
from pugnn.experiments.rows import Reading, Row
from pugnn.methods import METHODS, make_method
from pugnn.runs import evaluate
from pugnn.task import PUBenchmark, draw_benchmark, draw_share
from pugnn.training import TrainingSettings


@dataclass(frozen=True)
class Cell:
    """Everything that determines the result of one training.

    Args:
        dataset: a named data set.
        protocol: arguments of :func:`pugnn.task.draw_benchmark`, or with ``share`` of :func:`pugnn.task.draw_share`.
        method: name of the method.
        options: the method's own settings, including defaults, so that a changed default is another cell.
        known_prior: whether the method is given the true positive share of the unlabelled nodes.
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
    pugnn: str = __version__

    @classmethod
    def of(cls, row: Row, reading: Reading, *, dataset: str, ratio: float, draw: int) -> Cell:
        """A cell of a table: a row under a reading, and the number of the draw."""
        protocol = {
            "label_ratio": ratio,
            "label_ratio_of": reading.label_ratio_of,
            "unlabelled": reading.unlabelled,
            "seed": draw if reading.redraw else 0,
        }
        return cls.of_protocol(row.under(reading), protocol, dataset=dataset, seed=draw)

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
        defaults = {each.name: each.default for each in fields(METHODS[row.method]) if each.name != "prior"}
        options = {**defaults, **row.options}
        method = make_method(row.method, **options, **({"prior": 0.5} if row.known_prior else {}))
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
        )

    @cached_property
    def key(self) -> str:
        """The cell's name: the same in every process, and different for every other cell."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:24]

    def draw(self) -> PUBenchmark:
        """The benchmark of the cell."""
        data = _dataset(self.dataset, positive_classes=self.positive_classes)
        return (draw_share if "share" in self.protocol else draw_benchmark)(data, **self.protocol)


def measure(cell: Cell) -> dict[str, Any]:
    """Train a cell on one thread, whatever the number of processes, and evaluate it on its test nodes."""
    torch.set_num_threads(1)
    started = time.perf_counter()
    benchmark = cell.draw()
    task = benchmark.task
    known = {"prior": float(benchmark.positive[task.unlabelled].mean())} if cell.known_prior else {}
    estimator = PUNodeClassifier(
        make_method(cell.method, **cell.options, **known),
        **cell.training,
        threshold=cell.threshold,
        seed=cell.seed,
        progress=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PugnnWarning)  # a single label leaves a small near set; the tables show it
        training_started = time.perf_counter()
        estimator.fit(task.graph, task.graph.ids[task.labelled], unlabelled=task.unlabelled)
        trained = time.perf_counter()
    metrics = evaluate(benchmark, estimator.predict_proba()[:, 1], estimator.threshold_)
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


_dataset = lru_cache(maxsize=8)(load_dataset)
