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

DATA, TRAINING, OUTPUT = "Data", "Training", "Output"
METHOD, PUGNN, OTHERS = "Method", "PU-GNN", "Other methods"

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
    float | None,
    typer.Option(
        help="Share of nodes to draw as known positives from a named data set; 0.01 if nothing is said.",
        rich_help_panel=DATA,
    ),
]
LabelRatioOf = Annotated[
    str | None,
    typer.Option(
        help="What it is a share of: all_nodes (if nothing is said), all_positives, train_positives or train_nodes.",
        rich_help_panel=DATA,
    ),
]
Labels = Annotated[
    int | None, typer.Option(help="Number of known positives to draw, instead of a share.", rich_help_panel=DATA)
]
UnlabelledNodes = Annotated[
    str | None,
    typer.Option(
        "--unlabelled",
        help="Nodes the loss takes as unlabelled: all (if nothing is said), or those of the train split.",
        rich_help_panel=DATA,
    ),
]
Out = Annotated[Path | None, typer.Option(help="The run folder; by default runs/NAME-1, -2, …", rich_help_panel=OUTPUT)]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with a run that was stopped; needs --out.", rich_help_panel=OUTPUT)
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
    dataset: str | None = None,
    edges: Path | None = None,
    features: Path | None = None,
    positives: Path | None = None,
    keep_isolated: bool = False,
    label_ratio: float | None = None,
    label_ratio_of: str | None = None,
    labels: int | None = None,
    unlabelled: str | None = None,
    seed: int = 0,
    draw: bool = True,
) -> Source:
    """Read what the data options name, a data set or CSV files; the task is missing only without positives.

    ``draw`` says whether known positives are drawn from a named data set.
    """
    for_tables: dict[str, object] = {"--edges": edges, "--features": features, "--positives": positives}
    for_draws: dict[str, object] = {
        "--labels": labels,
        "--label-ratio": label_ratio,
        "--label-ratio-of": label_ratio_of,
        "--unlabelled": unlabelled,
    }
    if dataset is not None:
        for_tables["--keep-isolated"] = True if keep_isolated else None
    for option, value in (for_draws if dataset is None else for_tables).items():
        if value is not None:
            other = "a named --dataset" if dataset is None else "CSV files; a named data set brings its own"
            raise PugnnError(f"{option} goes with {other}")
    if dataset is not None:
        return _from_dataset(dataset, label_ratio, label_ratio_of, labels, unlabelled, seed, draw)
    if edges is None or features is None:
        raise PugnnError("say what to read: --dataset NAME, or --edges FILE --features FILE")

    from pugnn.data import PUTask
    from pugnn.data.tables import read_graph, read_positives

    graph = read_graph(edges, features, keep_isolated=keep_isolated)
    description = {"edges_file": str(edges), "features_file": str(features)}
    if positives is None:
        return Source(graph, description)
    task = PUTask.from_positives(graph, read_positives(positives, graph))
    return Source(graph, {**description, "positives_file": str(positives)}, task)


def _from_dataset(
    name: str,
    label_ratio: float | None,
    label_ratio_of: str | None,
    labels: int | None,
    unlabelled: str | None,
    seed: int,
    draw: bool,
) -> Source:
    from pugnn.data import draw_benchmark, load_dataset

    if labels is not None and (label_ratio is not None or label_ratio_of is not None):
        raise PugnnError("give either --labels or --label-ratio, not both")
    data = load_dataset(name)
    if not draw:
        return Source(data.graph, {"dataset": name})
    protocol: dict[str, Any] = {"labels": labels}
    if labels is None:
        protocol = {
            "label_ratio": 0.01 if label_ratio is None else label_ratio,
            "label_ratio_of": label_ratio_of or "all_nodes",
        }
    protocol |= {"unlabelled": unlabelled or "all", "seed": seed}
    benchmark = draw_benchmark(data, **protocol)
    classes = [data.class_names[label] for label in data.labels]
    return Source(data.graph, {"dataset": name, **protocol}, benchmark.task, benchmark, classes)
