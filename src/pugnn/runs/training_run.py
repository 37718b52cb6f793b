"""From a graph and its positives to a complete run folder."""

from __future__ import annotations

import json
import math
import platform
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.data import PUBenchmark, PUTask
from pugnn.errors import PugnnWarning
from pugnn.estimator import PUNodeClassifier
from pugnn.files import replacing
from pugnn.graph import graph_statistics, hop_distances
from pugnn.metrics import accuracy, average_precision, f1, macro_f1, roc_auc
from pugnn.runs.folder import RunFolder
from pugnn.runs.writers import plot_log, write_log, write_scores

NO_PICTURE = "training.png is left out, because matplotlib is not installed. To get it: pip install 'pugnn[plot]'"


@dataclass(frozen=True)
class Run:
    """A finished run: its folder, what ``run.json`` says, and the scores by position."""

    path: Path
    record: dict[str, Any]
    scores: NDArray[np.float64]
    distances: NDArray[np.int32]


def train_into_folder(
    estimator: PUNodeClassifier,
    task: PUTask,
    folder: RunFolder,
    *,
    source: dict[str, Any],
    truth: PUBenchmark | None = None,
) -> Run:
    """Train, score every node and write scores, model, log, picture and ``run.json``.

    Args:
        estimator: not fitted yet.
        task: the graph and its known positives.
        folder: where to put it all; it stays partial, with a checkpoint, if the run is stopped.
        source: where the data came from, for ``run.json``.
        truth: the benchmark that the task was drawn from, for metrics after training.
    """
    started = time.perf_counter()
    try:
        noted: list[str] = []
        with _noted_warnings(noted):
            estimator.fit(task.graph, _mask(task), unlabelled=task.unlabelled, checkpoint=folder.checkpoint)
        trained = time.perf_counter()
        scores = estimator.predict_proba()[:, 1]
        distances = hop_distances(task.graph, task.labelled)
        write_scores(
            folder.partial / "scores.csv",
            task.graph.ids,
            scores,
            (scores >= estimator.threshold_).astype(np.int64),
            known=_mask(task),
            distances=distances,
        )
        estimator.save(folder.partial / "model.safetensors")
        if estimator.log_:  # label propagation trains nothing
            write_log(folder.partial / "log.csv", estimator.log_)
            if not plot_log(folder.partial / "training.png", estimator.log_):
                with _noted_warnings(noted):
                    warnings.warn(NO_PICTURE, PugnnWarning, stacklevel=2)
        record = _record(estimator, task, source)
        record["metrics"] = None if truth is None else evaluate(truth, scores, estimator.threshold_)
        record["warnings"] = noted
        record["seconds"] = {
            "training": round(trained - started, 3),
            "total": round(time.perf_counter() - started, 3),
        }
        with replacing(folder.partial / "run.json") as temporary:
            temporary.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        folder.finish()
    except BaseException:
        folder.abandon()
        raise
    return Run(folder.path, record, scores, distances)


@contextmanager
def _noted_warnings(noted: list[str]) -> Iterator[None]:
    """Collect our own warnings while they are shown as ever."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def note(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, PugnnWarning):
                noted.append(str(message))
            show(message, category, *rest)

        warnings.showwarning = note  # type: ignore[assignment]
        yield


def evaluate(truth: PUBenchmark, scores: NDArray[np.float64], threshold: float) -> dict[str, Any]:
    """Metrics on the benchmark's test nodes, in percent; never seen by any training.

    A metric that does not exist, such as the AUC where all test nodes are of one class, is ``None``.
    """
    positive, scored = truth.positive[truth.scored], scores[truth.scored]
    decided = scored >= threshold
    values = {
        "macro_f1": macro_f1(positive, decided),
        "f1": f1(positive, decided),
        "accuracy": accuracy(positive, decided),
        "roc_auc": roc_auc(positive, scored),
        "average_precision": average_precision(positive, scored),
    }
    percent = {name: None if math.isnan(value) else round(100 * value, 3) for name, value in values.items()}
    return {"test_nodes": len(scored), **percent}


def _mask(task: PUTask) -> NDArray[np.bool_]:
    mask = np.zeros(task.graph.num_nodes, dtype=bool)
    mask[task.labelled] = True
    return mask


def _record(estimator: PUNodeClassifier, task: PUTask, source: dict[str, Any]) -> dict[str, Any]:
    return {
        "pugnn": version("pugnn"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": {**source, **asdict(graph_statistics(task.graph)), "cleaning": asdict(task.graph.cleaning)},
        "labelled": len(task.labelled),
        "unlabelled": len(task.unlabelled),
        **estimator.settings_,
        "threshold": estimator.threshold_,
        "prior": estimator.prior_,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "numpy", "scipy", "numba", "scikit-learn")},
        },
    }
