"""`pugnn sweep`: search for good settings of a method."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from contextlib import chdir
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from pugnn.cli import options
from pugnn.cli.app import SETTINGS, command
from pugnn.cli.input_data import read_input
from pugnn.cli.options import DATA, METHOD, OUTPUT, DataOptions, flag, option, options_of
from pugnn.errors import PugnnError, PugnnWarning

if TYPE_CHECKING:
    from pugnn_paper.records import Record
    from pugnn.runs.run import InputData
    from pugnn.sweep.sweep import Trial

#: Trials that the terminal shows; `sweep.json` has all.
SHOWN = 10


@command(SETTINGS, data=options_of(DataOptions, DATA, without=("truth", "show")))
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
    from pugnn.executors import make_executor
    from pugnn.sweep.space import parse_space
    from pugnn_paper.records import RecordStore
    from pugnn.sweep.sweep import Sweep, run_sweep
    from pugnn.files import replacing
    from pugnn.methods import DEFAULT_METHOD

    name = method or DEFAULT_METHOD
    space, workers = parse_space(name, over or ()), make_executor(executor, jobs)
    source = (json.dumps(vars(data)), os.getcwd())
    found = _read(*source, seed)
    assert found.task is not None
    require_hidable(found.task)
    plan = Sweep(name, space, found.task.digest().hexdigest(), seed)
    _require_own(out, plan.name)
    store = RecordStore(out)
    try:
        records = run_sweep(plan, partial(_judge, source), store, workers, trials=trials)
    except KeyboardInterrupt:
        typer.echo(f"stopped; the same command with --out {out} continues from here", err=True)
        raise
    best = {**found.options, "method": name, **records[0]["trial"]["settings"], "seed": seed}
    trials_done = [_plain(record) for record in records]
    result = {"sweep": plan.name, "method": name, "best": best, "trials": trials_done}
    toml = _toml(best)
    best_toml = f"{_seal(plan.name, toml)}\n{toml}"
    for file, text in (("best.toml", best_toml), ("sweep.json", json.dumps(result, indent=2) + "\n")):
        with replacing(out / file) as temporary:
            temporary.write_text(text, encoding="utf-8")
    if as_json:
        typer.echo(json.dumps({"folder": str(out), **result}))
        return
    Console(highlight=False, emoji=False).print(_table(records))
    typer.echo(
        f"pugnn fit --config {out / 'best.toml'} trains with the best settings; all trials: {out / 'sweep.json'}"
    )


def _judge(source: tuple[str, str], trial: Trial) -> Record:
    """What a worker does: read the data, once, and try the settings."""
    from pugnn.sweep.sweep import judge

    task = _read(*source, trial.seed).task
    assert task is not None
    return judge(trial, task)


@lru_cache(maxsize=1)
def _read(data: str, folder: str, seed: int) -> InputData:
    """What the data options, as JSON, name in this folder."""
    with chdir(folder):
        found = read_input(DataOptions(**json.loads(data)), seed=seed)
    if found.task is None:
        raise PugnnError("specify the known positives: --positives FILE")
    return found


def _plain(record: Record) -> dict[str, Any]:
    trial = record["trial"]
    kept = {name: record[name] for name in ("mean_rank", "failed", "seconds")}
    return {"number": trial["number"], "settings": trial["settings"], **kept}


def _require_own(folder: Path, sweep: str) -> None:
    """Raise if a result in the folder is of another sweep, or was changed: this one would overwrite it."""
    best, listed = folder / "best.toml", folder / "sweep.json"
    for path, is_own in ((best, _is_own_best), (listed, _is_own_list)):
        try:
            own = not os.path.lexists(path) or (path.is_file() and is_own(path.read_text(encoding="utf-8"), sweep))
        except (OSError, ValueError):  # nothing that a sweep has written
            own = False
        if not own:
            raise PugnnError(
                f"{path} already exists and is not overwritten: it is not what this sweep wrote there. Choose another "
                "--out, or remove it first."
            )


def _is_own_best(text: str, sweep: str) -> bool:
    seal, _, rest = text.partition("\n")
    return seal == _seal(sweep, rest)


def _is_own_list(text: str, sweep: str) -> bool:
    listed = json.loads(text)
    return isinstance(listed, dict) and listed.get("sweep") == sweep


def _seal(sweep: str, text: str) -> str:
    """The first line of `best.toml`, by which the same sweep knows that nobody has changed it."""
    return f"# pugnn sweep {hashlib.sha256((sweep + text).encode()).hexdigest()[:24]}"


def _toml(values: dict[str, Any]) -> str:
    """Options as TOML; text, numbers, booleans and lists are written there as in JSON, but for U+007F."""
    lines = []
    for name, each in values.items():
        line = f"{name} = {json.dumps(each, ensure_ascii=False)}".replace("\x7f", "\\u007f")
        if line.encode(errors="replace").decode() != line:
            line = f"# {name} is not UTF-8, which TOML cannot hold: give {flag(name)} on the command line"
            words = f"best.toml leaves {flag(name)} out, which is not UTF-8; give it to fit on the command line"
            warnings.warn(words, PugnnWarning, stacklevel=2)
        if each is not None:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _table(records: list[Record]) -> Table:
    from pugnn.sweep.sweep import gain

    defaults = next(record for record in records if record["trial"]["number"] == 0)
    names = list(dict.fromkeys(name for record in records for name in record["trial"]["settings"]))
    columns = (Column(name, justify="right") for name in ("trial", "mean rank", "below the defaults", *names))
    table = Table(*columns, box=None)
    for record in records[:SHOWN]:
        trial, found = record["trial"], gain(record, defaults)
        rank = "failed" if record["failed"] is not None else f"{record['mean_rank']:.2%}"
        below = "" if found is None or record is defaults else f"{100 * found[0]:.2f} ± {100 * found[1]:.2f} points"
        settings = [_shown(trial["settings"].get(name, "default")) for name in names]
        table.add_row(str(trial["number"]), rank, below, *settings)
    return table


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
