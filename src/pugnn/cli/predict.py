"""`pugnn predict`: score a graph with a model from an earlier run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from pugnn.cli import options
from pugnn.cli.options import OUTPUT, read_source
from pugnn.errors import PugnnError


def predict(
    model: Annotated[Path, typer.Argument(help="A run folder, or the model.safetensors in it.")],
    dataset: options.Dataset = None,
    edges: options.Edges = None,
    features: options.Features = None,
    keep_isolated: options.KeepIsolated = False,
    seed: Annotated[int, typer.Option(help="Scoring has nothing random in it; any seed gives the same.", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="Where to write the scores.", rich_help_panel=OUTPUT)] = Path("scores.csv"),
    as_json: options.Json = False,
) -> None:
    """Score every node of a graph, the one of the training or another with the same features.

    Example:

        pugnn predict runs/mine --edges new_edges.csv --features new_features.csv --out new_scores.csv
    """
    from pugnn.estimator import PUNodeClassifier
    from pugnn.runs import write_scores

    if os.path.lexists(out):
        raise PugnnError(f"{out} exists already and is left as it is. Choose another --out, or remove it first.")
    file = model / "model.safetensors" if os.path.isdir(model) else model
    estimator = PUNodeClassifier.load(file)
    source = read_source(
        dataset=dataset,
        edges=edges,
        features=features,
        keep_isolated=keep_isolated,
        seed=seed,
        draw=False,
    )
    scores = estimator.predict_proba(source.graph)[:, 1]
    decisions = (scores >= estimator.threshold_).astype(int)
    write_scores(out, source.graph.ids, scores, decisions)
    result = {"scores": str(out), "nodes": len(scores), "positive": int(decisions.sum())}
    if as_json:
        typer.echo(json.dumps(result))
    else:
        typer.echo(f"{result['nodes']:,} nodes scored, {result['positive']:,} decided positive: {out}")
