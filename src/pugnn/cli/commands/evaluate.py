"""`pugnn evaluate`: how good the ranking of a run is, from known positives that are hidden in turn."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from pugnn.cli.input_data import open_run
from pugnn.cli.options import ON_A_RUN, OUTPUT, Json, command, option
from pugnn.cli.terminal import make_console, make_table, numbers, print_json, texts
from pugnn.errors import PugnnError
from pugnn.waiting import part

if TYPE_CHECKING:
    from pugnn.evidence import Band, Estimate


@command(ON_A_RUN)
def evaluate(
    *,
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    methods: Annotated[
        str | None, option("Other methods to compare with on the same data and folds, such as nnpu,grab.", panel=OUTPUT)
    ] = None,
    as_json: Json = False,
) -> None:
    """Train a run's method again without some of the known positives, in five turns, and see where it ranks them.

    That gives bands of precision, recall, F1 and AUC without any known negative. They hold if the known positives are
    typical of all. It takes five trainings.

    Examples:

        pugnn evaluate runs/mine

        pugnn evaluate runs/mine --methods nnpu,pu-gnn
    """
    from pugnn.checkup import check_up
    from pugnn.estimator import PUNodeClassifier
    from pugnn.evaluation import evaluate_all
    from pugnn.files import write_json
    from pugnn.runs.estimates import with_truth

    others = [PUNodeClassifier(name.strip()) for name in (methods or "").split(",") if name.strip()]
    for estimator in others:
        estimator.check_parameters()
    opened = open_run(run)
    own = opened.estimator
    caveat = check_up(opened.task, seed=own.seed).caveat
    found: dict[str, dict[str, Any] | None] = {}
    rows = []
    compared = [own, *(other.set_params(seed=own.seed, device=own.device) for other in others)]
    evaluated = evaluate_all(compared, opened.task, caveat=caveat, progress=True)
    with part(0, 1):
        for estimator, (name, estimate) in zip(compared, evaluated, strict=True):
            if estimate is None and estimator is own:
                raise PugnnError("all nodes have the same score, so that hidden positives say nothing about a ranking")
            truth = (estimator.decision_function(), estimator.predict(), opened.truth)
            found[name] = None if estimate is None else with_truth(estimate, *truth)
            rows.append((name, *_bands(estimate)))
    mine = next(iter(found.values()))
    assert mine is not None
    write_json(run / "estimate.json", found)
    if as_json:
        print_json({"run": str(run), "estimates": found})
        return
    console = make_console()
    for sentence in (*mine["headline"], *([caveat] if caveat else [])):
        console.print(Text(sentence))
    bands = ("AUC", "precision of the first 100", "of those decided positive", "recall", "F1")
    console.print(make_table([*texts("method"), *numbers(*bands)], rows))
    typer.echo(f"all of it: {run / 'estimate.json'}")


def _bands(estimate: Estimate | None) -> list[str]:
    from pugnn.runs.report.answers import with_band

    if estimate is None:
        return ["all scores are equal"]
    first = next((part.precision for part in estimate.first if part.taken == 100), None)
    decided = estimate.decided
    bands: list[Band | None] = [estimate.auc, first]
    bands += [None] * 3 if decided is None else [decided.precision, decided.recall, decided.f1]
    return ["–" if band is None else with_band(asdict(band)) for band in bands]
