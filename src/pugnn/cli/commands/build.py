"""`pugnn build`: a graph store from tables that need not fit into memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pugnn.cli.options import DATA_SETS, OUTPUT, DataOptions, Json, command, option, options_of
from pugnn.cli.terminal import print_json, print_notes
from pugnn.errors import PugnnError
from pugnn.waiting import status_line

TABLES = ("edges", "edge_type", "directed", "nodes", "attributes", "source", "target", "weight", "id", "time", "as_of")


@command(DATA_SETS, data=options_of(DataOptions, only=(*TABLES, "column")))
def build(
    *,
    data: DataOptions,
    model: Annotated[
        Path | None, option("A run folder: make the features that its model was trained with.", panel=OUTPUT)
    ] = None,
    out: Annotated[Path | None, option("The folder to make. Required.", panel=OUTPUT)] = None,
    as_json: Json = False,
) -> None:
    """Build a graph store: a folder that other commands open at once, with `--store` in place of the tables.

    For graphs of millions of edges, also more than fit into memory: they are merged in pieces. The store holds the
    graph, its features and ids. Lists of nodes, such as `--positives`, stay tables.

    Examples:

        pugnn build --edges edges.parquet --nodes nodes.parquet --out stores/mine

        pugnn fit --store stores/mine --positives positives.csv --out runs/mine

        pugnn build --edges 'new-*.parquet' --nodes new_nodes.parquet --model runs/mine --out stores/new
    """
    from pugnn.cli.input_data import by_name, named_kinds
    from pugnn.estimator import PUNodeClassifier
    from pugnn.memory import memory_words
    from pugnn.model_file import model_file_of
    from pugnn.store import build_store, open_store

    if data.edges is None or out is None:
        raise PugnnError("specify what to build, and where: --edges FILE [--nodes FILE] --out FOLDER")
    if model is not None and data.column:
        raise PugnnError("--column has no effect with --model, whose recipe says how to read attributes")
    recipe = None
    if model is not None:
        file = model_file_of(model)
        recipe = PUNodeClassifier.load(file).recipe_
        if recipe is None:
            raise PugnnError(f"{file} was not trained on tables, so it has no recipe for attributes")
    tables = by_name({name: getattr(data, name) for name in TABLES if getattr(data, name) is not None})
    with status_line() as line:
        kinds = named_kinds(data.column or ())
        manifest = build_store(out, **tables, kinds=kinds, recipe=recipe, on_phase=line.say)
    print_notes(manifest.notes)
    graph, size = open_store(out), sum(file.bytes for file in manifest.files.values())
    sizes = {"nodes": graph.num_nodes, "edges": graph.num_edges, "features": graph.num_features}
    if as_json:
        print_json({"store": str(out), **sizes, "bytes": size, "notes": list(manifest.notes)})
        return
    words = "{nodes:,} nodes, {edges:,} edges and {features:,} features".format_map(sizes)
    typer.echo(f"{words} in {out}, {memory_words(size)}")
