"""`pugnn fit`: train on a graph and its known positives.

Where a new option goes: of the data into ``DataOptions`` of :mod:`pugnn.cli.options`; of a method or of a backbone, it
is a field of its class, and of the training a field of ``TrainingSettings``, which become options by themselves; of the
run, it is a parameter of :func:`fit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from pugnn.cli import declared, options
from pugnn.cli.config import Chosen, option_value, read_record, training_of
from pugnn.cli.input_data import read_input
from pugnn.cli.options import METHOD, OUTPUT, TRAINING, DataOptions, command, flag, option, options_of
from pugnn.errors import PugnnError, counted
from pugnn.registry import DEFAULT_METHOD

if TYPE_CHECKING:
    from pugnn.methods import Method
    from pugnn.runs.run import InputData


class _Fit(TyperCommand):
    """`fit` with the options of the method that is asked for."""

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        chosen = Chosen.of(args)
        single = typer.Typer(**options.SETTINGS_OF_APP)
        single.command("fit")(fit_command(chosen.method, args))
        return typer.main.get_command(single).make_context(info_name, args, parent, obj=chosen, **extra)


@command(cls=_Fit, data=options_of(DataOptions), settings={}, training={})
def fit(
    *,
    context: typer.Context,
    config: options.Config = None,
    data: DataOptions,
    seed: options.Seed = 0,
    out: options.Out = None,
    title: Annotated[
        str | None, option("Title of the report. Default: the name of the run folder.", panel=OUTPUT)
    ] = None,
    resume: options.Resume = False,
    verbose: options.Verbose = False,
    as_json: options.Json = False,
    method: Annotated[
        str | None, option("Name of the method; `pugnn methods` lists them. Default: views.", panel=METHOD)
    ] = None,
    settings: dict[str, Any],
    training: dict[str, Any],
    threshold: Annotated[
        str, option("Score from which a node is decided positive; or prior, to match the prior.", panel=TRAINING)
    ] = "0.5",
    budget: Annotated[
        int | None,
        option("Decide this many nodes positive, whatever the estimate: those that score highest.", panel=TRAINING),
    ] = None,
    decide: Annotated[bool, option("Decide although no signal is found.", "--decide", panel=TRAINING)] = False,
    device: Annotated[str, option("cpu, cuda or cuda:1.", panel=TRAINING)] = "cpu",
    start: Annotated[
        Path | None,
        option(
            "Continue from the model of this earlier run, and say what changed. With --config RUN/run.json and new "
            "--checked, --confirmed or --rejected nodes, that run.",
            panel=TRAINING,
        ),
    ] = None,
) -> None:
    """Train on a graph and its known positives; every node gets a score.

    No share of positives is needed: it is estimated. If you know it, give it, `--prior 0.1`, or its range, `--prior
    0.02..0.1`; to have the first 200 decided positive, `--budget 200`.

    The options of a method are shown by `pugnn fit --method NAME --help`. The known positives and the graph are checked
    first, as by `pugnn check`.

    The run folder holds `report.html` (open it in a browser), `scores.csv` and `scores.parquet` (every node, best
    first), `model.safetensors` (for `pugnn predict`), `run.json` (everything about the run; `--config` repeats it),
    `graph` (a copy of the data, for commands on the run) and `log.csv`.

    Examples:

        pugnn fit --dataset cora --labels 10

        pugnn fit --edges edges.csv --nodes nodes.csv --positives positives.csv --out runs/mine

        pugnn fit --edges 'edges-*.parquet' --positives known.csv --source payer --target payee

        pugnn fit --edges pays=pays.csv --edges device=devices.csv --positives known.csv --directed

        pugnn fit --edges pays.csv --positives known.csv --time paid_at --as-of 2026-01-31

        pugnn fit --store stores/mine --positives positives.csv --out runs/mine

        pugnn fit --edges edges.csv --nodes nodes.csv --positives positives.csv --method pu-gnn --prior 0.1

        pugnn fit --config mine.toml --out runs/mine --resume

        pugnn fit --config runs/mine/run.json --out runs/again

        pugnn fit --config runs/mine/run.json --checked to_check.csv --out runs/second
    """
    from pugnn.cli.training import train_and_show
    from pugnn.estimator import PUNodeClassifier
    from pugnn.memory import available_memory
    from pugnn.methods import make_method
    from pugnn.runs.changes import measured_for

    record = config if config is not None and config.suffix == ".json" else None
    repeats, prior = record and record.parent, settings.get("prior")
    measured = record is not None and prior is not None and measured_for(read_record(record).get("parent")) == prior
    if record is not None and any(_given(context, name) for name in options.FEEDBACK):
        data = _with_earlier_feedback(context, record, data)
        start = start if _given(context, "start") else repeats
        if measured and not _given(context, "prior"):  # for the earlier run, not for this one
            settings = {**settings, "prior": "auto"}
    more: dict[str, Any] = {"threshold": threshold, "budget": budget, "decide": decide, "seed": seed, "device": device}
    with suppress(ValueError):  # `prior`, or a word that is refused with the other parameters
        more["threshold"] = float(threshold)
    estimator = PUNodeClassifier(make_method(method or DEFAULT_METHOD, **settings), **training, **more)
    estimator.check_parameters()
    available_memory()  # if a limit is set, it must be one
    found = read_input(data, seed=seed)
    if not measured:
        _require_plausible(found, prior)
    shown: dict[str, Any] = {"verbose": verbose, "as_json": as_json, "title": title}
    train_and_show(estimator, found, name=found.name, out=out, resume=resume, start=start, repeats=repeats, **shown)


def _given(context: typer.Context, name: str) -> bool:
    """Whether an option is on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _with_earlier_feedback(context: typer.Context, record: Path, data: DataOptions) -> DataOptions:
    """With new feedback, that of the recorded run still counts."""
    both: dict[str, Any] = {}
    for name in filter(partial(_given, context), options.FEEDBACK):
        before = option_value(record, name, context.obj.config.get(name, []), list[str] | None)
        both[name] = list(dict.fromkeys([*before, *getattr(data, name)]))
    return replace(data, **both)


def _require_plausible(found: InputData, prior: object) -> None:
    """Raise if more nodes are confirmed than the given share of positives allows."""
    from pugnn.priors import prior_bounds

    if found.feedback is None or found.task is None or prior in (None, "auto"):
        return
    _, most = prior_bounds(prior)
    confirmed = len(found.feedback.confirmed)
    nodes = len(found.task.unlabelled) + confirmed + len(found.feedback.rejected)
    if confirmed > most * nodes:
        named = " and ".join(flag(name) for name in ("confirmed", "checked") if found.options.get(name))
        raise PugnnError(
            f"{counted(confirmed, 'node')} of {named} are more than the prior allows: a share of {most:g} is about "
            f"{most * nodes:.0f} of the {nodes:,} nodes. Give a larger --prior, or auto to have it estimated."
        )


def fit_command(name: str, arguments: Sequence[str]) -> options.Command:
    """The command with the options of a method."""
    method = declared.methods().get(name)
    if method is None:  # of another package, or an error that lists all methods
        from pugnn.methods import METHODS

        method = METHODS[name]
    settings = options_of(method, METHOD)
    found = options.with_options(
        fit, data=options_of(DataOptions), settings=settings, training=_training_options(method)
    )
    known = set(map(flag, found.__annotations__))
    for given in (argument.split("=")[0] for argument in arguments):
        if given.startswith("--") and given not in known and (owners := _owners(given)):
            mine = ", ".join(map(flag, settings)) or "none"
            raise PugnnError(f"{name} has no option {given}; it has {mine}. {given} belongs to {', '.join(owners)}.")
    return found


def _owners(option: str) -> list[str]:
    """The methods that have an option."""
    found: Mapping[str, Any] = declared.methods()
    if declared.plug_ins("pugnn.methods"):
        from pugnn.methods import METHODS

        found = METHODS.loadable()
    return [name for name, method in found.items() if option in (flag(field.name) for field in fields(method))]


def _training_options(method: type[Method]) -> dict[str, Any]:
    """Settings of the training, with the defaults of a method; those that have no effect on it are hidden."""
    defaults, settings = training_of(method), declared.training_settings()
    hidden = method.unused if method.trains else [field.name for field in fields(settings)]
    found = options_of(settings, TRAINING, without=("seed", "device"), defaults=defaults, hidden=hidden)
    backbone = defaults.get("backbone", settings.backbone)
    words = f"The network: {', '.join(declared.backbones())}. Default: {backbone}."
    return found | {"backbone": Annotated[str | None, option(words, panel=TRAINING, hidden="backbone" in hidden)]}
