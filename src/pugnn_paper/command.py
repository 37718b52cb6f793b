"""`pugnn reproduce`: the paper's tables, measured and published values side by side, and studies beside them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from pugnn.cli import options
from pugnn.cli.options import OUTPUT, option
from pugnn.errors import PugnnError

if TYPE_CHECKING:
    from pugnn_paper.pages.study_page import Share

EXAMPLES = {"--ratios": "0.001,0.01", "--labels": "10,30", "--shares": "natural,0.02"}
Number = TypeVar("Number")


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="table1, table2, table3, table4, table5, all of these, or checks; or a study: graphs, wrong-prior, "
            "biased-labels, rare."
        ),
    ],
    datasets: Annotated[
        str | None, option("Names with commas: cora,citeseer. Default: those of the table or study.")
    ] = None,
    methods: Annotated[
        str | None, option("Rows of table 2 or of a study, with commas: dist-pu,pu-gnn. Default: all.")
    ] = None,
    ratios: Annotated[str | None, option("Label ratios, with commas: 0.001,0.01. Default: the paper's.")] = None,
    labels: Annotated[str | None, option("Numbers of labels of a study, with commas: 10,30.")] = None,
    shares: Annotated[str | None, option("Shares of positives in `rare`, with commas: natural,0.02.")] = None,
    draws: Annotated[int | None, option("Repetitions of every training. Default: 10; studies: 5.")] = None,
    reading: Annotated[
        str,
        option(
            "How to read what the paper leaves open: default, training-u, ratio-of-positives, literal-ratio, one-draw, "
            "literal-sum, mean-mean; several with commas, or all."
        ),
    ] = "default",
    executor: options.Executor = "local",
    jobs: Annotated[
        int | None,
        option("Trainings at a time, one thread each; default: one per core. Results do not depend on it.", panel=None),
    ] = None,
    out: Annotated[
        Path,
        option(
            "Folder for records and pages. Recorded trainings are not repeated; pages show the last command.",
            panel=OUTPUT,
        ),
    ] = Path("reproduction"),
    as_json: options.Json = False,
) -> None:
    """Repeat the tables of the PU-GNN paper, with published beside measured values.

    Each table becomes a Markdown and an HTML page in the folder. After an interruption, even a crash, the same command
    continues; several processes may share one folder. `checks` compares GRAB and nnPU with values from other papers, in
    those papers' own protocols.

    Studies have no published values: `graphs` compares the methods on eleven graphs with 10, 30 and 100 labels,
    `wrong-prior` shows what a wrong prior costs, `biased-labels` what it costs if the known positives are no random
    sample, and `rare` compares rankings where positives are as few as one in a thousand. Most of their data sets must
    be in the folder that PUGNN_DATA names.

    Examples:

        pugnn reproduce all --draws 1 --datasets cora

        pugnn reproduce table2 --datasets cora,citeseer --methods nnpu,dist-pu,pu-gnn --ratios 0.01

        pugnn reproduce table3 --reading all

        pugnn reproduce graphs --datasets cora,amazon_cs --methods views,dist-pu --labels 30 --draws 2
    """
    from pugnn.waiting import duration
    from pugnn_paper.reproduce import Request
    from pugnn_paper.reproduce import reproduce as run
    from pugnn_paper.rows import READINGS

    request = Request(
        what,
        datasets=_names(datasets),
        methods=_names(methods),
        ratios=_numbers("--ratios", ratios, float),
        labels=_numbers("--labels", labels, int),
        shares=_numbers("--shares", shares, _share),
        draws=draws,
        readings=list(READINGS) if reading == "all" else _names(reading) or ("default",),
    )
    started = time.perf_counter()
    try:
        written = run(request, out, jobs=jobs, executor=executor)
    except KeyboardInterrupt:
        typer.echo(f"stopped; the same command with --out {out} continues from here", err=True)
        raise
    seconds = time.perf_counter() - started
    if as_json:
        typer.echo(json.dumps({"files": [str(path) for path in written], "seconds": round(seconds, 1)}))
        return
    for path in written:
        typer.echo(str(path))
    typer.echo(f"done in {duration(seconds)}; open an .html page in a browser")


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise PugnnError(f"expected names separated by commas, got {text!r}")
    return list(dict.fromkeys(names))


def _numbers(option: str, text: str | None, kind: Callable[[str], Number]) -> list[Number] | None:
    names = _names(text)
    try:
        return None if names is None else [kind(name) for name in names]
    except ValueError:
        words = f"numbers separated by commas, such as {EXAMPLES[option]}"
        raise PugnnError(f"{option} are {words}; got {text!r}") from None


def _share(text: str) -> Share:
    return "natural" if text == "natural" else float(text)
