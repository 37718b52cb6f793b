"""`pugnn predict`: score a graph with a model from an earlier run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from pugnn.cli import options
from pugnn.cli.config import option_value, read_config
from pugnn.cli.options import DATA, OUTPUT
from pugnn.cli.source import read_source
from pugnn.errors import PugnnError


def predict(
    model: Annotated[Path, typer.Argument(help="A run folder, or the model.safetensors in it.")],
    config: options.Config = None,  # noqa: ARG001 (it has set the defaults of all others)
    dataset: options.Dataset = None,
    edges: options.Edges = None,
    nodes: options.Nodes = None,
    attributes: options.Attributes = None,
    positives: Annotated[
        str | None,
        typer.Option(help="Known positives, for the distance of every node to them.", rich_help_panel=DATA),
    ] = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
    node_id: options.IdColumn = None,
    weight: options.WeightColumn = None,
    label: options.LabelColumn = None,
    seed: Annotated[int, typer.Option(help="Scoring has nothing random in it; any seed gives the same.", min=0)] = 0,
    out: Annotated[
        Path, typer.Option(help="Where to write the scores: a .csv, .csv.gz or .parquet file.", rich_help_panel=OUTPUT)
    ] = Path("scores.csv"),
    as_json: options.Json = False,
) -> None:
    """Score every node of a graph, the one of the training or a later snapshot of it.

    Attributes become features by the recipe that the model was trained with: columns are found by name, in any order;
    a column that is missing counts as missing for every node, a new one is passed over, and both are said.

    Example:

        pugnn predict runs/mine --edges new_edges.csv --nodes new_nodes.csv --out new_scores.csv
    """
    from pugnn.cli.tables import print_notes
    from pugnn.estimator import PUNodeClassifier
    from pugnn.runs import require_ending, score_table, write_scores

    if os.path.lexists(out):
        raise PugnnError(f"{out} exists already and is left as it is. Choose another --out, or remove it first.")
    require_ending(out)
    file = model / "model.safetensors" if os.path.isdir(model) else model
    estimator = PUNodeClassifier.load(file)
    # Columns that had to be named for the training have the same names in the next snapshot.
    run = file.with_name("run.json")
    trained_with = read_config(run) if dataset is None and run.exists() else {}
    names = {
        name: option_value(run, name, trained_with[name], str)
        for name in ("source", "target", "id", "weight", "label")
        if trained_with.get(name) is not None
    }
    data = read_source(
        dataset=dataset,
        edges=edges,
        nodes=nodes,
        attributes=attributes,
        positives=positives,
        source=source or names.get("source"),
        target=target or names.get("target"),
        node_id=node_id or names.get("id"),
        weight=weight or names.get("weight"),
        label=label or (names.get("label") if positives else None),
        seed=seed,
        draw=False,
        recipe=estimator.recipe_,
    )
    print_notes(data.notes)
    scores = estimator.predict_proba(data.graph)[:, 1]
    table = score_table(data.graph, scores, estimator.threshold_, data.task)
    write_scores(out, table)
    result = {"scores": str(out), "nodes": len(scores), "positive": int(table["decision"].sum())}
    if as_json:
        typer.echo(json.dumps(result))
    else:
        typer.echo(f"{result['nodes']:,} nodes scored, {result['positive']:,} decided positive: {out}")
