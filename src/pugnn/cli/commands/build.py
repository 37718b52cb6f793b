"""`pugnn build`: a graph store from tables that need not fit into memory."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from pugnn.cli import options
from pugnn.cli.app import DATA_SETS, command
from pugnn.cli.options import DATA, FOR_GRAPHS, OUTPUT, DataOptions, option, options_of
from pugnn.errors import PugnnError
from pugnn.waiting import status_line

#: All but the tables of the graph and their columns.
NOT_FOR_BUILD = {field.name for field in fields(DataOptions)} - {*FOR_GRAPHS, "id"} | {"show"}


@command(DATA_SETS, data=options_of(DataOptions, DATA, without=NOT_FOR_BUILD))
def build(
    *,
    data: DataOptions,
    model: Annotated[
        Path | None, option("A run folder: make the features that its model was trained with.", panel=OUTPUT)
    ] = None,
    out: Annotated[Path | None, option("The folder to make. Required.", panel=OUTPUT)] = None,
    as_json: options.Json = False,
) -> None:
    """Build a graph store: a folder that other commands open at once, with `--store` in place of the tables.

    For graphs of millions of edges, also more than fit into memory: they are merged in pieces. The store holds the
    graph, its features and ids. Lists of nodes, such as `--positives`, stay tables.

    Examples:

        pugnn build --edges edges.parquet --nodes nodes.parquet --out stores/mine

        pugnn fit --store stores/mine --positives positives.csv --out runs/mine

        pugnn build --edges 'new-*.parquet' --nodes new_nodes.parquet --model runs/mine --out stores/new
    """
    from pugnn.cli.input_data import named_kinds
    from pugnn.cli.terminal import print_notes
    from pugnn.estimator import PUNodeClassifier
    from pugnn.memory import memory_words
    from pugnn.store import build_store, open_store

    if data.edges is None or out is None:
        raise PugnnError("specify what to build, and where: --edges FILE [--nodes FILE] --out FOLDER")
    if model is not None and data.column:
        raise PugnnError("--column has no effect with --model, whose recipe says how to read attributes")
    recipe = None
    if model is not None:
        file = model / "model.safetensors" if os.path.isdir(model) else model
        recipe = PUNodeClassifier.load(file).recipe_
        if recipe is None:
            raise PugnnError(f"{file} was not trained on tables, so that it has no recipe for their attributes")
    tables = {name: getattr(data, name) for name in (*FOR_GRAPHS, "id") if name not in ("column", "show")}
    with status_line() as line:
        kinds = named_kinds(data.column or ())
        manifest = build_store(out, **tables, kinds=kinds, recipe=recipe, on_phase=line.say)
    print_notes(manifest.notes)
    graph, size = open_store(out), sum(file.bytes for file in manifest.files.values())
    if as_json:
        sizes = {"nodes": graph.num_nodes, "edges": graph.num_edges, "features": graph.num_features, "bytes": size}
        typer.echo(json.dumps({"store": str(out), **sizes, "notes": list(manifest.notes)}))
        return
    typer.echo(
        f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges and {graph.num_features:,} features in {out}, "
        f"{memory_words(size)}"
    )
