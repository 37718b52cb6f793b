"""`pugnn suggest`: whom to check next."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated, cast

import typer

from pugnn.cli import options
from pugnn.cli.app import ON_A_RUN, command
from pugnn.cli.options import OUTPUT, option
from pugnn.errors import PugnnWarning, require_choice, require_whole

#: Nodes that are suggested where no number is given.
USUAL = 20
#: Columns of the file to be filled in; the last one is empty.
COLUMNS = ("id", "rank", "score", "reason", "verdict")


@command(ON_A_RUN)
def suggest(
    *,
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    count: Annotated[
        int | None, typer.Option("-n", "--count", help="How many nodes. Default: 20, or all if there are fewer.")
    ] = None,
    goal: Annotated[
        str, typer.Option("--for", metavar="[precision|discovery|learning]", help="What the answers are for.")
    ] = "precision",
    out: Annotated[
        Path | None,
        option(
            "Also write them as CSV, with an empty column verdict to fill in; `pugnn fit --checked` takes it back.",
            panel=OUTPUT,
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Suggest whom to check next, with the reason.

    `precision`: the best finds, the top of the list; how many are right tells how good the list is. `discovery`: likely
    positives that neither touch nor resemble the known ones, as far as there are any; they bring new kinds. `learning`:
    nodes that stand for many others, on both sides of the decision; their answers improve the next run most.

    Examples:

        pugnn suggest runs/mine

        pugnn suggest runs/mine -n 30 --for learning --out to_check.csv

        pugnn fit --config runs/mine/run.json --checked to_check.csv
    """
    from pugnn.cli.opened import open_run
    from pugnn.explain.suggest import GOALS, Goal
    from pugnn.files import replacing, require_new, write_csv

    if count is not None:
        require_whole("-n", count, 1)
    require_choice("--for", goal, GOALS)
    if out is not None:
        require_new(out)
    opened = open_run(run)
    if not opened.results.ranked:
        warnings.warn(
            f"the ranking of {run} means nothing, see its report; run again first", PugnnWarning, stacklevel=2
        )
    if not opened.evidence.signal and goal == "precision":
        warnings.warn(
            "no signal was found, so these may not be finds at all; --for learning may teach more",
            PugnnWarning,
            stacklevel=2,
        )
    wanted = min(USUAL, len(opened.task.unlabelled)) if count is None else count
    found = opened.suggest([cast(Goal, goal)], wanted)[goal]  # it is one of them, as checked above
    if out is not None:
        with replacing(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
            write_csv(file, COLUMNS, ([*each.values(), None] for each in found))
    if as_json:
        typer.echo(json.dumps(found))
        return
    from pugnn.cli.terminal import print_suggestions

    if not found:
        typer.echo("There are no such nodes.")
        return
    print_suggestions(found, goal, run, out)
    if len(found) < wanted:
        typer.echo(f"There are only {len(found):,} such nodes.")
