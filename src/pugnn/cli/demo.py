"""`pugnn demo`: find papers of a field in a real citation network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pugnn.cli import options
from pugnn.cli.options import OUTPUT, read_source


def demo(
    seed: options.Seed = 0,
    labels: Annotated[int, typer.Option(help="Number of known papers.", min=1)] = 27,
    epochs: Annotated[int, typer.Option(help="Full passes over the graph.", min=1)] = 200,
    out: Annotated[
        Path | None, typer.Option(help="The run folder; by default runs/demo-1, -2, …", rich_help_panel=OUTPUT)
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Find papers on neural networks and probabilistic methods in Cora from a handful of known ones.

    Cora is a citation network of 2,708 papers that ships with pugnn, so this needs no network. By default 27
    papers are known, one in a hundred nodes, the paper's largest label ratio.
    """
    from pugnn.estimator import PUNodeClassifier
    from pugnn.runs import RunFolder, next_free, train_into_folder

    source = read_source(dataset="cora", edges=None, features=None, positives=None, labels=labels, seed=seed)
    assert source.task is not None
    folder = RunFolder(out if out is not None else next_free(Path("runs"), "demo"))
    estimator = PUNodeClassifier("pu-gnn", epochs=epochs, seed=seed)
    run = train_into_folder(estimator, source.task, folder, source=source.description, truth=source.benchmark)
    if as_json:
        typer.echo(json.dumps({"folder": str(run.path), **run.record}))
        return

    from pugnn.cli.tables import print_run

    print_run(run, source)
