"""`pugnn fit`: train on a graph and its known positives."""

from __future__ import annotations

from typing import Annotated

import typer

from pugnn.cli import options
from pugnn.cli.options import METHOD, TRAINING, read_source
from pugnn.errors import PugnnError


def fit(
    dataset: options.Dataset = None,
    edges: options.Edges = None,
    features: options.Features = None,
    positives: options.Positives = None,
    keep_isolated: options.KeepIsolated = False,
    label_ratio: options.LabelRatio = None,
    label_ratio_of: options.LabelRatioOf = None,
    labels: options.Labels = None,
    unlabelled: options.UnlabelledNodes = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    resume: options.Resume = False,
    as_json: options.Json = False,
    delta: Annotated[int, typer.Option(help="Hops up to which a node is near.", rich_help_panel=METHOD)] = 3,
    near_prior: Annotated[
        float, typer.Option(help="Positive share of the near unlabelled nodes.", rich_help_panel=METHOD)
    ] = 0.6,
    far_prior: Annotated[
        float, typer.Option(help="Positive share of the far unlabelled nodes.", rich_help_panel=METHOD)
    ] = 0.3,
    alpha: Annotated[float, typer.Option(help="Weight of the structural regulariser.", rich_help_panel=METHOD)] = 0.01,
    negatives: Annotated[
        int, typer.Option(help="Non-neighbours drawn per directed edge.", rich_help_panel=METHOD)
    ] = 50,
    set_weights: Annotated[
        str, typer.Option(help="Weights of near and far term: equal or size.", rich_help_panel=METHOD)
    ] = "equal",
    labelled_weight: Annotated[
        str, typer.Option(help="Weight of the labelled term: sum or prior.", rich_help_panel=METHOD)
    ] = "sum",
    empty_set: Annotated[
        str, typer.Option(help="When near or far is empty: drop or dist-pu.", rich_help_panel=METHOD)
    ] = "drop",
    reduction: Annotated[
        str,
        typer.Option(help="Scale of the regulariser: edge-mean, pair-mean or sum.", rich_help_panel=METHOD),
    ] = "edge-mean",
    expectation: Annotated[
        str,
        typer.Option(help="Over non-neighbours: sampled, or exact (small graphs, GPU).", rich_help_panel=METHOD),
    ] = "sampled",
    representation: Annotated[
        str,
        typer.Option(help="What the regulariser compares: hidden, activated or logit.", rich_help_panel=METHOD),
    ] = "hidden",
    supervision: Annotated[
        str,
        typer.Option(help="distance-aware, or cross-entropy (unlabelled as negative).", rich_help_panel=METHOD),
    ] = "distance-aware",
    backbone: Annotated[
        str, typer.Option(help="gcn, gcn-linear, gat, gin, sage or appnp.", rich_help_panel=TRAINING)
    ] = "gcn",
    hidden: Annotated[int, typer.Option(help="Size of the hidden layer.", rich_help_panel=TRAINING)] = 16,
    dropout: Annotated[float, typer.Option(help="Share of inputs dropped.", rich_help_panel=TRAINING)] = 0.5,
    epochs: Annotated[int, typer.Option(help="Full passes over the graph.", rich_help_panel=TRAINING)] = 200,
    learning_rate: Annotated[float, typer.Option(help="Of Adam.", rich_help_panel=TRAINING)] = 0.01,
    weight_decay: Annotated[float, typer.Option(help="On the first layer.", rich_help_panel=TRAINING)] = 5e-4,
    threshold: Annotated[
        str,
        typer.Option(
            help="Score from which a node counts as positive, or prior: match the priors.", rich_help_panel=TRAINING
        ),
    ] = "0.5",
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:1.", rich_help_panel=TRAINING)] = "cpu",
) -> None:
    """Train PU-GNN on a graph and its known positives; every node gets a score.

    The run folder holds `scores.csv` (every node, best first), `model.safetensors` (for `pugnn predict`),
    `run.json` (settings, sizes, metrics where the truth is known), `log.csv` and `training.png`.

    Examples:

        pugnn fit --dataset cora --labels 10

        pugnn fit --edges edges.csv --features features.csv --positives positives.csv --out runs/mine

        pugnn fit --edges edges.csv --features features.csv --positives positives.csv --out runs/mine --resume
    """
    source = read_source(
        dataset=dataset,
        edges=edges,
        features=features,
        positives=positives,
        keep_isolated=keep_isolated,
        label_ratio=label_ratio,
        label_ratio_of=label_ratio_of,
        labels=labels,
        unlabelled=unlabelled,
        seed=seed,
    )
    if source.task is None:
        raise PugnnError("say which nodes are known positives: --positives FILE")

    from pugnn.cli.training import train_and_show
    from pugnn.estimator import PUNodeClassifier
    from pugnn.methods import make_method

    method = make_method(
        "pu-gnn",
        delta=delta,
        near_prior=near_prior,
        far_prior=far_prior,
        alpha=alpha,
        negatives=negatives,
        set_weights=set_weights,
        labelled_weight=labelled_weight,
        empty_set=empty_set,
        reduction=reduction,
        expectation=expectation,
        representation=representation,
        supervision=supervision,
    )
    estimator = PUNodeClassifier(
        method,
        backbone=backbone,
        hidden=hidden,
        dropout=dropout,
        epochs=epochs,
        learning_rate=learning_rate,
        weight_decay=weight_decay,
        threshold="prior" if threshold == "prior" else _number(threshold),
        seed=seed,
        device=device,
    )
    name = dataset or (edges.stem if edges else "run")
    train_and_show(estimator, source, name=name, out=out, resume=resume, as_json=as_json)


def _number(threshold: str) -> float:
    try:
        return float(threshold)
    except ValueError:
        raise PugnnError(f"--threshold must be a number from 0 to 1, or 'prior'; got {threshold!r}") from None
