"""`pugnn audit`: how good the list of a run is, measured on a few checks."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pugnn.cli.input_data import open_run
from pugnn.cli.options import ON_A_RUN, Json, command, option
from pugnn.cli.terminal import make_console, make_table, numbers, print_json, print_notes, texts
from pugnn.errors import PugnnError, WriteError, counted

if TYPE_CHECKING:
    from pugnn.evidence.audit import Audit
    from pugnn.evidence.purposes import Choice
    from pugnn.runs.run import Run

#: Nodes that are drawn where no number is given.
USUAL = 20
#: Panels of the help.
DRAW, RECORD, PURPOSE = "Drawing nodes to check", "Recording verdicts", "A list for a purpose"


#: Options of :func:`pugnn.evidence.purposes.choose_list`.
PURPOSES: dict[str, Any] = {
    "budget": Annotated[int | None, option("The first N nodes.", panel=PURPOSE)],
    "precision": Annotated[float | None, option("The longest list with this precision.", panel=PURPOSE)],
    "recall": Annotated[float | None, option("The shortest list with this recall.", panel=PURPOSE)],
    "cost_miss": Annotated[
        float | None, option("Cost of a missed positive; with --cost-check: the cheapest list.", panel=PURPOSE)
    ],
    "cost_check": Annotated[float | None, option("Cost of checking a node.", panel=PURPOSE)],
}


@command(ON_A_RUN, purpose=PURPOSES)
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
    about: Annotated[
        Literal["precision", "count", "both"] | None, option("What to measure. Default: both.", panel=DRAW)
    ] = None,
    all_of: Annotated[int | None, option("Check all of the first N nodes.", "--all-of", panel=DRAW, min=1)] = None,
    seed: Annotated[int | None, option("Seed of the draw. Default: 0.", panel=DRAW, min=0)] = None,
    out: Annotated[
        Path | None, option("File to fill in. Default: audit-1.csv, -2, … in the run folder.", panel=DRAW)
    ] = None,
    revise: Annotated[
        bool, option("Accept verdicts that differ from those recorded before.", "--revise", panel=RECORD)
    ] = False,
    purpose: dict[str, Any],
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
    from pugnn.runs.audit_log import last_choice, read_audit, recording

    drawing = count is not None or all_of is not None
    if drawing and (checked or purpose):
        raise PugnnError("draw nodes, with -n or --all-of, or record files or ask for a list; not both at once")
    if revise and not checked:
        raise PugnnError("--revise goes with the file whose verdicts are to be recorded")
    opened = open_run(run, as_trained=True)
    if checked:
        with recording(opened) as audit:
            before = audit.verdicts
            for file in checked:
                audit.record(str(file), revise=revise, source=str(file))
            choice = audit.choose(**purpose) if purpose else last_choice(opened, audit)
        replaced = sum(audit.verdicts[node] != verdict for node, verdict in before.items())
        changed = f", {replaced:,} replaced" if replaced else ""
        typer.echo(f"{counted(len(audit.verdicts) - len(before), 'new verdict')} recorded{changed}.", err=True)
    else:
        audit = read_audit(opened)
        if drawing or not (audit.draws or purpose):
            _draw(opened, count, all_of, out, as_json, about=about or "both", seed=seed or 0)
            return
        choice = audit.choose(**purpose) if purpose else last_choice(opened, audit)
    if about is not None or seed is not None or out is not None:
        print_notes(["--about, --seed and --out are for draws; add -n to draw more nodes"], "warning")
    _show(opened, audit, choice, whole=bool(checked) or not purpose, as_json=as_json)
    if audit.verdicts:
        _keep(opened, audit, choice)


def _draw(opened: Run, count: int | None, all_of: int | None, out: Path | None, as_json: bool, **how: Any) -> None:
    """Draw nodes and write them as a table to fill in."""
    from pugnn.runs.audit_log import recording
    from pugnn.runs.audit_table import place_file, write_draw
    from pugnn.runs.report import renew_report

    with recording(opened) as audit:
        if all_of is not None:
            audit.draw_first(all_of)
        else:
            audit.draw(min(USUAL, max(audit.left, 1)) if count is None else count, **how)
        place_file(opened, audit, out)
    draw = audit.draws[-1]
    file = write_draw(opened, audit, draw)  # if this fails, the next call finds it missing and writes it
    renew_report(opened)
    if as_json:
        print_json({**draw, "file": str(file)})
        return
    typer.echo(f"{counted(len(draw['nodes']), 'node')} to check, in random order: {file}")
    typer.echo("Fill in the column verdict with yes or no, as far as you get, and then:")
    typer.echo(f"  pugnn audit {shlex.quote(str(opened.path))} {shlex.quote(str(file))}")


def _show(opened: Run, audit: Audit, choice: Choice | None, *, whole: bool, as_json: bool) -> None:
    """Say how far the audit has come and, if the whole is wanted, how good the list is."""
    from pugnn.runs.audit_table import measured_rows, measured_title, next_checks, next_command, progress
    from pugnn.runs.report.answers import choice_words

    unfinished = progress(opened, audit)
    measured = audit.estimate() if audit.verdicts else None
    if as_json:
        chosen = None if choice is None else asdict(choice)
        plain = None if measured is None else measured.to_plain()
        print_json({"measured": plain, "choice": chosen, "unfinished": unfinished})
        return
    for each in unfinished:
        typer.echo(f"{each['file']}: {each['checked']} of {each['drawn']} checked")
    if measured is not None and whole:
        columns = [*texts(""), *numbers("value", "90 % interval")]
        make_console().print(make_table(columns, measured_rows(measured), measured_title(measured)))
        for sentence in next_checks(audit, measured):
            typer.echo(sentence)
    if choice is not None:
        typer.echo(choice_words(asdict(choice)))
    words, command = next_command(opened, audit, measured)
    typer.echo(f"{words}\n  {command}")


def _keep(opened: Run, audit: Audit, choice: Choice | None) -> None:
    """Write what was measured to the folder of the run; what was recorded and shown stays if that fails."""
    from pugnn.runs.audit_table import write_measured
    from pugnn.runs.report import renew_report

    try:
        write_measured(opened, audit, choice)
        renew_report(opened)
    except WriteError as error:
        print_notes([f"what was measured is not written: {error}"], "warning")
