"""`pugnn demo`: find papers of a field in a real citation network, or rings of fraud among made-up accounts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pugnn.cli.input_data import read_input
from pugnn.cli.options import DataOptions, Json, Out, Resume, Seed, command
from pugnn.errors import PugnnError

#: Accounts of the graph with relations, and how many fraudulent ones are known.
ACCOUNTS, KNOWN = 3000, 100


@command()
def demo(
    seed: Seed = 0,
    relations: Annotated[
        bool,
        typer.Option("--relations", help="Fraud among 3,000 made-up accounts that pay, share devices and log in."),
    ] = False,
    labels: Annotated[
        int | None, typer.Option(help="Number of known papers, or accounts. Default: 27, or 100.", min=1)
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Passes over the graph. Default: as the method chooses.", min=1)
    ] = None,
    out: Out = None,
    resume: Resume = False,
    as_json: Json = False,
) -> None:
    """Find papers on neural networks and probabilistic methods in Cora from a handful of known ones.

    Cora is a citation network of 2,708 papers that ships with pugnn, so this needs no network. By default 27
    papers are known, one in a hundred nodes, the paper's largest label ratio.

    With `--relations`, it writes the tables of `pugnn synthetic --relations` beside the run, and finds rings of
    fraudulent accounts by who pays whom, who shares a device, and what was paid.
    """
    from pugnn.cli.training import train_and_show
    from pugnn.estimator import PUNodeClassifier
    from pugnn.runs.folder import next_free

    if relations:
        if resume:
            raise PugnnError("--resume cannot be used with --relations, which takes seconds; start again")
        out = out or next_free(Path("runs"), "demo")
        data = _relations(Path(f"{out}-tables"), labels=labels or KNOWN, seed=seed, say=not as_json)
    else:
        data = DataOptions(dataset="cora", labels=27 if labels is None else labels)
    estimator = PUNodeClassifier(epochs=epochs, seed=seed)
    train_and_show(estimator, read_input(data, seed=seed), name="demo", out=out, resume=resume, as_json=as_json)


def _relations(folder: Path, *, labels: int, seed: int, say: bool) -> DataOptions:
    """Write the tables, and say which commands do what this one does."""
    from pugnn.datasets.planted_relations import write_planted_relations

    write_planted_relations(folder, nodes=ACCOUNTS, labels=labels, seed=seed)
    edges = {"account:pays:account": "pays", "account:uses:device": "devices", "account:logs_in:address": "logins"}
    data = DataOptions(
        edges=[f"{name}={folder / file}.csv" for name, file in edges.items()],
        nodes=[f"account={folder / 'accounts.csv'}"],
        target="account",
        directed=True,
        positives=str(folder / "positives.csv"),
        truth=str(folder / "truth.csv"),
    )
    if say:
        typer.echo(f"pugnn synthetic --relations --nodes {ACCOUNTS} --labels {labels} --seed {seed} --out {folder}")
        given = [*(f"--edges {each}" for each in data.edges or ()), *(f"--nodes {each}" for each in data.nodes or ())]
        more = f"--target account --directed --positives {data.positives} --truth {data.truth}"
        typer.echo(" \\\n  ".join(["pugnn fit", *given, more]) + "\n")
    return data
