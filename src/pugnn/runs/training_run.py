"""From what was read to a complete run folder."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pugnn.checkup import CheckUp
from pugnn.errors import DegenerateWarning, PugnnWarning
from pugnn.estimator import PUNodeClassifier
from pugnn.explain.explaining import MAX_EXACT, explain_best
from pugnn.explain.parts import explanation_memory
from pugnn.explain.suggest import GOALS
from pugnn.files import write_json
from pugnn.memory import available_memory, memory_words
from pugnn.runs.audit_table import MAX_NODES_EXPLAINED
from pugnn.runs.changes import EarlierRun
from pugnn.runs.estimates import find_evidence
from pugnn.runs.folder import RunFolder
from pugnn.runs.kept_graph import keep_graph
from pugnn.runs.report import write_report
from pugnn.runs.run import InputData, Results, Run, Settings
from pugnn.runs.writers import MAX_IN_CSV, score_table, write_log, write_scores
from pugnn.training import scores_of
from pugnn.training.planning import memory_on
from pugnn.training.progress import stage_progress
from pugnn.waiting import part

NO_CSV = f"scores.csv is left out: more than {MAX_IN_CSV:,} nodes are too many for a spreadsheet; see scores.parquet"

TO_EXPLAIN = "To explain a node: pugnn explain RUN ID"
#: What a run says that was stopped after its results were complete.
STOPPED = (
    f"the run was stopped before it had suggested nodes and explained the best finds. {TO_EXPLAIN}; to suggest nodes: "
    "pugnn suggest RUN"
)

#: Share of the time after which a run is trained and scored, and after which only its report is left, roughly.
TRAINED, EXPLAINED = 0.8, 0.95

#: Nodes suggested for each goal.
SUGGESTED = 5


@part(0, 1)
def train_into_folder(
    estimator: PUNodeClassifier,
    data: InputData,
    folder: RunFolder,
    check_up: CheckUp,
    before: EarlierRun | None = None,
) -> Run:
    """Train, score every node and write scores, report, model, log and ``run.json``.

    Suggestions and explanations are added to report and ``run.json`` when the run is complete and has its name, so
    it stays whatever happens to them.

    Args:
        estimator: not fitted yet.
        data: what was read, with known positives.
        folder: where to put it all; it stays partial, with a checkpoint, if the run is stopped.
        check_up: what was found before training.
        before: an earlier run to go on from.
    """
    started, task = time.perf_counter(), data.task
    assert task is not None
    try:
        with _noted_warnings() as noted, part(0, TRAINED):
            start = None if before is None else before.classifier
            estimator.fit_task(task, checkpoint=folder.checkpoint, start=start)
            trained = time.perf_counter()
            log_odds = estimator.decision_function()
            scores = scores_of(log_odds)
            results = Results(
                threshold=estimator.threshold_,
                prior=estimator.prior_,
                decided_by=estimator.decided_by_,
                degenerate=[asdict(reason) for reason in estimator.degenerate_],
                method_notes=list(estimator.notes_),
            )
            if before is not None:
                results.changes = before.changes(task, scores, warm=estimator.warm_, log_odds=log_odds)
            run = Run(
                path=folder.path,
                estimator=estimator,
                data=data,
                settings=Settings.of(estimator, data.options, None if before is None else before.parent(folder.path)),
                evidence=find_evidence(estimator, task, check_up, log_odds, scores, data.benchmark),
                results=results,
                scores=scores,
                log_odds=log_odds,
                check_up=check_up.to_plain(),
                log=estimator.log_,
            )
            written = _write_results(folder.partial, run)
        results.warnings = [*noted, STOPPED]
        results.seconds = {"training": round(trained - started, 3)}
        _write(folder.partial, run, started)
        folder.finish([*written, "report.html", "run.json"])
    except BaseException:
        folder.abandon()
        raise
    with _noted_warnings() as later:
        results.suggestions = _if_possible("suggestions", lambda: _suggestions(run))
        with part(TRAINED, EXPLAINED), stage_progress("explaining the best finds", show=estimator.progress):
            results.explanations = _if_possible("explanations", lambda: _explanations(run)) or []
        results.warnings = noted + later
        if (folder.path / "run.json").exists():  # nobody has moved the run in the meantime
            with part(EXPLAINED, 1), stage_progress("writing the report", show=estimator.progress):
                _if_possible("suggestions and explanations", lambda: _write(folder.path, run, started))
    return run


def _write_results(folder: Path, run: Run) -> list[str]:
    """Write scores, model, graph and log; the names of what must be there then."""
    task, threshold, shown = run.task, run.results.threshold, run.data.shown
    table = score_table(task.graph, run.scores, threshold, task, log_odds=run.log_odds, order=run.order, shown=shown)
    write_scores(folder / "scores.parquet", table)
    if task.graph.num_targets <= MAX_IN_CSV:
        write_scores(folder / "scores.csv", table)
    else:
        warnings.warn(NO_CSV, PugnnWarning, stacklevel=2)
    run.estimator.save(folder / "model.safetensors")
    keep_graph(folder, run.data)
    if run.log:  # label propagation trains nothing
        write_log(folder / "log.csv", run.log)
    return ["scores.parquet", "model.safetensors", *(["log.csv"] if run.log else [])]


def _write(folder: Path, run: Run, started: float) -> None:
    """Write the report and ``run.json``."""
    run.results.seconds["total"] = round(time.perf_counter() - started, 3)
    write_report(folder / "report.html", run)
    write_json(folder / "run.json", run.record)


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


def _suggestions(run: Run) -> dict[str, list[dict[str, Any]]] | None:
    """Which nodes to check next; none where the ranking means nothing, and no best finds where there is no signal."""
    if not run.results.ranked:
        return None
    found = run.suggest(GOALS, min(SUGGESTED, len(run.task.unlabelled)))
    return found if run.evidence.signal else found | {"precision": []}


def _explanations(run: Run) -> list[dict[str, Any]]:
    """Why the best finds score so high; none where that takes long, or more memory than there is."""
    graph, estimator = run.task.graph, run.estimator
    needed = explanation_memory(estimator.model_, graph, MAX_EXACT)
    if graph.num_nodes > MAX_NODES_EXPLAINED or needed > min(available_memory(), memory_on(estimator.device)):
        words = f"the graph is large, and they take about {memory_words(needed)} of memory"
        warnings.warn(f"explanations are left out: {words}. {TO_EXPLAIN}", PugnnWarning, stacklevel=2)
        return []
    found = explain_best(estimator, run.task, run.log_odds, run.data.shown, None, run.order)
    return [each.to_plain() for each in found]
