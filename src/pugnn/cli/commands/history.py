"""`pugnn history`: the rounds of checks that led to a run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from pugnn.cli.config import read_record
from pugnn.cli.options import ON_A_RUN, Json, command
from pugnn.cli.terminal import make_console, make_table, numbers, print_json, print_notes, texts
from pugnn.errors import PugnnError, counted, percent, shown

#: The list whose precision is shown.
FIRST = 100
#: Nodes that are named among those that rose, and among those that fell.
MOST_MOVES = 3
#: Characters of the chart of a precision.
WIDTH = 40

Round = dict[str, Any]


@command(ON_A_RUN)
def history(
    *,
    run: Annotated[Path, typer.Argument(help="The folder of the last run.")],
    as_json: Json = False,
) -> None:
    """Show the rounds that led to a run: checks, what they measured, and what rose and fell.

    A run that goes on from another names it in its run.json; those are followed back. What is measured comes from
    `pugnn audit`; without it, nothing is measured.

    Examples:

        pugnn history runs/mine-2

        pugnn history runs/mine-2 --json
    """
    rounds, notes = follow(run)
    if as_json:
        print_json({"rounds": rounds, "notes": notes})
        return
    print_notes(notes)
    counts = ("known", "confirmed", "rejected")
    columns = [*texts("run"), *numbers(*counts, f"precision of {FIRST}", "of the decided", "positives")]
    rows = [
        [
            shown(each["run"]),
            *(f"{each[name]:,}" for name in counts),
            *(_words(each[name], percent, "not measured") for name in ("first", "decided")),
            _words(each["positives"], lambda count: f"{count:,.0f}", "unknown"),
        ]
        for each in rounds
    ]
    make_console().print(make_table(columns, rows, f"{counted(len(rounds), 'round')}, the first one first"))
    if any(each["first"] for each in rounds):
        typer.echo(f"Precision of the first {FIRST}, from 0 to 100 %:")
        width = max(len(row[0]) for row in rows)
        for row, each in zip(rows, rounds, strict=True):
            typer.echo(f"  {row[0]:{width}}  {chart(each['first'])}")
    for each in rounds:
        for name in ("rose", "fell"):
            if each[name]:
                moves = (f"{shown(node)} ({before:,} → {now:,})" for node, before, now in each[name])
                typer.echo(f"{shown(each['run'])}: {name} most: {', '.join(moves)}")


def follow(folder: Path) -> tuple[list[Round], list[str]]:
    """The rounds that led to a run, the first one first; and why there may be more."""
    if not (folder / "run.json").is_file():
        raise PugnnError(f"{folder} is not a run folder: it has no run.json. Give the folder that `pugnn fit` wrote.")
    rounds: list[Round] = []
    notes: list[str] = []
    seen: set[Path] = set()
    while True:
        seen.add(folder.resolve())
        try:
            record = read_record(folder / "run.json")
            rounds.append(_round(folder, record))
            if (parent := record.get("parent")) is None:
                break
            folder = _parent(folder, record["options"].get("start", ""), parent, seen)
        except (PugnnError, AttributeError, LookupError, TypeError, ValueError) as error:
            why = str(error) if isinstance(error, PugnnError) else f"{folder / 'run.json'} was changed after the run"
            if not rounds:
                raise PugnnError(why) from None
            notes.append(f"earlier rounds are not shown: {why}")
            break
    return rounds[::-1], notes


def _parent(child: Path, start: str, parent: dict[str, Any], seen: set[Path]) -> Path:
    """The folder of the parent of a run: by the way from its child, or else beside it, or as it was named once."""
    named = Path(os.path.normpath(child / parent["run"]))
    places = [named, child.resolve().parent / named.name, Path(start)]
    found = [place for place in places if (place / "run.json").is_file()]
    if not found:
        raise PugnnError(f"the parent of {child}, {named}, is not there any more")
    for place in found:
        if read_record(place / "run.json").get("finished") == parent["finished"]:
            if place.resolve() in seen:
                raise PugnnError(f"{child} names {named} as its parent, which came after it")
            return place
    raise PugnnError(f"{found[0]} is not the run that {child} went on from: it was finished at another time")


def _round(folder: Path, record: dict[str, Any]) -> Round:
    """A run in plain values; what was not measured is ``None``."""
    from pugnn.runs.report.answers import unknown_number

    changes, measured = record.get("changes") or {}, _measured(folder / "audit.json")
    first = [each for each in measured.get("first", []) if each["taken"] == FIRST]
    decided, number = measured.get("decided"), measured.get("positives", {})
    return {
        "run": str(folder),
        "finished": record["finished"],
        "known": int(record["labelled"]),
        "confirmed": int(changes.get("confirmed", 0)),
        "rejected": int(changes.get("rejected", record["negative"])),
        "checks": measured.get("checks", 0),
        "first": next((each["precision"] for each in first if each["checked"]), None),
        "decided": decided["precision"] if decided and decided["checked"] else None,
        "positives": number if measured.get("checks") and not unknown_number(number) else None,
        **{
            name: [[each["id"], each["rank_before"], each["rank_now"]] for each in changes.get(name, [])[:MOST_MOVES]]
            for name in ("rose", "fell")
        },
    }


def _measured(file: Path) -> dict[str, Any]:
    """What `pugnn audit` wrote; nothing if there was no audit."""
    if not file.is_file():
        return {}
    try:
        return dict(json.loads(file.read_text(encoding="utf-8"))["measured"])
    except (OSError, ValueError, LookupError, TypeError):
        raise PugnnError(f"{file} was changed. `pugnn audit {file.parent}` writes it again.") from None


def _words(band: dict[str, float] | None, word: Any, unknown: str) -> str:
    if band is None:
        return unknown
    value, low, high = (word(band[name]) for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def chart(band: dict[str, float] | None) -> str:
    """A share and its interval between 0 and 1 as a line of text.

    Example:
        >>> chart({"value": 0.5, "low": 0.25, "high": 0.75})
        '··········├─────────●─────────┤·········'
    """
    line = ["·"] * WIDTH
    if band is not None:
        low, value, high = (min(int(WIDTH * band[name]), WIDTH - 1) for name in ("low", "value", "high"))
        line[low : high + 1] = "─" * (high + 1 - low)
        line[low], line[high] = "├", "┤"
        line[value] = "●"
    return "".join(line)
