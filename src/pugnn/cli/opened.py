"""A finished run, opened again: what it says, its model, and the data that it was trained on."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from pugnn.cli.config import option_value, read_record
from pugnn.cli.input_data import read_input
from pugnn.cli.options import DataOptions
from pugnn.errors import PugnnError
from pugnn.files import remove_unfinished

if TYPE_CHECKING:
    from pugnn.runs.run import Run
    from pugnn.task import PUTask


def open_run(folder: Path) -> Run:
    """Open a run and its data.

    Without the graph in its folder, or with tables that have been written to since, these are read again: they must be
    where they were, and as they were.
    """
    from pugnn.estimator import PUNodeClassifier
    from pugnn.runs.kept_graph import open_kept, read_scores
    from pugnn.runs.run import Evidence, Results, Run, Settings, read_section
    from pugnn.training import scores_of

    file = folder / "run.json"
    remove_unfinished(folder)  # of a run that was killed while it added explanations
    if not file.is_file():
        raise PugnnError(f"{folder} is not a run folder: it has no run.json. Give the folder that `pugnn fit` wrote.")
    record = read_record(file)
    reasons = record.get("degenerate")
    sound = isinstance(reasons, list) and all(isinstance(each, dict) and "code" in each for each in reasons)
    for entry, is_sound in {"data": isinstance(record.get("data"), dict), "degenerate": sound}.items():
        if not is_sound:
            raise PugnnError(
                f"{file} was changed after the run: its entry {entry!r} is missing or of another form. Restore it, or "
                "train again with `pugnn fit`."
            )
    options, hints = record["options"], get_type_hints(DataOptions)
    given = {
        field.name: option_value(file, field.name, options[field.name], hints[field.name])
        for field in fields(DataOptions)
        if options.get(field.name) is not None
    }
    if not {"dataset", "positives"} & given.keys():
        raise PugnnError(f"{file} names no known positives, so the run cannot be opened again")
    estimator = PUNodeClassifier.load(folder / "model.safetensors")
    kept = open_kept(folder, record, given, estimator)
    data = kept or read_input(DataOptions(**given), seed=estimator.seed, recipe=estimator.recipe_)
    assert data.task is not None
    changed = "" if kept else _changes(data.task, record)
    if changed:
        raise PugnnError(f"the data have changed since {folder} was trained: {changed}. Train again with `pugnn fit`.")
    log_odds, shown = read_scores(folder / "scores.parquet", data.graph) or (None, {})
    estimator.restore(data.task, log_odds)
    return Run(
        path=folder,
        estimator=estimator,
        data=replace(data, shown=data.shown or shown),
        settings=read_section(Settings, record),
        evidence=read_section(Evidence, record),
        results=read_section(Results, record),
        scores=scores_of(estimator.decision_function()),
        log_odds=estimator.decision_function(),
        check_up=record.get("check_up", {}),
    )


def _changes(task: PUTask, record: dict[str, Any]) -> str:
    """What differs from the data of a run, in words; empty if nothing does."""
    from pugnn.graph import graph_statistics
    from pugnn.runs.run import count_nodes

    now = {**asdict(graph_statistics(task.graph)), **count_nodes(task)}
    then, before = {**record["data"], **record}, record["data"].get("digests", {})
    counts = [f"{name} is now {now[name]}, and was {then.get(name)}" for name in now if then.get(name) != now[name]]
    parts = [name for name, digest in task.digests.items() if before.get(name) != digest]
    if "ids or order of nodes" in parts:  # what is given by position cannot be compared then
        parts = [name for name in parts if name not in ("edges", "edge weights", "attributes")]
    words = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
    return "; ".join([*counts[:1], *([f"{words} differ"] if parts else [])])
