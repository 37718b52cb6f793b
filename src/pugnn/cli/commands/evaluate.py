"""`pugnn evaluate`: how good the ranking of a run is, from known positives that are hidden in turn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from pugnn.cli.input_data import open_run
from pugnn.cli.options import ON_A_RUN, OUTPUT, Json, command, option
from pugnn.cli.terminal import make_console, make_table, numbers, print_json, texts
from pugnn.errors import PugnnError, counted, percent
from pugnn.waiting import part

if TYPE_CHECKING:
    from pugnn.evidence import Estimate

#: Shares of the ranking in which hidden positives are counted.
TOPS = (0.01, 0.05, 0.1)


@command(ON_A_RUN)
def evaluate(
    *,
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    methods: Annotated[
        str | None,
        option("Other methods to compare with on the same data and folds, such as centroid,nnpu.", panel=OUTPUT),
    ] = None,
    as_json: Json = False,
) -> None:
    """Train a run's method again without some of the known positives, in five turns, and see where it ranks them.

    That says how good the ranking is without any known negative, if the known positives are typical of all. Other
    methods are compared on the same hidden positives, and on those that an audit of the run has found: either the best
    one ranks them higher, or there is no verdict. Each method takes five trainings.

    Examples:

        pugnn evaluate runs/mine

        pugnn evaluate runs/mine --methods centroid,label-propagation
    """
    import numpy as np

    from pugnn.checkup import check_up
    from pugnn.estimator import PUNodeClassifier
    from pugnn.evaluation import evaluate_all
    from pugnn.files import write_json
    from pugnn.runs.audit_log import read_audit
    from pugnn.runs.estimates import with_truth

    others = [PUNodeClassifier(name.strip()) for name in (methods or "").split(",") if name.strip()]
    for estimator in others:
        estimator.check_parameters()
    opened = open_run(run)
    own, audit = opened.estimator, read_audit(opened)
    caveat = check_up(opened.task, seed=own.seed).caveat
    compared = [own, *(other.set_params(seed=own.seed, device=own.device) for other in others)]
    with part(0, 1):
        evaluated = evaluate_all(compared, opened.task, audit=audit, caveat=caveat, progress=True)
    mine = next(iter(evaluated.values()))
    if mine is None:
        raise PugnnError("all nodes have the same score, so that hidden positives say nothing about a ranking")
    estimates = {}
    for estimator, (name, estimate) in zip(compared, evaluated.items(), strict=True):
        log_odds = np.nan_to_num(estimator.decision_function())  # −∞ where label propagation reaches no node
        estimates[name] = estimate and with_truth(estimate, log_odds, estimator.predict(), opened.truth)
    found = {"estimates": estimates, "verdicts": [verdict.to_plain() for verdict in evaluated.verdicts]}
    write_json(run / "estimate.json", found)
    if as_json:
        print_json({"run": str(run), **found})
        return
    console = make_console()
    for sentence in (*mine.headline, *([caveat] if caveat else [])):
        console.print(Text(sentence))
    columns = [*texts("method"), *numbers("median rank", *(f"top {percent(top)}" for top in TOPS))]
    title = f"Where each method ranks the {counted(len(mine.ranks), 'hidden positive')}"
    console.print(make_table(columns, [(name, *_ranks(estimate)) for name, estimate in evaluated.items()], title))
    for verdict in evaluated.verdicts:
        console.print(Text(verdict.words))
    typer.echo(f"all of it: {run / 'estimate.json'}")


def _ranks(estimate: Estimate | None) -> list[str]:
    import numpy as np

    if estimate is None:
        return ["all scores are equal"]
    return [percent(float(np.median(estimate.ranks))), *(str(int((estimate.ranks <= top).sum())) for top in TOPS)]
