"""Options that several commands share, each described once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from pugnn.cli.config import use_config

DATA, METHOD, TRAINING, OUTPUT = "Data", "Method", "Training", "Output"


def option(help: str, *names: str, panel: str | None = DATA, **more: Any) -> Any:
    """An option with its help, under a heading."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


Config = Annotated[
    Path | None,
    option(
        "TOML file with options, or the run.json of an earlier run; command-line options take precedence.",
        panel=None,
        callback=use_config,
        is_eager=True,
    ),
]
Seed = Annotated[int, option("Controls all randomness; the same seed repeats a run exactly.", panel=None, min=0)]
Out = Annotated[Path | None, option("The run folder; default: runs/NAME-1, -2, …", panel=OUTPUT)]
Resume = Annotated[bool, option("Continue a run that was stopped; needs --out.", "--resume", panel=OUTPUT)]
Verbose = Annotated[bool, option("Show the encoding of every attribute, one per line.", "--verbose", panel=OUTPUT)]
Json = Annotated[bool, option("Print the result as JSON on standard output.", "--json", panel=OUTPUT)]


@dataclass(frozen=True)
class DataOptions:
    """Where graph and known positives come from: a named data set, or tables."""

    dataset: Annotated[str | None, option("A named data set: cora, citeseer, pubmed, dblp, or one in $PUGNN_DATA.")] = (
        None
    )
    edges: Annotated[
        str | None,
        option("Table of edges: CSV, TSV, Parquet or JSON lines, also .gz, .zst, .bz2, .xz; 'part-*.csv' for many."),
    ] = None
    nodes: Annotated[
        str | None, option("Table of nodes and their attributes; without it, features are made from the edges.")
    ] = None
    attributes: Annotated[
        str | None,
        option(
            "More attributes, without zeros: a table of id, attribute, value; or a matrix (.npz, .mtx) in the order "
            "of --nodes."
        ),
    ] = None
    positives: Annotated[str | None, option("Table with the ids of the known positives.")] = None
    truth: Annotated[
        str | None, option("Table with the ids of all true positives, for metrics after training; never trained on.")
    ] = None
    source: Annotated[str | None, option("Column of the source of each edge, if its name is unusual.")] = None
    target: Annotated[str | None, option("Column of the target of each edge.")] = None
    id: Annotated[str | None, option("Column of the ids in nodes and positives.")] = None
    weight: Annotated[str | None, option("Column of edge weights.")] = None
    label: Annotated[
        str | None, option("Column of positives (and truth) whose 1 and 0 say which rows are positive.")
    ] = None
    column: Annotated[
        list[str] | None,
        option(
            "How to read an attribute: NAME=KIND with number, category, boolean, text, vector, counts or ignore; "
            "'w_*=counts' for many. Repeatable."
        ),
    ] = None
    label_ratio: Annotated[
        float | None, option("Share of nodes to draw as known positives from a named data set. Default: 0.01.")
    ] = None
    label_ratio_of: Annotated[
        str | None,
        option("What it is a share of: all_nodes, all_positives, train_positives or train_nodes. Default: all_nodes."),
    ] = None
    labels: Annotated[int | None, option("Number of known positives to draw, instead of a share.")] = None
    unlabelled: Annotated[
        str | None, option("Nodes that count as unlabelled: all, or those of the train split. Default: all.")
    ] = None


@dataclass(frozen=True)
class NoOptions:
    """Stands for the options of a method that is not known yet."""


def flattened(command: Callable[..., None], *, without: tuple[str, ...] = (), **groups: type) -> Callable[..., None]:
    """A command with one option for each field of the dataclasses among its parameters.

    Args:
        command: its parameters that are dataclasses become groups of options.
        without: options that the command does not have; these fields keep their defaults.
        groups: dataclasses for parameters that have no type of their own.
    """
    hints = {**get_type_hints(command, include_extras=True), **groups}
    members: dict[str, list[Parameter]] = {}
    for name, parameter in signature(command).parameters.items():
        if hasattr(hints[name], "__dataclass_fields__"):
            kinds = get_type_hints(hints[name], include_extras=True)
            members[name] = [
                Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=kinds[field.name])
                for field in fields(hints[name])
                if field.name not in without
            ]
        else:
            members[name] = [parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)]

    def run(**given: Any) -> None:
        command(
            **{
                name: hints[name](**{part.name: given[part.name] for part in parts})
                if hasattr(hints[name], "__dataclass_fields__")
                else given[name]
                for name, parts in members.items()
            }
        )

    parameters = [part for parts in members.values() for part in parts]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {part.name: part.annotation for part in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run
