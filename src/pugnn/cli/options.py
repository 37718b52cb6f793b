"""Options that several commands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pugnn.cli.config import use_config

DATA, TRAINING, OUTPUT = "Data", "Training", "Output"
METHOD, PUGNN, OTHERS = "Method", "PU-GNN", "Other methods"

Config = Annotated[
    Path | None,
    typer.Option(
        help="TOML file with options, or the run.json of an earlier run; what is given here as well counts more.",
        callback=use_config,
        is_eager=True,
    ),
]
Dataset = Annotated[
    str | None,
    typer.Option(help="A named data set: cora, citeseer, pubmed, dblp, or one in $PUGNN_DATA.", rich_help_panel=DATA),
]
Edges = Annotated[
    str | None,
    typer.Option(
        help="Table of edges: CSV, TSV, Parquet or JSON lines, also .gz, .zst, .bz2, .xz; 'part-*.csv' for many files.",
        rich_help_panel=DATA,
    ),
]
Nodes = Annotated[
    str | None,
    typer.Option(
        help="Table of nodes and their attributes; without it features are made from the edges.", rich_help_panel=DATA
    ),
]
Attributes = Annotated[
    str | None,
    typer.Option(
        help="More attributes, zeros left out: a table of id, attribute, value; or a matrix (.npz, .mtx) in the "
        "order of --nodes.",
        rich_help_panel=DATA,
    ),
]
Positives = Annotated[str | None, typer.Option(help="Table with the ids of the known positives.", rich_help_panel=DATA)]
Truth = Annotated[
    str | None,
    typer.Option(
        help="Table with the ids of all true positives, to measure by after training; never trained on.",
        rich_help_panel=DATA,
    ),
]
SourceColumn = Annotated[
    str | None,
    typer.Option("--source", help="Column of the edges' one end, where its name is not clear.", rich_help_panel=DATA),
]
TargetColumn = Annotated[
    str | None, typer.Option("--target", help="Column of the edges' other end.", rich_help_panel=DATA)
]
IdColumn = Annotated[
    str | None, typer.Option("--id", help="Column of the ids in nodes and positives.", rich_help_panel=DATA)
]
WeightColumn = Annotated[str | None, typer.Option("--weight", help="Column of edge weights.", rich_help_panel=DATA)]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label", help="Column of positives (and truth) that says by 1 and 0 which rows count.", rich_help_panel=DATA
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="How to read an attribute: NAME=KIND with number, category, boolean, text, vector, counts or ignore; "
        "'w_*=counts' for many. Repeatable.",
        rich_help_panel=DATA,
    ),
]
LabelRatio = Annotated[
    float | None,
    typer.Option(
        help="Share of nodes to draw as known positives from a named data set; 0.01 if nothing is said.",
        rich_help_panel=DATA,
    ),
]
LabelRatioOf = Annotated[
    str | None,
    typer.Option(
        help="What it is a share of: all_nodes (if nothing is said), all_positives, train_positives or train_nodes.",
        rich_help_panel=DATA,
    ),
]
Labels = Annotated[
    int | None, typer.Option(help="Number of known positives to draw, instead of a share.", rich_help_panel=DATA)
]
UnlabelledNodes = Annotated[
    str | None,
    typer.Option(
        "--unlabelled",
        help="Nodes the loss takes as unlabelled: all (if nothing is said), or those of the train split.",
        rich_help_panel=DATA,
    ),
]
Out = Annotated[Path | None, typer.Option(help="The run folder; by default runs/NAME-1, -2, …", rich_help_panel=OUTPUT)]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with a run that was stopped; needs --out.", rich_help_panel=OUTPUT)
]
Seed = Annotated[int, typer.Option(help="Decides everything random; the same seed repeats the run exactly.", min=0)]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", help="Show what becomes of each attribute, one line per column.", rich_help_panel=OUTPUT),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON on standard output.", rich_help_panel=OUTPUT)
]
