"""`pugnn audit`: how good the list of a run is, measured on a few checks."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pugnn.cli.input_data import open_run
from pugnn.cli.options import ON_A_RUN, Json, command, option
from pugnn.cli.terminal import make_console, make_table, numbers, print_json, texts
from pugnn.errors import PugnnError, counted

if TYPE_CHECKING:
    from pugnn.evidence.audit import Audit, Choice
    from pugnn.evidence.stretches import About
    from pugnn.runs.run import Run

#: Nodes that are drawn where no number is given.
USUAL = 20
#: Panels of the help.
DRAW, RECORD, PURPOSE = "Drawing nodes to check", "Recording verdicts", "A list for a purpose"


@command(ON_A_RUN)
def audit(
    *,
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    checked: Annotated[
        list[Path] | None,
        typer.Argument(help="Filled-in files: of this audit, of `pugnn suggest`, or any table of id and verdict."),
    ] = None,
    count: Annotated[
        int | None,
        option(
            "How many nodes to draw. Default: 20, or none if some are still open.", "-n", "--count", panel=DRAW, min=1
        ),
    ] = None,
    about: Annotated[Literal["precision", "count", "both"], option("What to measure.", panel=DRAW)] = "both",
    all_of: Annotated[
        int | None, option("Check all of the first so many nodes.", "--all-of", panel=DRAW, min=1)
    ] = None,
    seed: Annotated[int, option("Of the draw.", panel=DRAW, min=0)] = 0,
    out: Annotated[
        Path | None, option("File to fill in. Default: audit-1.csv, -2, … in the run folder.", panel=DRAW)
    ] = None,
    revise: Annotated[
        bool, option("Accept verdicts that differ from those recorded before.", "--revise", panel=RECORD)
    ] = False,
    budget: Annotated[int | None, option("The first so many nodes.", panel=PURPOSE)] = None,
    precision: Annotated[float | None, option("The longest list with this precision.", panel=PURPOSE)] = None,
    recall: Annotated[float | None, option("The shortest list with this recall.", panel=PURPOSE)] = None,
    cost_miss: Annotated[
        float | None, option("Cost of a missed positive; with --cost-check: the cheapest list.", panel=PURPOSE)
    ] = None,
    cost_check: Annotated[float | None, option("Cost of checking a node.", panel=PURPOSE)] = None,
    as_json: Json = False,
) -> None:
    """Draw nodes to check, and measure on their verdicts how good the list is.

    Without negatives nobody can know how many positives there are. A few nodes drawn at random from all parts of the
    ranking and checked by you tell it, with intervals that hold whatever the model is.

    Examples:

        pugnn audit runs/mine                                # draws 20 nodes; fill in the column verdict: yes or no

        pugnn audit runs/mine runs/mine/audit-1.csv          # records the verdicts and says how good the list is

        pugnn audit runs/mine --recall 0.9                   # how far down the list to go

        pugnn audit runs/mine --cost-miss 50 --cost-check 1
    """
    from pugnn.files import require_new
    from pugnn.runs.audit_log import read_audit, recording

    purpose: dict[str, Any] = {
        "budget": budget,
        "precision": precision,
        "recall": recall,
        "cost_miss": cost_miss,
        "cost_check": cost_check,
    }
    asked = any(value is not None for value in purpose.values())
    drawing = count is not None or all_of is not None
    if checked and drawing:
        raise PugnnError("either record verdicts or draw nodes: give files, or -n or --all-of, but not both")
    if out is not None:
        require_new(out)
    opened = open_run(run)
    if checked:
        with recording(opened) as audit:
            _record(audit, checked, revise)
    else:
        audit = read_audit(opened)
        if drawing or not audit.events:
            _draw(opened, count, about, all_of, seed, out, as_json)
            return
    choice = audit.choose(**purpose) if asked else None
    _show(opened, audit, choice, as_json=as_json)


def _record(audit: Audit, files: list[Path], revise: bool) -> None:
    before = len(audit.verdicts)
    for file in files:
        audit.record(str(file), revise=revise, source=file.name)
    typer.echo(f"{counted(len(audit.verdicts) - before, 'verdict')} recorded.", err=True)


def _draw(
    opened: Run, count: int | None, about: About, all_of: int | None, seed: int, out: Path | None, as_json: bool
) -> None:
    """Draw nodes and write them as a table to fill in."""
    from pugnn.files import replacing, require_new, write_csv
    from pugnn.runs.audit_log import next_file, recording
    from pugnn.runs.audit_table import audit_table
    from pugnn.runs.report import renew_report

    file = next_file(opened.path) if out is None else out
    with recording(opened) as audit:
        if all_of is not None:
            audit.draw_first(all_of)
        else:
            left = len(audit.ranking) - len(set(audit.drawn.tolist()) | audit.verdicts.keys())
            audit.draw(min(USUAL, left) if count is None else count, about=about, seed=seed)
        require_new(file)
        columns, rows = audit_table(opened, audit)
        with replacing(file) as temporary, temporary.open("w", encoding="utf-8", newline="") as content:
            write_csv(content, columns, rows)
    renew_report(opened)
    if as_json:
        print_json({"file": str(file), **audit.events[-1]})
        return
    number = len(audit.events[-1]["nodes"])
    typer.echo(f"{counted(number, 'node')} to check, in random order: {file}")
    typer.echo("Fill in the column verdict with yes or no, as far as you get, and then:")
    typer.echo(f"  pugnn audit {shlex.quote(str(opened.path))} {shlex.quote(str(file))}")


def _show(opened: Run, audit: Audit, choice: Choice | None, *, as_json: bool) -> None:
    """Say how good the list is, and keep that in the folder of the run."""
    from pugnn.runs.audit_table import measured_rows, next_checks, write_measured
    from pugnn.runs.report import renew_report

    if not audit.verdicts:
        typer.echo(
            f"{counted(len(audit.open), 'node')} drawn, none checked yet. Fill in the column verdict of the file."
        )
        return
    measured = audit.estimate()
    found = write_measured(opened, audit, measured, choice)
    renew_report(opened)
    if as_json:
        print_json(found)
        return
    console = make_console()
    title = f"Measured on {counted(measured.checks, 'check')}, {measured.positive} of them positive"
    columns = [*texts(""), *numbers("value", "90 % interval")]
    console.print(make_table(columns, measured_rows(measured), title))
    for sentence in next_checks(audit, measured):
        typer.echo(sentence)
    if choice is not None:
        costs = "" if choice.cost is None else f", at a cost of {choice.cost:,.0f}"
        typer.echo(
            f"For {choice.purpose}: the first {choice.taken:,} nodes, with about {choice.found:,.0f} positives; about "
            f"{choice.missed:,.0f} are missed (precision {choice.precision:.2f}, recall {choice.recall:.2f}){costs}."
        )
