"""Options that several commands share, each described once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pugnn.errors import PugnnError

if TYPE_CHECKING:
    from pugnn.data import PUBenchmark, PUTask
    from pugnn.graph import Graph

DATA, TRAINING, METHOD, OUTPUT = "Data", "Training", "PU-GNN", "Output"

Dataset = Annotated[
    str | None,
    typer.Option(help="A named data set: cora, citeseer, pubmed, dblp, or one in $PUGNN_DATA.", rich_help_panel=DATA),
]
Edges = Annotated[
    Path | None,
    typer.Option(help="CSV with columns source, target and optionally weight.", rich_help_panel=DATA),
]
Features = Annotated[
    Path | None,
    typer.Option(help="CSV with a column id and numeric columns, one row per node.", rich_help_panel=DATA),
]
Positives = Annotated[
    Path | None, typer.Option(help="CSV with a column id: the known positives.", rich_help_panel=DATA)
]
KeepIsolated = Annotated[
    bool, typer.Option("--keep-isolated", help="Keep nodes that have features but no edge.", rich_help_panel=DATA)
]
LabelRatio = Annotated[
    float,
    typer.Option(help="Share of nodes to draw as known positives from a named data set.", rich_help_panel=DATA),
]
LabelRatioOf = Annotated[
    str,
    typer.Option(
        help="What it is a share of: all_nodes, all_positives, train_positives or train_nodes.", rich_help_panel=DATA
    ),
]
Labels = Annotated[
    int | None, typer.Option(help="Number of known positives to draw, instead of a share.", rich_help_panel=DATA)
]
UnlabelledNodes = Annotated[
    str,
    typer.Option(
        "--unlabelled",
        help="Nodes the loss takes as unlabelled: all, or those of the train split (named data sets).",
        rich_help_panel=DATA,
    ),
]
Seed = Annotated[int, typer.Option(help="Decides everything random; the same seed repeats the run exactly.", min=0)]
Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON on standard output.", rich_help_panel=OUTPUT)
]


@dataclass(frozen=True)
class Source:
    """Where the graph came from, and what is known of it."""

    graph: Graph
    description: dict[str, Any]
    task: PUTask | None = None
    benchmark: PUBenchmark | None = None
    class_of_node: list[str] | None = None


def read_source(
    *,
    dataset: str | None,
    edges: Path | None,
    features: Path | None,
    positives: Path | None,
    keep_isolated: bool = False,
    label_ratio: float = 0.01,
    label_ratio_of: str = "all_nodes",
    labels: int | None = None,
    unlabelled: str = "all",
    seed: int = 0,
    draw: bool = True,
) -> Source:
    """Read what the data options name, a data set or CSV files; the task is missing only without positives.

    ``draw`` says whether known positives are drawn from a named data set.
    """
    from pugnn.data import PUTask, draw_benchmark, load_dataset
    from pugnn.data.tables import read_graph, read_positives

    if dataset is not None:
        given = [name for name, value in (("--edges", edges), ("--features", features)) if value is not None]
        if given:
            raise PugnnError(f"give either --dataset or {given[0]}, not both")
        if positives is not None:
            raise PugnnError("--positives goes with --edges and --features; a named data set draws its own (--labels)")
        data = load_dataset(dataset)
        if not draw:
            return Source(data.graph, {"dataset": dataset})
        benchmark = draw_benchmark(
            data,
            label_ratio=None if labels is not None else label_ratio,
            label_ratio_of=label_ratio_of,  # type: ignore[arg-type]
            labels=labels,
            unlabelled=unlabelled,  # type: ignore[arg-type]
            seed=seed,
        )
        description = {"dataset": dataset, "label_ratio_of": label_ratio_of, "unlabelled": unlabelled}
        classes = [data.class_names[label] for label in data.labels]
        return Source(data.graph, description, benchmark.task, benchmark, classes)
    if edges is None or features is None:
        raise PugnnError("say what to read: --dataset NAME, or --edges FILE --features FILE")
    for option, asked in (("--labels", labels is not None), ("--unlabelled", unlabelled != "all")):
        if asked:
            raise PugnnError(f"{option} goes with --dataset; with --edges the positives come from --positives FILE")
    graph = read_graph(edges, features, keep_isolated=keep_isolated)
    description = {"edges_file": str(edges), "features_file": str(features)}
    if positives is None:
        return Source(graph, description)
    task = PUTask.from_positives(graph, read_positives(positives, graph))
    return Source(graph, {**description, "positives_file": str(positives)}, task)
