"""`pugnn export`: a named data set as tables, to try everything that works on tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pugnn.cli import options
from pugnn.cli.options import OUTPUT
from pugnn.errors import PugnnError


def export(
    dataset: options.Dataset = None,
    label_ratio: options.LabelRatio = None,
    label_ratio_of: options.LabelRatioOf = None,
    labels: options.Labels = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="A new folder; by default NAME-tables.", rich_help_panel=OUTPUT)
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Write a named data set as `edges.csv`, `nodes.csv`, `positives.csv` and `truth.csv`, with text as ids.

    The known positives are those that `pugnn fit --dataset` draws with the same options.

    Example:

        pugnn export --dataset cora --labels 27
    """
    from pugnn.cli.source import read_source
    from pugnn.task.export import export_tables

    if dataset is None:
        raise PugnnError("say which data set: --dataset NAME")
    source = read_source(
        dataset=dataset, label_ratio=label_ratio, label_ratio_of=label_ratio_of, labels=labels, seed=seed
    )
    assert source.benchmark is not None
    written = export_tables(dataset, source.benchmark, out or Path(f"{dataset}-tables"))
    if as_json:
        typer.echo(json.dumps({"files": [str(path) for path in written]}))
        return
    for path in written:
        typer.echo(str(path))
