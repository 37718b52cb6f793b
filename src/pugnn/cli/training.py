"""What `fit` and `demo` share: a run into its folder, and its result on the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from pugnn.cli.options import Source
from pugnn.cli.tables import print_run
from pugnn.errors import PugnnError
from pugnn.estimator import PUNodeClassifier
from pugnn.runs import RunFolder, next_free, train_into_folder


def train_and_show(
    estimator: PUNodeClassifier, source: Source, *, name: str, out: Path | None, resume: bool, as_json: bool
) -> None:
    """Train into ``out``, or the next free folder of that name in ``runs``, and show the result."""
    assert source.task is not None
    if resume and out is None:
        raise PugnnError("--resume needs --out, the name of the run that was stopped")
    folder = RunFolder(out if out is not None else next_free(Path("runs"), name), resume=resume)
    try:
        run = train_into_folder(estimator, source.task, folder, source=source.description, truth=source.benchmark)
    except KeyboardInterrupt:
        if folder.checkpoint.exists():
            typer.echo(f"stopped; the same options with --out {folder.path} --resume go on from here", err=True)
        raise
    if as_json:
        typer.echo(json.dumps({"folder": str(run.path), **run.record}))
    else:
        print_run(run, source)
