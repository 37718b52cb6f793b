"""`pugnn suggest`: which nodes to check next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from pugnn.cli.input_data import open_run
from pugnn.cli.options import ON_A_RUN, OUTPUT, Json, command, option
from pugnn.cli.terminal import print_json, print_notes, print_suggestions
from pugnn.errors import counted

#: Columns of the file to be filled in; the last one is empty.
COLUMNS = ("id", "rank", "score", "reason", "verdict")


@command(ON_A_RUN)
def suggest(
    *,
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    count: Annotated[
        int | None, typer.Option("-n", "--count", help="How many nodes. Default: 20, or all if there are fewer.", min=1)
    ] = None,
    goal: Annotated[
        Literal["precision", "discovery", "learning"], typer.Option("--for", help="What the answers are for.")
    ] = "precision",
    out: Annotated[
        Path | None,
        option(
            "Also write them as CSV, with an empty column verdict to fill in; `pugnn fit --checked` takes it back.",
            panel=OUTPUT,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Suggest which nodes to check next, with the reason.

    `precision`: the best finds, the top of the list; how many are right tells how good the list is. `discovery`: likely
    positives that neither touch nor resemble the known ones, as far as there are any; they bring new kinds. `learning`:
    nodes that stand for many others, on both sides of the decision; their answers improve the next run most.

    Examples:

        pugnn suggest runs/mine

        pugnn suggest runs/mine -n 30 --for learning --out to_check.csv

        pugnn fit --config runs/mine/run.json --checked to_check.csv
    """
    from pugnn.files import require_new
    from pugnn.runs.writers import write_table

    if out is not None:
        require_new(out)
    opened = open_run(run, as_trained=True)
    if not opened.results.ranked:
        print_notes([f"the ranking of {run} means nothing, see its report; run again first"], "warning")
    if not opened.evidence.signal and goal == "precision":
        print_notes(["no signal was found, so these may not be finds at all; --for learning may teach more"], "warning")
    wanted = min(20, len(opened.task.unlabelled)) if count is None else count
    found = opened.suggest([goal], wanted)[goal]
    if out is not None:
        write_table(out, COLUMNS, ([*each.values(), None] for each in found))
    if as_json:
        print_json(found)
        return
    if found:
        print_suggestions(found, goal, run, out)
    if len(found) < wanted:
        typer.echo(f"No more than {counted(len(found), 'node')} can be suggested.")
