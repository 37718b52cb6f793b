"""`pugnn export`: a named data set as tables, to try everything that works on tables."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from pugnn.cli import options
from pugnn.cli.app import DATA_SETS, command
from pugnn.cli.options import DATA, OUTPUT, DataOptions, option, options_of
from pugnn.errors import PugnnError

#: All but the name of the data set and the number of known positives.
NOT_FOR_EXPORT = {field.name for field in fields(DataOptions)} - {"dataset", "labels", "label_ratio", "label_ratio_of"}


@command(DATA_SETS, data=options_of(DataOptions, DATA, without=NOT_FOR_EXPORT))
def export(
    *,
    data: DataOptions,
    seed: options.Seed = 0,
    out: Annotated[Path | None, option("A new folder; default: NAME-tables.", panel=OUTPUT)] = None,
    as_json: options.Json = False,
) -> None:
    """Write a named data set as `edges.csv`, `nodes.csv`, `positives.csv` and `truth.csv`, with text as ids.

    The known positives are those that `pugnn fit --dataset` draws with the same options.

    Example:

        pugnn export --dataset cora --labels 27
    """
    from pugnn.cli.input_data import read_input
    from pugnn.task.export import export_tables

    if data.dataset is None:
        raise PugnnError("specify the data set: --dataset NAME")
    found = read_input(data, seed=seed)
    assert found.benchmark is not None
    written = export_tables(data.dataset, found.benchmark, out or Path(f"{data.dataset}-tables"))
    if as_json:
        typer.echo(json.dumps({"files": [str(path) for path in written]}))
        return
    for path in written:
        typer.echo(str(path))
