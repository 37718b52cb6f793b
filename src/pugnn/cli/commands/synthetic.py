"""`pugnn synthetic`: a graph of any size whose positives are known, as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pugnn.cli.options import DATA_SETS, OUTPUT, Json, Seed, command, option
from pugnn.cli.terminal import print_files


@command(DATA_SETS)
def synthetic(
    *,
    nodes: Annotated[int, option("Number of nodes, at least 100.")],
    mean_degree: Annotated[float, option("Mean degree; the table of edges has half as many rows per node.")] = 20.0,
    features: Annotated[int, option("Number of features.")] = 32,
    share: Annotated[float, option("Share of positives among all nodes.")] = 0.1,
    labels: Annotated[int, option("Number of known positives.")] = 100,
    homophily: Annotated[float, option("Share of edges inside a community; the others end anywhere.")] = 0.6,
    seed: Seed = 0,
    out: Annotated[Path, option("A new folder.", panel=OUTPUT)] = Path("synthetic"),
    as_json: Json = False,
) -> None:
    """Write a random graph as `edges.parquet`, `nodes.parquet`, `positives.parquet` and `truth.parquet`.

    The positives are one community, the negatives several. Degrees have a heavy tail, and a node's own features say
    little. Memory does not grow with the graph.

    Example:

        pugnn synthetic --nodes 1000000 --out big
    """
    from pugnn.datasets.planted import TABLES, write_planted

    sizes = {"nodes": nodes, "mean_degree": mean_degree, "features": features, "share": share, "labels": labels}
    write_planted(out, **sizes, homophily=homophily, seed=seed)
    print_files([out / name for name in TABLES], as_json)
