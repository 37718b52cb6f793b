"""`pugnn synthetic`: a graph of any size whose positives are known, as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pugnn.cli.options import DATA_SETS, OUTPUT, Json, Seed, command, flag, option
from pugnn.cli.terminal import print_files
from pugnn.errors import PugnnError


@command(DATA_SETS)
def synthetic(
    *,
    nodes: Annotated[int, option("Number of nodes, at least 100.")],
    relations: Annotated[
        bool, option("Accounts with payments, devices and logins, as CSV files, in place of one plain graph.")
    ] = False,
    mean_degree: Annotated[
        float | None, option("Mean degree; the table of edges has half as many rows per node. Default: 20.")
    ] = None,
    features: Annotated[int | None, option("Number of features. Default: 32.")] = None,
    share: Annotated[float, option("Share of positives among all nodes.")] = 0.1,
    labels: Annotated[int, option("Number of known positives.")] = 100,
    homophily: Annotated[
        float | None, option("Share of edges inside a community; the others end anywhere. Default: 0.6.")
    ] = None,
    signal: Annotated[
        str | None,
        option("With --relations, where the signal is: all, devices, direction, amounts or none. Default: all."),
    ] = None,
    leak: Annotated[
        bool, option("With --relations, positives make payments that give them away, but only after they are known.")
    ] = False,
    seed: Seed = 0,
    out: Annotated[Path, option("A new folder.", panel=OUTPUT)] = Path("synthetic"),
    as_json: Json = False,
) -> None:
    """Write a random graph as `edges.parquet`, `nodes.parquet`, `positives.parquet` and `truth.parquet`.

    The positives are one community, the negatives several. Degrees have a heavy tail, and a node's own features say
    little. Memory does not grow with the graph.

    With `--relations`, these are accounts, some of them in rings of fraud: `accounts.csv`, `pays.csv`, `devices.csv`,
    `logins.csv`, `positives.csv` with the time at which each became known, and `truth.csv`.

    Examples:

        pugnn synthetic --nodes 1000000 --out big

        pugnn synthetic --relations --nodes 3000 --out bank
    """
    from pugnn.datasets.planted import TABLES, write_planted
    from pugnn.datasets.planted_relations import write_planted_relations

    of_plain = {"mean_degree": mean_degree, "features": features, "homophily": homophily}
    of_relations = {"signal": signal, "leak": leak or None}
    both = {"nodes": nodes, "share": share, "labels": labels, "seed": seed}
    for name, value in (of_plain if relations else of_relations).items():
        if value is not None:
            raise PugnnError(f"{flag(name)} can{'not' if relations else ' only'} be used with --relations")
    own = of_relations if relations else of_plain
    settings = {**both, **{name: value for name, value in own.items() if value is not None}}
    if relations:
        files = write_planted_relations(out, **settings)
    else:
        write_planted(out, **settings)
        files = [out / name for name in TABLES]
    print_files(files, as_json)
