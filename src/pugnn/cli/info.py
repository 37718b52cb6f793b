"""`pugnn info`: look at a graph and its known positives before training."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from pugnn.cli import options
from pugnn.cli.options import Source, read_source

if TYPE_CHECKING:
    from pugnn.data import PUTask

#: Expected known neighbours below which the observed number says nothing.
TOO_FEW = 5


def info(
    dataset: options.Dataset = None,
    edges: options.Edges = None,
    features: options.Features = None,
    positives: options.Positives = None,
    keep_isolated: options.KeepIsolated = False,
    label_ratio: options.LabelRatio = None,
    label_ratio_of: options.LabelRatioOf = None,
    labels: options.Labels = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Show sizes, the number of nodes at each distance from the known positives, and homophily.

    The rings help to choose `--delta`: the near set should be neither tiny nor nearly everything.

    Examples:

        pugnn info --dataset cora --labels 10

        pugnn info --edges edges.csv --features features.csv --positives positives.csv
    """
    from pugnn.graph import graph_statistics

    source = read_source(
        dataset=dataset,
        edges=edges,
        features=features,
        positives=positives,
        keep_isolated=keep_isolated,
        label_ratio=label_ratio,
        label_ratio_of=label_ratio_of,
        labels=labels,
        seed=seed,
    )
    record: dict[str, Any] = {
        **source.description,
        **asdict(graph_statistics(source.graph)),
        "weighted": source.graph.weights is not None,
        "cleaning": asdict(source.graph.cleaning),
    }
    if source.task is not None:
        record |= {"labelled": len(source.task.labelled), "rings": _rings(source)}
        record["homophily"] = _homophily(source, source.task)
    if as_json:
        typer.echo(json.dumps(record))
    else:
        _print(record, source)


def _rings(source: Source) -> list[dict[str, Any]]:
    """Unlabelled nodes by distance, and the share of true positives among them where it is known."""
    import numpy as np

    from pugnn.graph import UNREACHABLE, hop_distances

    assert source.task is not None
    distance = hop_distances(source.graph, source.task.labelled)[source.task.unlabelled]
    rings: list[dict[str, Any]] = []
    for hops in np.unique(distance):
        members = source.task.unlabelled[distance == hops]
        ring: dict[str, Any] = {
            "distance": None if hops == UNREACHABLE else int(hops),
            "nodes": len(members),
            "share_within": round(float((distance <= hops).mean()), 4),
        }
        if source.benchmark is not None:
            ring["positive_share"] = round(float(source.benchmark.positive[members].mean()), 4)
        rings.append(ring)
    return rings


def _homophily(source: Source, task: PUTask) -> dict[str, Any]:
    """How many links of known positives lead to known positives, against what chance would give."""
    import numpy as np

    from pugnn.graph import edge_homophily

    known = np.zeros(source.graph.num_nodes, dtype=bool)
    known[task.labelled] = True
    neighbours = source.graph.indices[known[source.graph.sources]]
    chance = (len(task.labelled) - 1) / max(source.graph.num_nodes - 1, 1)
    result: dict[str, Any] = {
        "links_of_known": len(neighbours),
        "to_known": int(known[neighbours].sum()),
        "expected_by_chance": round(chance * len(neighbours), 2),
    }
    if source.benchmark is not None:
        result["true_edge_homophily"] = round(edge_homophily(source.graph, source.benchmark.positive), 4)
    return result


def _print(record: dict[str, Any], source: Source) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from pugnn.cli.tables import pairs_table

    console = Console(highlight=False, emoji=False)
    rows = [
        (name.replace("_", " "), f"{record[name]:,}" if isinstance(record[name], int) else f"{record[name]:.2f}")
        for name in ("nodes", "edges", "features", "isolated", "components", "largest_component", "mean_degree")
    ]
    rows += [("weights", "yes" if record["weighted"] else "no"), ("cleaning", str(source.graph.cleaning))]
    console.print(pairs_table("Graph", rows))
    if "rings" not in record:
        console.print("No positives given: add --positives FILE to see rings and homophily.")
        return
    truth = source.benchmark is not None
    table = Table(title=f"Unlabelled nodes by distance to {record['labelled']:,} known positives", box=box.SIMPLE)
    table.add_column("hops", justify="right")
    table.add_column("nodes", justify="right")
    table.add_column("share up to here", justify="right")
    if truth:
        table.add_column("truly positive", justify="right")
    for ring in record["rings"]:
        hops = "unreachable" if ring["distance"] is None else str(ring["distance"])
        row = [hops, f"{ring['nodes']:,}", f"{100 * ring['share_within']:.1f} %"]
        table.add_row(*row, *([f"{100 * ring['positive_share']:.1f} %"] if truth else []))
    console.print(table)
    mixing = record["homophily"]
    words = (
        f"Of {mixing['links_of_known']:,} links of known positives, {mixing['to_known']:,} lead to known positives; "
        f"chance would give {mixing['expected_by_chance']:.1f}."
    )
    if mixing["expected_by_chance"] < TOO_FEW:
        words += " That is too few to tell whether positives keep together."
    if truth:
        words += f" Truly, {100 * mixing['true_edge_homophily']:.1f} % of all edges join nodes of the same kind."
    console.print(words)
