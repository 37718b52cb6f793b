"""`pugnn fit`: train on a graph and its known positives."""

from __future__ import annotations

from typing import Annotated

import typer

from pugnn.cli import options
from pugnn.cli.options import METHOD, OTHERS, PUGNN, TRAINING
from pugnn.cli.source import read_source
from pugnn.errors import PugnnError


def fit(
    config: options.Config = None,  # noqa: ARG001 (it has set the defaults of all others)
    dataset: options.Dataset = None,
    edges: options.Edges = None,
    nodes: options.Nodes = None,
    attributes: options.Attributes = None,
    positives: options.Positives = None,
    truth: options.Truth = None,
    source: options.SourceColumn = None,
    target: options.TargetColumn = None,
    node_id: options.IdColumn = None,
    weight: options.WeightColumn = None,
    label: options.LabelColumn = None,
    columns: options.Columns = None,
    label_ratio: options.LabelRatio = None,
    label_ratio_of: options.LabelRatioOf = None,
    labels: options.Labels = None,
    unlabelled: options.UnlabelledNodes = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    resume: options.Resume = False,
    verbose: options.Verbose = False,
    as_json: options.Json = False,
    method: Annotated[
        str,
        typer.Option(
            help="pu-gnn, naive, upu, nnpu, dist-pu, lsdan, grab or label-propagation.", rich_help_panel=METHOD
        ),
    ] = "pu-gnn",
    prior: Annotated[
        float | None,
        typer.Option(
            help="Positive share of the unlabelled nodes; upu, nnpu, dist-pu, lsdan, label-propagation need it.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    delta: Annotated[
        int | None,
        typer.Option(help="Hops up to which a node is near. Default: 3.", rich_help_panel=PUGNN),
    ] = None,
    near_prior: Annotated[
        float | None,
        typer.Option(help="Positive share of the near unlabelled nodes. Default: 0.6.", rich_help_panel=PUGNN),
    ] = None,
    far_prior: Annotated[
        float | None,
        typer.Option(help="Positive share of the far unlabelled nodes. Default: 0.3.", rich_help_panel=PUGNN),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(help="Weight of the structural regulariser. Default: 0.01.", rich_help_panel=PUGNN),
    ] = None,
    negatives: Annotated[
        int | None,
        typer.Option(help="Non-neighbours drawn per directed edge. Default: 50.", rich_help_panel=PUGNN),
    ] = None,
    set_weights: Annotated[
        str | None,
        typer.Option(help="Weights of near and far term: equal or size. Default: equal.", rich_help_panel=PUGNN),
    ] = None,
    labelled_weight: Annotated[
        str | None,
        typer.Option(help="Weight of the labelled term: sum or prior. Default: sum.", rich_help_panel=PUGNN),
    ] = None,
    empty_set: Annotated[
        str | None,
        typer.Option(help="When near or far is empty: drop or dist-pu. Default: drop.", rich_help_panel=PUGNN),
    ] = None,
    reduction: Annotated[
        str | None,
        typer.Option(
            help="Scale of the regulariser: edge-mean, pair-mean or sum. Default: edge-mean.", rich_help_panel=PUGNN
        ),
    ] = None,
    expectation: Annotated[
        str | None,
        typer.Option(
            help="Over non-neighbours: sampled, or exact (small graphs, GPU). Default: sampled.", rich_help_panel=PUGNN
        ),
    ] = None,
    representation: Annotated[
        str | None,
        typer.Option(
            help="What the regulariser compares: hidden, activated or logit. Default: hidden.", rich_help_panel=PUGNN
        ),
    ] = None,
    supervision: Annotated[
        str | None,
        typer.Option(
            help="distance-aware, or cross-entropy (unlabelled as negative). Default: distance-aware.",
            rich_help_panel=PUGNN,
        ),
    ] = None,
    balanced: Annotated[
        bool | None,
        typer.Option(
            "--balanced",
            help="naive: labelled and unlabelled nodes weigh the same. Default: False.",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    surrogate: Annotated[
        str | None,
        typer.Option(
            help="upu, nnpu: loss of a margin, sigmoid or logistic. Default: sigmoid.", rich_help_panel=OTHERS
        ),
    ] = None,
    correction: Annotated[
        str | None,
        typer.Option(
            help="nnpu: where the risk falls below zero, ascent or clamp. Default: ascent.", rich_help_panel=OTHERS
        ),
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(help="nnpu: how far below zero the risk may fall. Default: 0.0.", rich_help_panel=OTHERS),
    ] = None,
    gamma: Annotated[
        float | None,
        typer.Option(help="nnpu: size of the ascent. Default: 1.0.", rich_help_panel=OTHERS),
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(
            help="dist-pu: formula, or full with entropy, mixup and two stages. Default: formula.",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    hops: Annotated[
        int | None,
        typer.Option(help="lsdan: longest walk that joins two nodes. Default: 3.", rich_help_panel=OTHERS),
    ] = None,
    risk: Annotated[
        str | None,
        typer.Option(help="lsdan: non-negative or unbiased. Default: non-negative.", rich_help_panel=OTHERS),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(help="grab: most rounds after the first. Default: 10.", rich_help_panel=OTHERS),
    ] = None,
    homophily: Annotated[
        float | None,
        typer.Option(help="grab: weight of neighbours being of the same kind. Default: 0.9.", rich_help_panel=OTHERS),
    ] = None,
    potentials: Annotated[
        str | None,
        typer.Option(help="grab: node potentials, decided or uniform. Default: decided.", rich_help_panel=OTHERS),
    ] = None,
    normalisation: Annotated[
        str | None,
        typer.Option(
            help="label-propagation: symmetric, or walk (PageRank). Default: symmetric.", rich_help_panel=OTHERS
        ),
    ] = None,
    restart: Annotated[
        float | None,
        typer.Option(help="label-propagation: probability of going back. Default: 0.1.", rich_help_panel=OTHERS),
    ] = None,
    backbone: Annotated[
        str | None,
        typer.Option(
            help="gcn, gcn-linear, gat, gin, sage, appnp, lsdan, or mlp (no edges). Default: gcn; for lsdan itself; "
            "for grab and the full dist-pu gcn-linear.",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    hidden: Annotated[
        int | None,
        typer.Option(help="Size of the hidden layer. Default: 16.", rich_help_panel=TRAINING),
    ] = None,
    dropout: Annotated[
        float | None,
        typer.Option(help="Share of inputs dropped. Default: 0.5; for grab 0.0.", rich_help_panel=TRAINING),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            help="Full passes over the graph. Default: 200; for grab at most 1000 in each round.",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(help="Of Adam. Default: 0.01; for grab 0.001.", rich_help_panel=TRAINING),
    ] = None,
    weight_decay: Annotated[
        float | None,
        typer.Option(help="On the first layer. Default: 0.0005; for grab 0.0.", rich_help_panel=TRAINING),
    ] = None,
    threshold: Annotated[
        str,
        typer.Option(
            help="Score from which a node counts as positive, or prior: match the priors.", rich_help_panel=TRAINING
        ),
    ] = "0.5",
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:1.", rich_help_panel=TRAINING)] = "cpu",
) -> None:
    """Train on a graph and its known positives; every node gets a score.

    An option that is left out has the default of the method. The known positives and the graph are looked at first,
    as `pugnn check` does.

    The run folder holds `report.html` (open it in a browser), `scores.csv` and `scores.parquet` (every node, best
    first), `model.safetensors` (for `pugnn predict`), `run.json` (everything about the run; `--config` repeats it),
    `log.csv` and `training.png`.

    Examples:

        pugnn fit --dataset cora --labels 10

        pugnn fit --edges edges.csv --nodes nodes.csv --positives positives.csv --out runs/mine

        pugnn fit --edges 'edges-*.parquet' --positives known.csv --source payer --target payee

        pugnn fit --edges edges.csv --nodes nodes.csv --positives positives.csv --method nnpu --prior 0.1

        pugnn fit --config mine.toml --out runs/mine --resume

        pugnn fit --config runs/mine/run.json --out runs/again
    """
    data = read_source(
        dataset=dataset,
        edges=edges,
        nodes=nodes,
        attributes=attributes,
        positives=positives,
        truth=truth,
        source=source,
        target=target,
        node_id=node_id,
        weight=weight,
        label=label,
        columns=columns,
        label_ratio=label_ratio,
        label_ratio_of=label_ratio_of,
        labels=labels,
        unlabelled=unlabelled,
        seed=seed,
    )
    if data.task is None:
        raise PugnnError("say which nodes are known positives: --positives FILE")

    from pugnn.cli.training import train_and_show
    from pugnn.estimator import PUNodeClassifier
    from pugnn.methods import make_method

    options_of_methods = {
        "prior": prior,
        "delta": delta,
        "near_prior": near_prior,
        "far_prior": far_prior,
        "alpha": alpha,
        "negatives": negatives,
        "set_weights": set_weights,
        "labelled_weight": labelled_weight,
        "empty_set": empty_set,
        "reduction": reduction,
        "expectation": expectation,
        "representation": representation,
        "supervision": supervision,
        "balanced": balanced,
        "surrogate": surrogate,
        "correction": correction,
        "beta": beta,
        "gamma": gamma,
        "variant": variant,
        "hops": hops,
        "risk": risk,
        "rounds": rounds,
        "homophily": homophily,
        "potentials": potentials,
        "normalisation": normalisation,
        "restart": restart,
    }
    estimator = PUNodeClassifier(
        make_method(method, **{name: value for name, value in options_of_methods.items() if value is not None}),
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
    train_and_show(estimator, data, name=data.name, out=out, resume=resume, verbose=verbose, as_json=as_json)


def _number(threshold: str) -> float:
    try:
        return float(threshold)
    except ValueError:
        raise PugnnError(f"--threshold must be a number from 0 to 1, or 'prior'; got {threshold!r}") from None
