"""The program, to which each command adds itself; and options: shared ones, and those of the fields of a dataclass."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, fields
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from pugnn.cli.config import use_config

#: Headings of options.
DATA, METHOD, TRAINING, OUTPUT = "Data", "Method", "Training", "Output"
#: Headings in the list of commands; those that everybody needs have none.
ON_A_RUN, DATA_SETS, SETTINGS = "Commands on a run", "Data", "Methods and settings"

Command = Callable[..., None]

#: Of all our Typer applications.
SETTINGS_OF_APP: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": "markdown",
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
app = typer.Typer(
    name="pugnn",
    help="Find more nodes like the ones you know: a graph, a handful of known positives, no negatives.",
    no_args_is_help=True,
    **SETTINGS_OF_APP,
)


def command(
    panel: str | None = None, *, cls: type[TyperCommand] | None = None, **groups: Mapping[str, Any]
) -> Callable[[Command], Command]:
    """Add a function as the command of its name, under a heading; see :func:`with_options` for the groups."""

    def add(function: Command) -> Command:
        app.command(rich_help_panel=panel, cls=cls)(with_options(function, **groups))
        return function

    return add


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
Executor = Annotated[
    str,
    option(
        "Where trainings run: local, in processes of this machine; or ray, on the cluster of $RAY_ADDRESS.", panel=None
    ),
]
Json = Annotated[bool, option("Print the result as JSON on standard output.", "--json", panel=OUTPUT)]


@dataclass(frozen=True)
class DataOptions:
    """Where graph and known positives come from: a named data set, a graph store, or tables.

    Args:
        dataset: a named data set, such as cora (`pugnn methods` lists them), or one in $PUGNN_DATA.
        store: a graph store, a folder that `pugnn build` wrote, in place of --edges, --nodes and --attributes.
        edges: table of edges, one row per link, such as a payment: CSV, TSV, Parquet or JSON lines, also .gz, .zst,
            .bz2, .xz; 'part-*.csv' for many; or in a database: 'sqlite:///bank.db?select a as source, b as target from
            pays', duckdb:///, postgresql://. Repeatable: NAME=FILE for each of several relations (pays=pays.csv,
            device=devices.csv); user:bought:item=FILE if they link different kinds of nodes.
        edge_type: column of a single --edges table that names the relation of each row, such as pays or device.
        directed: keep who pays apart from who is paid: each relation within one kind of nodes becomes two, out and in.
            Without it, edges have no direction.
        nodes: table of nodes, such as accounts, and their attributes; without it, features are made from the edges.
            KIND=FILE for each of several kinds of nodes. Repeatable.
        attributes: attributes that are mostly zero, such as words: a table of id, attribute, value, without the zeros;
            or a matrix (.npz, .mtx) in the order of --nodes. Repeatable: KIND=FILE for nodes of another kind.
        positives: table with the ids of the known positives.
        checked: table of nodes that were checked, with a column verdict of yes and no, as `pugnn suggest --out` writes
            it; rows without a verdict are not checked yet. Repeatable.
        confirmed: table with the ids of nodes that were checked and are positive, in the form of --positives.
            Repeatable.
        rejected: table with the ids of nodes that were checked and are not positive. Repeatable.
        truth: table with the ids of all true positives, for metrics after training; never trained on.
        source: column with the node where each edge begins, such as the payer, if it is not called source, from or the
            like.
        target: column with the node where each edge ends, such as the payee; with several kinds of nodes, no column,
            but the kind in which positives are looked for.
        id: column of the ids in nodes and positives.
        weight: column that says how much each edge counts, such as an amount. If a few amounts are huge, log(1 +
            amount) is used, capped.
        time: column with the time of each edge, and of nodes, attributes and positives if they have it: dates, or whole
            numbers. Repeatable, if tables call it differently: pays=paid_at, with the name of a relation or a kind of
            nodes, or edges, nodes, attributes or positives, before the column.
        as_of: read the tables as they were at this moment, 2026-01-31, 2026-01-31T12:00, or a number such as 34:
            whatever is later by --time does not exist. A date includes that day.
        label: column of positives (and truth) whose 1 and 0 say which rows are positive.
        column: how to read an attribute: NAME=KIND with number, amount, category, boolean, text, vector, counts, ignore
            or a kind of another package (`pugnn methods`);
            'w_*=counts' for many; item.price=number for nodes of another kind. Repeatable.
        show: columns of the node table to show with the results, as they are: name,city. Repeatable.
        label_ratio: share of nodes to draw as known positives from a named data set. Default: 0.01.
        label_ratio_of: what it is a share of: all_nodes, all_positives, train_positives or train_nodes. Default:
            all_nodes.
        labels: number of known positives to draw, instead of a share.
        unlabelled: nodes that count as unlabelled: all, or those of the train split. Default: all.
    """

    dataset: str | None = None
    store: str | None = None
    edges: list[str] | None = None
    edge_type: str | None = None
    directed: bool | None = None
    nodes: list[str] | None = None
    attributes: list[str] | None = None
    positives: str | None = None
    checked: list[str] | None = None
    confirmed: list[str] | None = None
    rejected: list[str] | None = None
    truth: str | None = None
    source: str | None = None
    target: str | None = None
    id: str | None = None
    weight: str | None = None
    time: list[str] | None = None
    as_of: str | None = None
    label: str | None = None
    column: list[str] | None = None
    show: list[str] | None = None
    label_ratio: float | None = None
    label_ratio_of: str | None = None
    labels: int | None = None
    unlabelled: str | None = None


#: Options of what a store was built from.
FOR_GRAPHS = (
    *("edges", "edge_type", "directed", "nodes", "attributes", "source", "target", "weight", "time", "as_of", "column"),
    "show",
)
#: Options whose files may have the name of a relation or of a kind of nodes before them.
GIVEN_BY_NAME = ("edges", "nodes", "attributes")
#: Options of draws from a named data set; all others but its name are for tables and stores.
FOR_DRAWS = ("labels", "label_ratio", "label_ratio_of", "unlabelled")
#: Options of nodes that were checked, for tables and named data sets alike.
FEEDBACK = ("checked", "confirmed", "rejected")


def flag(name: str) -> str:
    """The option of a field: ``label_ratio`` → ``--label-ratio``."""
    return f"--{name.replace('_', '-')}"


def options_of(
    kind: type,
    panel: str = DATA,
    *,
    only: Collection[str] | None = None,
    without: Collection[str] = (),
    defaults: Mapping[str, Any] | None = None,
    hidden: Collection[str] = (),
) -> dict[str, Any]:
    """An option for each field of a dataclass, described as in its docstring; ``None`` where it is not given.

    The help shows ``defaults`` instead of those of the fields, and leaves out ``hidden`` fields.
    """
    hints, help_of, found = get_type_hints(kind), field_help(kind), {}
    for field in fields(kind):
        if field.name in without or (only is not None and field.name not in only):
            continue
        hint, words = hints[field.name], help_of.get(field.name, "")
        default = (defaults or {}).get(field.name, field.default)
        if default is MISSING:
            words += " Required."
        elif default is not None and default is not False:
            words += f" Default: {default}."
        choices = get_args(hint) if get_origin(hint) is Literal else ()
        parts = get_args(hint) or (hint,)
        value = str if choices or str in parts else next(part for part in parts if part is not type(None))
        metavar = f"[{'|'.join(choices)}]" if choices else None
        described = option(words, flag(field.name), panel=panel, metavar=metavar, hidden=field.name in hidden)
        found[field.name] = Annotated[value | None, described]
    return found


def with_options(command: Command, **groups: Mapping[str, Any]) -> Command:
    """A command with options in place of some of its parameters, which get those given as an object of their type."""
    hints = get_type_hints(command, include_extras=True)
    parameters = [
        Parameter(each, Parameter.KEYWORD_ONLY, default=None if name in groups else own.default, annotation=kind)
        for name, own in signature(command).parameters.items()
        for each, kind in groups.get(name, {name: hints[name]}).items()
    ]

    def run(**given: Any) -> None:
        for name, group in groups.items():
            values = {each: given.pop(each) for each in group}
            given[name] = hints[name](**{each: value for each, value in values.items() if value is not None})
        command(**given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


def field_help(dataclass: type) -> dict[str, str]:
    """What the section ``Args:`` of a docstring says of each field, as plain text."""
    section = re.search(r"^Args:\n((?:    .*\n?|\n)+)", getdoc(dataclass) or "", re.MULTILINE)
    entries = re.findall(r"^    (\w+): (.*(?:\n(?:     .*|\s*$))*)", section[1] if section else "", re.MULTILINE)
    return {name: _plain(words) for name, words in entries}


def summary(thing: object) -> str:
    """The first sentence of a docstring, as plain text."""
    return _plain((getdoc(thing) or "").split("\n\n")[0])


def _plain(text: str) -> str:
    name_first = text.startswith("`")
    text = re.sub(r":math:`([^`]*)`", r"\1", " ".join(text.split()))
    text = re.sub(r":\w+:`~?(?:pugnn\.)?([^`]*)`", r"\1", text).replace("``", "").replace("\\", "")
    return text if name_first or not text[:1].isascii() else text[:1].upper() + text[1:]
