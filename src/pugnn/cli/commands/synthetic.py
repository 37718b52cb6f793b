"""`pugnn synthetic`: a graph of any size whose positives are known, as tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pugnn.cli import options
from pugnn.cli.app import DATA_SETS, command
from pugnn.cli.options import OUTPUT, option


@command(DATA_SETS)
def synthetic(
    *,
    nodes: Annotated[int, option("Number of nodes, at least 100.")],
    mean_degree: Annotated[float, option("Mean degree; the table of edges has half as many rows per node.")] = 20.0,
    features: Annotated[int, option("Number of features.")] = 32,
    share: Annotated[float, option("Share of positives among all nodes.")] = 0.1,
    labels: Annotated[int, option("Number of known positives.")] = 100,
    homophily: Annotated[float, option("Share of edges inside a community; the others end anywhere.")] = 0.6,
    seed: options.Seed = 0,
    out: Annotated[Path, option("A new folder.", panel=OUTPUT)] = Path("synthetic"),
    as_json: options.Json = False,
) -> None:
    """Write a random graph as `edges.parquet`, `nodes.parquet`, `positives.parquet` and `truth.parquet`.

    The positives are one community, the negatives several. Degrees have a heavy tail, and a node's own features say
    little. Memory does not grow with the graph.

    Example:

        pugnn synthetic --nodes 1000000 --out big
    """
    from pugnn.datasets.planted import TABLES, write_planted

    write_planted(
        out,
        nodes=nodes,
        mean_degree=mean_degree,
        features=features,
        share=share,
        labels=labels,
        homophily=homophily,
        seed=seed,
    )
    written = [str(out / name) for name in TABLES]
    typer.echo(json.dumps({"files": written}) if as_json else "\n".join(written))
