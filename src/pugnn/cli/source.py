"""From the data options to a graph, its known positives and what else is known of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pugnn.cli.waiting import shown_phases
from pugnn.errors import PugnnError

if TYPE_CHECKING:
    from pugnn.features import Statement
    from pugnn.graph import Graph
    from pugnn.task import PUBenchmark, PUTask


@dataclass(frozen=True, kw_only=True)
class Source:
    """What the data options name.

    Args:
        name: a short name for runs made from it.
        graph: the graph.
        options: the data options that were given, by name: with them ``run.json`` repeats the run.
        notes: what was repaired, one sentence each.
        recipe: how attributes became features, one statement per column.
        task: the graph with its known positives, where they are given.
        benchmark: the truth, where it is known.
        class_of_node: true class of each node by name, where there are classes.
    """

    name: str
    graph: Graph
    options: dict[str, Any]
    notes: tuple[str, ...] = ()
    recipe: tuple[Statement, ...] = ()
    task: PUTask | None = None
    benchmark: PUBenchmark | None = None
    class_of_node: list[str] | None = None


def read_source(
    *,
    dataset: str | None = None,
    edges: str | None = None,
    nodes: str | None = None,
    attributes: str | None = None,
    positives: str | None = None,
    truth: str | None = None,
    source: str | None = None,
    target: str | None = None,
    node_id: str | None = None,
    weight: str | None = None,
    label: str | None = None,
    columns: list[str] | None = None,
    label_ratio: float | None = None,
    label_ratio_of: str | None = None,
    labels: int | None = None,
    unlabelled: str | None = None,
    seed: int = 0,
    draw: bool = True,
    recipe: Mapping[str, Any] | None = None,
) -> Source:
    """Read what the data options name, a data set or tables; the task is missing only without positives.

    ``draw`` says whether known positives are drawn from a named data set; ``recipe`` is the one of a model, to make
    the same features as it was trained with.
    """
    for_tables = {
        "edges": edges,
        "nodes": nodes,
        "attributes": attributes,
        "positives": positives,
        "truth": truth,
        "source": source,
        "target": target,
        "id": node_id,
        "weight": weight,
        "label": label,
        "column": columns or None,
    }
    for_draws = {"labels": labels, "label_ratio": label_ratio, "label_ratio_of": label_ratio_of}
    for_draws["unlabelled"] = unlabelled
    for name, value in (for_draws if dataset is None else for_tables).items():
        if value is not None:
            other = "a named --dataset" if dataset is None else "tables; a named data set brings its own"
            raise PugnnError(f"--{name.replace('_', '-')} goes with {other}")
    if dataset is not None:
        return _from_dataset(dataset, label_ratio, label_ratio_of, labels, unlabelled, seed, draw)
    if edges is None:
        raise PugnnError("say what to read: --dataset NAME, or --edges FILE [--nodes FILE]")
    return _from_tables({name: value for name, value in for_tables.items() if value is not None}, recipe)


def _from_tables(options: dict[str, Any], recipe: Mapping[str, Any] | None) -> Source:
    from pugnn.io import read_graph
    from pugnn.task import PUBenchmark

    given = dict(options)
    kinds = dict(map(_name_and_kind, given.pop("column", ())))
    if "truth" in given and "positives" not in given:
        raise PugnnError("--truth says which nodes are positive; --positives which of them are known. Give both.")
    with shown_phases() as on_phase:
        data = read_graph(**given, kinds=kinds, recipe=recipe, on_phase=on_phase)
    benchmark = None
    if data.task is not None and data.positive is not None:
        benchmark = PUBenchmark.of_unlabelled(data.task, data.positive)
    return Source(
        name=_short_name(options["edges"]),
        graph=data.graph,
        options=options,
        notes=data.notes,
        recipe=tuple(data.recipe.describe()),
        task=data.task,
        benchmark=benchmark,
    )


def _name_and_kind(text: str) -> tuple[str, str]:
    name, equals, kind = text.rpartition("=")
    if not name or not equals:
        raise PugnnError(f"--column takes NAME=KIND, such as zip=category; got {text!r}")
    return name, kind


def _short_name(edges: str) -> str:
    """``data/edges.csv.gz`` → ``edges``, ``edges-*.parquet`` → ``edges``."""
    file = re.split(r"[/\\]", edges)[-1].split(".")[0]
    return re.sub(r"[^\w-]+", "", file).strip("-_") or "run"


def _from_dataset(
    name: str,
    label_ratio: float | None,
    label_ratio_of: str | None,
    labels: int | None,
    unlabelled: str | None,
    seed: int,
    draw: bool,
) -> Source:
    from pugnn.data import load_dataset
    from pugnn.task import draw_benchmark

    if labels is not None and (label_ratio is not None or label_ratio_of is not None):
        raise PugnnError("give either --labels or --label-ratio, not both")
    data = load_dataset(name)
    if not draw:
        return Source(name=name, graph=data.graph, options={"dataset": name})
    protocol: dict[str, Any] = {"labels": labels}
    if labels is None:
        protocol = {
            "label_ratio": 0.01 if label_ratio is None else label_ratio,
            "label_ratio_of": label_ratio_of or "all_nodes",
        }
    protocol["unlabelled"] = unlabelled or "all"
    benchmark = draw_benchmark(data, **protocol, seed=seed)
    return Source(
        name=name,
        graph=data.graph,
        options={"dataset": name, **protocol},
        task=benchmark.task,
        benchmark=benchmark,
        class_of_node=[data.class_names[label] for label in data.labels],
    )
