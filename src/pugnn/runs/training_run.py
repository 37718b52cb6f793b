"""From a graph and its positives to a complete run folder."""

from __future__ import annotations

import json
import math
import platform
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import DegenerateWarning, PugnnWarning
from pugnn.estimator import PUNodeClassifier
from pugnn.explain.explaining import MOST_EXACT, explain_best
from pugnn.explain.forecast import explanation_memory
from pugnn.explain.suggest import node_rows, suggest_for_all
from pugnn.files import replacing
from pugnn.graph import graph_statistics
from pugnn.memory import available_memory, memory_words
from pugnn.methods.degenerate import RANKING_LOST
from pugnn.metrics import METRICS
from pugnn.runs.changes import EarlierRun
from pugnn.runs.estimates import estimate_record
from pugnn.runs.folder import RunFolder
from pugnn.runs.report import ReportContent, write_report
from pugnn.runs.writers import MOST_IN_CSV, score_table, write_log, write_scores
from pugnn.task import PUBenchmark, PUTask
from pugnn.training import scores_of
from pugnn.training.forecast import memory_on
from pugnn.training.progress import stage_progress
from pugnn.waiting import part

if TYPE_CHECKING:
    from pugnn.checkup import CheckUp
    from pugnn.features import Statement

NO_CSV = f"scores.csv is left out: more than {MOST_IN_CSV:,} nodes are too many for a spreadsheet; see scores.parquet"

#: In larger graphs, explaining a node takes more than a moment.
MOST_FOR_EXPLANATIONS = 1_000_000
TO_EXPLAIN = "To explain a node: pugnn explain RUN ID"
NO_EXPLANATIONS = f"explanations are left out: the graph is large. {TO_EXPLAIN}"
#: What a run says that was stopped after its results were complete.
STOPPED = (
    f"the run was stopped before it had suggested nodes and explained the best finds. {TO_EXPLAIN}; to suggest nodes: "
    "pugnn suggest RUN"
)

#: Share of the time after which a run is trained and scored, and after which only its report is left, roughly.
TRAINED, EXPLAINED = 0.8, 0.95

#: Nodes suggested for each goal.
SUGGESTED = 5


@dataclass(frozen=True)
class Run:
    """A finished run: its folder, what ``run.json`` says, and scores and log-odds by position."""

    path: Path
    record: dict[str, Any]
    scores: NDArray[np.float64]
    log_odds: NDArray[np.float64]


@part(0, 1)
def train_into_folder(
    estimator: PUNodeClassifier,
    task: PUTask,
    folder: RunFolder,
    *,
    options: dict[str, Any],
    check_up: CheckUp,
    notes: Sequence[str] = (),
    recipe: Sequence[Statement] = (),
    truth: PUBenchmark | None = None,
    class_of_node: list[str] | None = None,
    before: EarlierRun | None = None,
    shown: Mapping[str, NDArray[Any]] | None = None,
) -> Run:
    """Train, score every node and write scores, report, model, log and ``run.json``.

    Suggestions and explanations are added to report and ``run.json`` when the run is complete and has its name, so that
    it stays whatever happens to them.

    Args:
        estimator: not fitted yet.
        task: the graph and its known positives.
        folder: where to put it all; it stays partial, with a checkpoint, if the run is stopped.
        options: where the data came from, as options of the command line.
        check_up: what was found before training.
        notes: what was repaired in the data.
        recipe: how attributes became features, see :meth:`pugnn.features.Recipe.describe`.
        truth: the benchmark that the task was drawn from, for metrics after training.
        class_of_node: true class of each node, for the report.
        before: an earlier run to go on from.
        shown: columns of the node table to show as they are, one text per node.
    """
    started = time.perf_counter()
    try:
        with _noted_warnings() as noted, part(0, TRAINED):
            start = None if before is None else before.classifier
            estimator.fit_task(task, checkpoint=folder.checkpoint, start=start)
            trained = time.perf_counter()
            log_odds = estimator.decision_function()
            scores = scores_of(log_odds)
            written = _write_results(folder.partial, estimator, task, log_odds, shown)
        record = _record(estimator, task, options)
        record |= {"notes": list(notes), "recipe": [asdict(line) for line in recipe]}
        record["check_up"] = check_up.to_plain()
        record["metrics"] = None if truth is None else evaluate(truth, scores, estimator.threshold_)
        record |= {"warnings": [*noted, STOPPED], "method_notes": list(estimator.notes_)}
        record["changes"] = None
        if before is not None:
            record["changes"] = before.changes(task, scores, warm=estimator.warm_, log_odds=log_odds)
        record["degenerate"] = [asdict(reason) for reason in estimator.degenerate_]
        record |= estimate_record(estimator, task, check_up, log_odds, truth)
        record |= {"suggestions": None, "explanations": []}
        seconds = {"training": trained - started, "total": time.perf_counter() - started}
        record["seconds"] = {name: round(value, 3) for name, value in seconds.items()}
        content = ReportContent(
            record=record,
            log=estimator.log_,
            task=task,
            scores=scores,
            log_odds=log_odds,
            threshold=estimator.threshold_,
            check_up=check_up,
            truth=truth,
            class_of_node=class_of_node,
            shown=shown or {},
            folder=folder.path.resolve().name,
        )
        _write(folder.partial, content)
        folder.finish([*written, "report.html", "run.json"])
    except BaseException:
        folder.abandon()
        raise
    with _noted_warnings() as later:
        suggested = _if_possible("suggestions", lambda: _suggestions(estimator, task, scores, log_odds))
    with _noted_warnings() as last:
        with part(TRAINED, EXPLAINED), stage_progress("explaining the best finds", show=estimator.progress):
            explained = _if_possible("explanations", lambda: _explanations(estimator, task, log_odds, shown or {}))
        record |= {"suggestions": suggested, "explanations": explained or [], "warnings": noted + later + last}
        record["seconds"]["total"] = round(time.perf_counter() - started, 3)
        if (folder.path / "run.json").exists():  # nobody has moved the run in the meantime
            with part(EXPLAINED, 1), stage_progress("writing the report", show=estimator.progress):
                _if_possible("suggestions and explanations", lambda: _write(folder.path, content))
    return Run(folder.path, record, scores, log_odds)


def _write_results(
    folder: Path,
    estimator: PUNodeClassifier,
    task: PUTask,
    log_odds: NDArray[np.float64],
    shown: Mapping[str, NDArray[Any]] | None,
) -> list[str]:
    """Write scores, model and log; the names of the files that must be there."""
    table = score_table(task.graph, scores_of(log_odds), estimator.threshold_, task, log_odds=log_odds, shown=shown)
    written = ["scores.parquet"]
    if task.graph.num_nodes <= MOST_IN_CSV:
        written.append("scores.csv")
    else:
        warnings.warn(NO_CSV, PugnnWarning, stacklevel=2)
    for name in written:
        write_scores(folder / name, table)
    estimator.save(folder / "model.safetensors")
    if not estimator.log_:  # label propagation trains nothing
        return [*written, "model.safetensors"]
    write_log(folder / "log.csv", estimator.log_)
    return [*written, "model.safetensors", "log.csv"]


def _write(folder: Path, content: ReportContent) -> None:
    """Write the report and ``run.json``."""
    write_report(folder / "report.html", content)
    text = json.dumps(content.record, indent=2, ensure_ascii=False) + "\n"
    with replacing(folder / "run.json") as temporary:
        # What a name that is not UTF-8 leaves in a text is escaped in the way of JSON: it comes back as it was.
        temporary.write_bytes(text.encode("utf-8", "backslashreplace"))


def _if_possible(name: str, make: Callable[[], Any]) -> Any:
    """What a finished run can do without; a failure becomes a warning."""
    try:
        return make()
    except Exception as error:  # whatever it is
        words = "there is not enough memory" if isinstance(error, MemoryError) else str(error) or type(error).__name__
        warnings.warn(f"{name} are left out: {words}. The rest of the run is complete", PugnnWarning, stacklevel=2)
        return None


@contextmanager
def _noted_warnings() -> Iterator[list[str]]:
    """Collect our own warnings, which are also shown as usual; a collapse has its own place in the record."""
    noted: list[str] = []
    with warnings.catch_warnings():
        show = warnings.showwarning

        def note(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, PugnnWarning) and not issubclass(category, DegenerateWarning):
                noted.append(str(message))
            show(message, category, *rest)

        warnings.showwarning = note  # type: ignore[assignment]
        yield noted


def evaluate(truth: PUBenchmark, scores: NDArray[np.float64], threshold: float) -> dict[str, Any]:
    """Metrics on the benchmark's test nodes, never seen by any training: numbers of nodes, and values in percent.

    A metric that does not exist, such as the AUC where all test nodes are of one class, is ``None``.
    """
    positive, scored = truth.positive[truth.scored], scores[truth.scored]
    decided = scored >= threshold
    values = {name: metric(positive, decided, scored) for name, metric in METRICS.loadable().items()}
    percent = {name: None if math.isnan(value) else round(100 * value, 3) for name, value in values.items()}
    counts = {"test_nodes": len(scored), "positive": int(positive.sum()), "decided_positive": int(decided.sum())}
    return {**counts, **percent}


def _suggestions(
    estimator: PUNodeClassifier, task: PUTask, scores: NDArray[np.float64], log_odds: NDArray[np.float64]
) -> dict[str, list[dict[str, Any]]] | None:
    """Whom to check next; nobody where the ranking means nothing, and no best finds where there is no signal."""
    if not RANKING_LOST.isdisjoint(reason.code for reason in estimator.degenerate_):
        return None
    found = suggest_for_all(
        task,
        scores,
        node_rows(estimator.model_, task.graph),
        prior=estimator.prior_,
        threshold=estimator.threshold_,
        count=SUGGESTED,
        log_odds=log_odds,
        seed=estimator.seed,
    )
    return found if estimator.estimate_ is None or estimator.estimate_.signal else found | {"precision": []}


def _explanations(
    estimator: PUNodeClassifier, task: PUTask, log_odds: NDArray[np.float64], shown: Mapping[str, NDArray[Any]]
) -> list[dict[str, Any]]:
    """Why the best finds score so high; none where that takes long, or more memory than there is."""
    if task.graph.num_nodes > MOST_FOR_EXPLANATIONS:
        warnings.warn(NO_EXPLANATIONS, PugnnWarning, stacklevel=2)
        return []
    needed = explanation_memory(estimator.model_, task.graph, MOST_EXACT)
    room = min(available_memory(), memory_on(estimator.device))
    if needed > room:
        words = f"they take about {memory_words(needed)} of memory, and {memory_words(room)} are available"
        warnings.warn(f"explanations are left out: {words}. {TO_EXPLAIN}", PugnnWarning, stacklevel=2)
        return []
    return [each.to_plain() for each in explain_best(estimator, task, log_odds, shown)]


def _record(estimator: PUNodeClassifier, task: PUTask, options: dict[str, Any]) -> dict[str, Any]:
    method, parameters = dict(estimator.settings_["method"]), dict(estimator.settings_["parameters"])
    parameters.pop("progress")
    settings = {"method": method.pop("name"), **method, **parameters}
    return {
        "pugnn": version("pugnn"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        # Everything that decides the run, under the names of the command line: with it, `--config` repeats the run.
        "options": {**options, **{name: value for name, value in settings.items() if value is not None}},
        "data": {
            **asdict(graph_statistics(task.graph)),
            "cleaning": asdict(task.graph.cleaning),
            "digests": task.digests,
        },
        "labelled": len(task.labelled),
        "unlabelled": len(task.unlabelled),
        "negative": len(task.negative),
        "threshold": estimator.threshold_,
        "decided_by": estimator.decided_by_,
        "prior": estimator.prior_,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "numpy", "scipy", "numba", "scikit-learn")},
        },
    }
