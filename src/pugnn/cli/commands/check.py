"""`pugnn check`: look at a graph and its known positives before training."""

from __future__ import annotations

import shlex
from dataclasses import asdict

from pugnn.cli.input_data import read_input
from pugnn.cli.options import FEEDBACK, Config, DataOptions, Json, Seed, Verbose, command, flag, options_of
from pugnn.cli.terminal import make_console, print_check_up, print_json, print_notes, print_recipe
from pugnn.waiting import status_line


@command(data=options_of(DataOptions, without=(*FEEDBACK, "show")))
def check(
    *,
    config: Config = None,  # noqa: ARG001 (it has set the defaults of all others)
    data: DataOptions,
    seed: Seed = 0,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Check a graph and its known positives: what was read, whether it can work, and what `pugnn fit` will do with it.

    Do known positives cluster? Do they look like a random sample, or like those that are easiest to find? How many
    nodes lie at each distance from them?

    Examples:

        pugnn check --edges edges.csv --nodes nodes.csv --positives positives.csv

        pugnn check --dataset cora --labels 10
    """
    from pugnn.checkup import check_up

    found = read_input(data, seed=seed)
    assert found.task is not None
    print_notes(found.notes)
    with status_line() as line:
        line.say("checking the graph")
        checked = check_up(found.task, seed=seed)
    if as_json:
        recipe = [asdict(statement) for statement in found.recipe]
        record = {"options": found.options, "notes": list(found.notes), "recipe": recipe, **checked.to_plain()}
        print_json(record)
        return
    console = make_console()
    print_check_up(console, checked, next_command(data, seed), truth=found.benchmark)
    print_recipe(console, found.recipe, verbose=verbose)


def next_command(data: DataOptions, seed: int) -> str:
    """The command that trains on the same data with the default method, ready to be copied."""
    words = ["pugnn", "fit"]
    for name, value in vars(data).items():
        for each in value if isinstance(value, list) else [value]:
            words += [] if each is None else [flag(name)] if each is True else [flag(name), str(each)]
    words += ["--seed", str(seed)] if seed else []
    return shlex.join(words)
