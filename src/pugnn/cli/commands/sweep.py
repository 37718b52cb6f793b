"""`pugnn sweep`: search for good settings of a method."""

from __future__ import annotations

import json
import os
from contextlib import chdir, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pugnn.cli import options
from pugnn.cli.faults import plain_interrupts
from pugnn.cli.input_data import read_input
from pugnn.cli.options import METHOD, OUTPUT, SETTINGS, DataOptions, command, flag, option, options_of
from pugnn.cli.terminal import make_console, make_table, numbers, print_json
from pugnn.files import require_new, write_json, write_text

if TYPE_CHECKING:
    from rich.table import Table

    from pugnn.estimator import PUNodeClassifier
    from pugnn.runs.run import InputData
    from pugnn.sweep import Judgement, Trial

#: Trials that the terminal shows; `sweep.json` has all.
SHOWN = 10


@command(SETTINGS, data=options_of(DataOptions, without=("truth", "show")))
def sweep(
    *,
    config: options.Config = None,  # noqa: ARG001 (it has set the defaults of all others)
    data: DataOptions,
    method: Annotated[str | None, option("Name of the method. Default: views.", panel=METHOD)] = None,
    over: Annotated[
        list[str] | None,
        option(
            "A setting to search: NAME=LOW..HIGH or NAME=VALUE,VALUE; with NAME=VALUE it has that value throughout. "
            "Repeatable. Default: the usual ones of the method.",
            panel=METHOD,
        ),
    ] = None,
    trials: Annotated[int, option("Number of trials; each trains up to five times.", panel=METHOD)] = 30,
    executor: options.Executor = "local",
    jobs: Annotated[
        int | None,
        option(
            "Trials at a time, one thread each; default: one per core. With 1, the seed repeats a sweep.", panel=None
        ),
    ] = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path, option("Folder for records and results; recorded trials are not repeated.", panel=OUTPUT)
    ] = Path("sweep"),
    as_json: options.Json = False,
) -> None:
    """Search for settings with which hidden known positives rank high.

    Every trial hides the known positives in turn, in five folds, trains without them, and takes the mean share of
    unlabelled nodes that rank above them. The truth is never used. Trial 0 has the defaults. After an interruption the
    same command continues; several processes may share one folder.

    `best.toml` in the folder has the best settings, for `pugnn fit --config`; `sweep.json` all trials.

    Examples:

        pugnn sweep --dataset cora --labels 30 --method nnpu --trials 20

        pugnn sweep --edges edges.csv --nodes nodes.csv --positives positives.csv --over learning_rate=1e-4..1e-1
        --over hidden=16,64,256 --over epochs=100
    """
    from pugnn.evaluation import require_hidable
    from pugnn.methods import DEFAULT_METHOD
    from pugnn.sweep import Sweep, make_executor, parse_space, run_sweep

    name = method or DEFAULT_METHOD
    space, workers = parse_space(name, over or ()), make_executor(executor, jobs)
    source = (json.dumps(vars(data)), os.getcwd())
    found = _read(*source, seed)
    assert found.task is not None
    require_hidable(found.task)
    plan = Sweep(name, space, found.task.digest().hexdigest(), seed)
    _require_own(out, plan.name)
    try:
        with plain_interrupts():
            done = run_sweep(plan, partial(_judge, source, seed), out, workers, trials=trials)
    except KeyboardInterrupt:
        typer.echo(f"stopped; the same command with --out {out} continues from here", err=True)
        raise
    best = {**found.options, "method": name, **done[0].settings, "seed": seed}
    columns = ("number", "settings", "mean_rank", "failed", "seconds")
    listed = [{column: getattr(trial, column) for column in columns} for trial in done]
    result = {"sweep": plan.name, "method": name, "best": best, "trials": listed}
    write_json(out / "sweep.json", result)
    write_text(out / "best.toml", _toml(best))
    if as_json:
        print_json({"folder": str(out), **result})
        return
    make_console().print(_table(done))
    typer.echo(
        f"pugnn fit --config {out / 'best.toml'} trains with the best settings; all trials: {out / 'sweep.json'}"
    )


def _judge(source: tuple[str, str], seed: int, estimator: PUNodeClassifier) -> Judgement:
    """What a worker does: read the data, once, and try the settings."""
    from pugnn.sweep import judge

    task = _read(*source, seed).task
    assert task is not None
    return judge(estimator, task)


@lru_cache(maxsize=1)
def _read(data: str, folder: str, seed: int) -> InputData:
    """What the data options, as JSON, name in this folder."""
    with chdir(folder):
        return read_input(DataOptions(**json.loads(data)), seed=seed)


def _require_own(folder: Path, sweep: str) -> None:
    """Raise if there are results in the folder that this sweep has not written: it would overwrite them."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        if json.loads((folder / "sweep.json").read_text(encoding="utf-8"))["sweep"] == sweep:
            return
    require_new(folder / "best.toml")
    require_new(folder / "sweep.json")


def _toml(values: dict[str, Any]) -> str:
    """Options as TOML; text, numbers, booleans and lists are written there as in JSON, but for U+007F."""
    lines = []
    for name, each in values.items():
        line = f"{name} = {json.dumps(each, ensure_ascii=False)}".replace("\x7f", "\\u007f")
        if line.encode(errors="replace").decode() != line:
            line = f"# {name} is not UTF-8, which TOML cannot hold: give {flag(name)} on the command line"
        if each is not None:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _table(trials: list[Trial]) -> Table:
    defaults = next(trial for trial in trials if trial.number == 0)
    names = list(dict.fromkeys(name for trial in trials for name in trial.settings))
    rows = []
    for trial in trials[:SHOWN]:
        found = trial.gain(defaults)
        rank = "failed" if trial.failed is not None else f"{trial.mean_rank:.2%}"
        below = "" if found is None or trial is defaults else f"{100 * found[0]:.2f} ± {100 * found[1]:.2f} points"
        settings = (trial.settings.get(name, "default") for name in names)
        shown = (f"{value:.3g}" if isinstance(value, float) else str(value) for value in settings)
        rows.append((str(trial.number), rank, below, *shown))
    return make_table(numbers("trial", "mean rank", "below the defaults", *names), rows)
