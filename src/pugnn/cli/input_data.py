"""From the data options, or from a finished run, to a graph, its known positives and its truth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, get_type_hints

from pugnn.cli.config import option_value, read_record
from pugnn.cli.options import FEEDBACK, FOR_DRAWS, FOR_GRAPHS, GIVEN_BY_NAME, DataOptions, flag
from pugnn.errors import PugnnError, counted
from pugnn.files import remove_unfinished
from pugnn.waiting import status_line

if TYPE_CHECKING:
    from pugnn.estimator import PUNodeClassifier
    from pugnn.runs.run import InputData, Run
    from pugnn.task import PUTask

_NO_TIMES = (
    "{0} cannot be used with --store: a store keeps no times. Build one of the same tables as of then, and use that: "
    "pugnn build --edges FILE … --time COLUMN --as-of {1} --out FOLDER"
)


def read_input(
    data: DataOptions, *, seed: int = 0, known: bool = True, recipe: Mapping[str, Any] | None = None
) -> InputData:
    """Read what the data options name, a data set or tables.

    Unless known positives are needed, none are drawn from a data set, and tables may lack them. The recipe of a model
    makes the features that it was trained with.
    """
    given = {name: value for name, value in vars(data).items() if value not in (None, [], False)}
    for name in (*GIVEN_BY_NAME, "time"):
        if isinstance(given.get(name), list) and len(given[name]) == 1:
            given[name] = given[name][0]
    for name in given:
        if name not in ("dataset", *FEEDBACK) and (name in FOR_DRAWS) == (data.dataset is None):
            raise PugnnError(f"{flag(name)} {'can only' if name in FOR_DRAWS else 'cannot'} be used with --dataset")
        if data.store is not None and name in FOR_GRAPHS:
            if name in ("time", "as_of"):
                raise PugnnError(_NO_TIMES.format(flag(name), quote(data.as_of or "MOMENT")))
            raise PugnnError(f"{flag(name)} cannot be used with --store, which holds the graph and its features")
    if data.dataset is not None:
        return _from_dataset(data.dataset, data, seed, known)
    if data.edges is None and data.store is None:
        raise PugnnError("specify what to read: --dataset NAME, or --edges FILE [--nodes FILE], or --store FOLDER")
    found = _from_tables(given, recipe)
    if known and found.task is None:
        raise PugnnError("specify the known positives: --positives FILE")
    return found


def _from_tables(options: dict[str, Any], recipe: Mapping[str, Any] | None) -> InputData:
    from pugnn.runs.kept_graph import input_states
    from pugnn.runs.run import InputData
    from pugnn.store import read_graph, read_store
    from pugnn.store.assembly.input_tables import named_tables
    from pugnn.task import PUBenchmark

    if "truth" in options and "positives" not in options:
        raise PugnnError("--truth says which nodes are positive; --positives which of them are known. Give both.")
    inputs = input_states(options)  # before they are read: a change meanwhile is a change
    given = {name: value for name, value in options.items() if name not in FEEDBACK}
    with status_line() as line:
        if "store" in given:
            data = read_store(given.pop("store"), **given, on_phase=line.say)
        else:
            kinds = named_kinds(given.pop("column", ()))
            show = [name.strip() for name in given.pop("show", "").split(",") if name.strip()]
            data = read_graph(**by_name(given), kinds=kinds, recipe=recipe, show=show, on_phase=line.say)
    if "store" in options and recipe is not None and data.graph.recipe != recipe:
        words = f"the features in {options['store']} were made by a recipe different from the model's"
        raise PugnnError(f"{words}. Build the store for this model: pugnn build … --model RUN")
    benchmark = None
    if data.task is not None and data.positive is not None:
        benchmark = PUBenchmark.of_unlabelled(data.task, data.positive)
    found = InputData(
        name=_short_name(options.get("store") or named_tables(options["edges"])[0][1]),
        graph=data.graph,
        options=options,
        notes=data.notes,
        recipe=tuple(data.recipe.describe()),
        task=data.task,
        benchmark=benchmark,
        shown=data.shown,
        inputs=inputs,
    )
    columns = {"id": options.get("id"), "label": options.get("label"), "usual": data.id_column}
    return _with_feedback(found, options, options.get("positives", ""), **columns)


def _with_feedback(found: InputData, options: Mapping[str, Any], known_from: str, **columns: Any) -> InputData:
    """The same data with the checked nodes that the options name: they are known, and no longer test nodes."""
    lists: dict[str, Any] = {name: options[name] for name in FEEDBACK if options.get(name)}
    if not lists:
        return found
    if found.task is None:
        raise PugnnError(f"{', '.join(map(flag, lists))} adds to what is known; give --positives as well")
    import numpy as np

    from pugnn.store import read_feedback

    feedback = read_feedback(found.graph, found.task.labelled, known_from, **lists, **columns)
    task, benchmark = found.task.with_feedback(feedback.confirmed, feedback.rejected), found.benchmark
    if not len(task.unlabelled):
        raise PugnnError("all nodes are known positives or rejected, so there is nothing left to find")
    if benchmark is not None:
        scored = np.setdiff1d(benchmark.scored, np.concatenate([feedback.confirmed, feedback.rejected]))
        benchmark = replace(benchmark, task=task, scored=scored)
    notes, recorded = (*found.notes, *feedback.notes), {**found.options, **lists}
    return replace(found, task=task, benchmark=benchmark, feedback=feedback, notes=notes, options=recorded)


def by_name(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a graph as :func:`pugnn.read_graph` takes them: files, and columns of times, by name."""
    from pugnn.store.assembly.input_tables import tables_of

    named = {name: tables_of(options[name], name) for name in GIVEN_BY_NAME if options.get(name)}
    return {**options, **named, **({"time": _named_times(options["time"])} if options.get("time") else {})}


def _named_times(texts: str | Iterable[str]) -> dict[str, str]:
    """Columns of times by the name of the table, from ``NAME=COLUMN``; the name is empty if there is none."""
    found: dict[str, str] = {}
    for text in [texts] if isinstance(texts, str) else texts:
        name, _, column = text.rpartition("=")
        if name in found:
            raise PugnnError(f"--time names two columns for the same tables, {found[name]!r} and {column!r}; name one")
        found[name] = column
    return found


def named_kinds(columns: Iterable[str]) -> dict[str, str]:
    """Kinds of columns by name, from ``NAME=KIND``."""
    kinds = {}
    for text in columns:
        name, _, kind = text.rpartition("=")
        if not name:
            raise PugnnError(f"--column takes NAME=KIND, such as zip=category; got {text!r}")
        kinds[name] = kind
    return kinds


def _short_name(edges: str) -> str:
    """``data/edges.csv.gz`` → ``edges``, ``sqlite:///bank.db?pays`` → ``bank``, ``stores/mine/`` → ``mine``."""
    place = edges.partition("?")[0] if "://" in edges else edges
    file = re.split(r"[/\\]", place.rstrip("/\\"))[-1].split(".")[0]
    return re.sub(r"[^\w-]+", "", file).strip("-_") or "run"


def _from_dataset(name: str, options: DataOptions, seed: int, known: bool) -> InputData:
    from pugnn.datasets import load_dataset
    from pugnn.runs.run import InputData
    from pugnn.task import draw_benchmark

    if options.labels is not None and (options.label_ratio is not None or options.label_ratio_of is not None):
        raise PugnnError("give either --labels or --label-ratio, not both")
    data = load_dataset(name)
    if not known:
        return InputData(name=name, graph=data.graph, options={"dataset": name})
    protocol: dict[str, Any] = {"labels": options.labels}
    if options.labels is None:
        protocol = {
            "label_ratio": 0.01 if options.label_ratio is None else options.label_ratio,
            "label_ratio_of": options.label_ratio_of or "all_nodes",
        }
    protocol["unlabelled"] = options.unlabelled or "all"
    benchmark = draw_benchmark(data, **protocol, seed=seed)
    found = InputData(
        name=name,
        graph=data.graph,
        options={"dataset": name, **protocol},
        task=benchmark.task,
        benchmark=benchmark,
        class_of_node=[data.class_names[label] for label in data.labels],
    )
    return _with_feedback(found, vars(options), f"the {counted(len(benchmark.task.labelled), 'label')} drawn")


def open_run(folder: Path) -> Run:
    """Open a run and its data.

    Without the graph in its folder, or with tables that have been written to since, these are read again: they must be
    where they were, and as they were.
    """
    from pugnn.features import Statement
    from pugnn.runs.kept_graph import open_kept, read_scores
    from pugnn.runs.run import Evidence, Results, Run, Settings, read_section
    from pugnn.runs.writers import read_log
    from pugnn.training import scores_of

    record, given, estimator = read_run(folder)
    file = folder / "run.json"
    reasons = record.get("degenerate")
    sound = isinstance(reasons, list) and all(isinstance(each, dict) and "code" in each for each in reasons)
    for entry, is_sound in {"data": isinstance(record.get("data"), dict), "degenerate": sound}.items():
        if not is_sound:
            words = f"{file} was changed after the run: its entry {entry!r} is missing or of another form"
            raise PugnnError(f"{words}. Restore it, or train again with `pugnn fit`.")
    kept = open_kept(folder, record, given, estimator)
    data = kept or read_input(DataOptions(**given), seed=estimator.seed, recipe=estimator.recipe_)
    assert data.task is not None
    changed = "" if kept else _differences(data.task, record)
    if changed:
        raise PugnnError(f"the data have changed since {folder} was trained: {changed}. Train again with `pugnn fit`.")
    log_odds, shown = read_scores(folder / "scores.parquet", data.graph) or (None, {})
    estimator.restore(data.task, log_odds)
    return Run(
        path=folder,
        estimator=estimator,
        data=replace(
            data,
            shown=data.shown or shown,
            notes=tuple(record.get("notes", ())),
            recipe=tuple(Statement(**line) for line in record.get("recipe", ())),
        ),
        settings=read_section(Settings, record),
        evidence=read_section(Evidence, record),
        results=read_section(Results, record),
        scores=scores_of(estimator.decision_function()),
        log_odds=estimator.decision_function(),
        check_up=record.get("check_up", {}),
        log=read_log(folder / "log.csv"),
    )


def read_run(folder: Path) -> tuple[dict[str, Any], dict[str, Any], PUNodeClassifier]:
    """What ``run.json`` says of a run, the data options among it, and the run's classifier."""
    from pugnn.estimator import PUNodeClassifier

    file = folder / "run.json"
    remove_unfinished(folder)  # of a run that was killed while it added explanations
    if not file.is_file():
        raise PugnnError(f"{folder} is not a run folder: it has no run.json. Give the folder that `pugnn fit` wrote.")
    record = read_record(file)
    options, hints = record["options"], get_type_hints(DataOptions)
    given = {
        field.name: option_value(file, field.name, options[field.name], hints[field.name])
        for field in fields(DataOptions)
        if options.get(field.name) is not None
    }
    if not {"dataset", "positives"} & given.keys():
        raise PugnnError(f"{file} names no known positives, so the run cannot be opened again")
    return record, given, PUNodeClassifier.load(folder / "model.safetensors")


def _differences(task: PUTask, record: dict[str, Any]) -> str:
    """What differs from the data of a run, in words; empty if nothing does."""
    from pugnn.graph import graph_statistics
    from pugnn.graph.digests import NODES
    from pugnn.runs.run import count_nodes

    now = {**asdict(graph_statistics(task.graph)), **count_nodes(task)}
    then, before = {**record["data"], **record}, record["data"].get("digests", {})
    counts = [f"{name} is now {now[name]}, and was {then.get(name)}" for name in now if then.get(name) != now[name]]
    parts = [name for name, digest in task.digests.items() if before.get(name) != digest]
    if NODES in parts:  # what is given by position cannot be compared then
        parts = [name for name in parts if name == NODES or name not in task.graph.digests]
    words = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
    return "; ".join([*counts[:1], *([f"{words} differ"] if parts else [])])
