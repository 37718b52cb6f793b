"""A test over time: from options of tables, or from those of a run, to what was found."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.text import Text

from pugnn import evaluation
from pugnn.cli.input_data import by_name, named_kinds, read_run
from pugnn.cli.options import FEEDBACK, FOR_DRAWS, DataOptions
from pugnn.cli.terminal import make_console, make_table, numbers, print_json, print_notes
from pugnn.errors import PugnnError, percent
from pugnn.estimator import PUNodeClassifier
from pugnn.evidence.over_time import Beginning
from pugnn.evidence.rank_model import Band
from pugnn.files import write_json
from pugnn.store import read_graph
from pugnn.waiting import part, status_line

#: The file in the folder of a run.
NAME = "over_time.json"


def evaluate_over_time(
    run: Path | None,
    data: DataOptions,
    then: str | None,
    others: list[PUNodeClassifier],
    *,
    seed: int,
    as_json: bool,
) -> None:
    """Rank as of one moment, and show who of those that became known by another one was found.

    The method is that of the run, or the default; ``others`` are compared with it.
    """
    if then is None or data.as_of is None:
        raise PugnnError("a test over time needs both: --as-of, to rank nodes, and --then, until when to find others")
    own, notes = PUNodeClassifier(seed=seed), list[str]()
    options: dict[str, Any] = {}
    if run is not None:
        _, options, own = read_run(run)
        if not options.get("edges"):
            raise PugnnError(f"{run} was not trained on tables, and a test over time reads them as of another moment")
        left_out = [name for name in (*FEEDBACK, "truth") if options.get(name)]
        if left_out:
            words = " and ".join(f"--{name}" for name in left_out)
            notes.append(f"without {words} of {run}: nothing says when its nodes were known")
    options |= {name: value for name, value in asdict(data).items() if value not in (None, [], False)}
    if not options.get("edges") or not options.get("positives"):
        raise PugnnError("specify what to read: --edges FILE --positives FILE --time COLUMN, or a run folder")
    kinds = named_kinds(options.get("column", ()))
    given = {name: options[name] for name in options if name not in (*FEEDBACK, *FOR_DRAWS, "truth", "show", "column")}
    with status_line() as line:
        read = read_graph(**by_name(given), kinds=kinds, then=then, on_phase=line.say)
    notes += read.notes
    estimators = [own, *(other.set_params(seed=own.seed, device=own.device) for other in others)]
    with part(0, 1):
        found = evaluation.evaluate_over_time(estimators, read, progress=True)
    record = {"notes": notes, "over_time": {name: each.to_plain() for name, each in found.items()}}
    if run is not None:
        write_json(run / NAME, record)
    if as_json:
        print_json(record)
        return
    print_notes(notes)
    console = make_console()
    for name, each in found.items():
        for sentence in each.sentences if each is next(iter(found.values())) else each.sentences[1:2]:
            console.print(Text(sentence))
        columns = numbers("first", "became known", "precision", "recall", "lift", "by chance")
        console.print(make_table(columns, list(map(_row, each.beginnings)), f"{name}, with 90 % intervals"))


def _row(found: Beginning) -> list[str]:
    lift = f"{found.lift.value:.1f} ({found.lift.low:.1f}–{found.lift.high:.1f})"
    chance = "< 0.001" if found.chance < 0.001 else f"{found.chance:.3f}"
    return [f"{found.nodes:,}", f"{found.found:,}", _shares(found.precision), _shares(found.recall), lift, chance]


def _shares(band: Band) -> str:
    return f"{percent(band.value)} ({percent(band.low).removesuffix(' %')}–{percent(band.high).removesuffix(' %')})"
