"""`pugnn demo`: find papers of a field in a real citation network."""

from __future__ import annotations

from typing import Annotated

import typer

from pugnn.cli.input_data import read_input
from pugnn.cli.options import DataOptions, Json, Out, Resume, Seed, command


@command()
def demo(
    seed: Seed = 0,
    labels: Annotated[int, typer.Option(help="Number of known papers.", min=1)] = 27,
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
    """
    from pugnn.cli.training import train_and_show
    from pugnn.estimator import PUNodeClassifier

    source = read_input(DataOptions(dataset="cora", labels=labels), seed=seed)
    estimator = PUNodeClassifier(epochs=epochs, seed=seed)
    train_and_show(estimator, source, name="demo", out=out, resume=resume, as_json=as_json)
