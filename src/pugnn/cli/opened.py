"""A finished run, opened again: what it says, its model, and the data that it was trained on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from pugnn.cli.config import option_value, read_config
from pugnn.cli.input_data import read_input
from pugnn.cli.options import DataOptions
from pugnn.errors import PugnnError
from pugnn.files import remove_unfinished

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pugnn.estimator import PUNodeClassifier
    from pugnn.runs.run import InputData
    from pugnn.task import PUTask


@dataclass(frozen=True, kw_only=True)
class OpenedRun:
    """A run folder, the content of its ``run.json``, its model, its data, and scores and log-odds by position."""

    path: Path
    record: dict[str, Any]
    estimator: PUNodeClassifier
    data: InputData
    scores: NDArray[np.float64]
    log_odds: NDArray[np.float64]


def open_run(folder: Path) -> OpenedRun:
    """Read a run and its data again; the tables must be where they were, and as they were."""
    from pugnn.estimator import PUNodeClassifier
    from pugnn.fitting import KNOWN_NEGATIVE
    from pugnn.training import scores_of

    file = folder / "run.json"
    remove_unfinished(folder)  # of a run that was killed while it added explanations
    if not file.is_file():
        raise PugnnError(f"{folder} is not a run folder: it has no run.json. Give the folder that `pugnn fit` wrote.")
    options, record = read_config(file), json.loads(file.read_text(encoding="utf-8-sig"))
    _require_sound(file, record)
    estimator = PUNodeClassifier.load(folder / "model.safetensors")
    hints = get_type_hints(DataOptions)
    given = {
        field.name: option_value(file, field.name, options[field.name], hints[field.name])
        for field in fields(DataOptions)
        if options.get(field.name) is not None
    }
    data = read_input(DataOptions(**given), seed=estimator.seed, recipe=estimator.recipe_)
    if data.task is None:
        raise PugnnError(f"{file} names no known positives, so the run cannot be opened again")
    changed = _changes(data.task, record)
    if changed:
        raise PugnnError(f"the data have changed since {folder} was trained: {changed}. Train again with `pugnn fit`.")
    log_odds = estimator.decision_function(data.graph)
    log_odds[data.task.negative] = KNOWN_NEGATIVE  # as in the run
    return OpenedRun(
        path=folder,
        record=record,
        estimator=estimator,
        data=data,
        scores=scores_of(log_odds),
        log_odds=log_odds,
    )


def _changes(task: PUTask, record: dict[str, Any]) -> str:
    """What differs from the data of a run, in words; empty if nothing does."""
    from pugnn.graph import graph_statistics

    nodes = ("labelled", "unlabelled", "negative")
    now = {**asdict(graph_statistics(task.graph)), **{name: len(getattr(task, name)) for name in nodes}}
    then = {**record["data"], **{name: record.get(name, 0) for name in nodes}}  # at first there were no negatives
    counts = [
        f"{name} is now {value}, and was {then.get(name)}" for name, value in now.items() if then.get(name) != value
    ]
    before = record["data"].get("digests", task.digests)  # at first there were none
    parts = [name for name, digest in task.digests.items() if before.get(name) != digest]
    if "ids or order of nodes" in parts:  # what is given by position cannot be compared then
        parts = [name for name in parts if name not in ("edges", "edge weights", "attributes")]
    words = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
    return "; ".join([*counts[:1], *([f"{words} differ"] if parts else [])])


def _require_sound(file: Path, record: dict[str, Any]) -> None:
    """Raise if what is read below, or by a command, is not what a run writes: somebody has edited the file."""
    reasons = record.get("degenerate")
    sound = {
        "data": isinstance(record.get("data"), dict) and isinstance(record["data"].get("digests", {}), dict),
        "degenerate": isinstance(reasons, list)
        and all(isinstance(each, dict) and isinstance(each.get("code"), str) for each in reasons),
    }
    for name, is_sound in sound.items():
        if not is_sound:
            raise PugnnError(
                f"{file} was changed after the run: its entry {name!r} is missing or of another form. Restore it, or "
                "train again with `pugnn fit`."
            )
