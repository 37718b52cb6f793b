"""`pugnn check`: look at a graph and its known positives before training."""

from __future__ import annotations

import json
from dataclasses import asdict

import typer

from pugnn.cli import options
from pugnn.cli.source import read_source
from pugnn.cli.waiting import shown_phases
from pugnn.errors import PugnnError


def check(
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
    seed: options.Seed = 0,
    verbose: options.Verbose = False,
    as_json: options.Json = False,
) -> None:
    """Look at a graph and its known positives: what was read, whether it can work, and what to try.

    Do known positives cluster? Do they look like a random sample, or like those that are easiest to find? How
    many nodes lie at each distance from them? Which method and which `--delta` follow from that?

    Examples:

        pugnn check --edges edges.csv --nodes nodes.csv --positives positives.csv

        pugnn check --dataset cora --labels 10
    """
    from rich.console import Console

    from pugnn.checkup import check_up
    from pugnn.cli.checkup_tables import print_check_up
    from pugnn.cli.tables import print_notes, print_recipe

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
        seed=seed,
    )
    if data.task is None:
        raise PugnnError("say which nodes are known positives: --positives FILE")
    print_notes(data.notes)
    with shown_phases() as on_phase:
        on_phase("looking at the graph")
        found = check_up(data.task, seed=seed)
    if as_json:
        recipe = [asdict(statement) for statement in data.recipe]
        record = {"options": data.options, "notes": list(data.notes), "recipe": recipe, **found.to_plain()}
        typer.echo(json.dumps(record))
        return
    console = Console(highlight=False, emoji=False)
    print_check_up(console, found, brief=False, truth=data.benchmark)
    print_recipe(console, data.recipe, verbose=verbose)
