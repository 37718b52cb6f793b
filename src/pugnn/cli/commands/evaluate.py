"""`pugnn evaluate`: how good a ranking is, from known positives that are hidden in turn, or that became known later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from pugnn.cli import options
from pugnn.cli.input_data import open_run
from pugnn.cli.options import FEEDBACK, FOR_DRAWS, ON_A_RUN, OUTPUT, DataOptions, command, option, options_of
from pugnn.cli.terminal import make_console, make_table, numbers, print_json, texts
from pugnn.errors import PugnnError, counted, percent
from pugnn.waiting import part

if TYPE_CHECKING:
    from pugnn.evidence import Estimate

#: Shares of the ranking in which hidden positives are counted.
TOPS = (0.01, 0.05, 0.1)

#: Options that a test over time does not take: what was checked, or is true, has no date.
UNDATED = ("dataset", "store", "truth", "show", *FEEDBACK, *FOR_DRAWS)


@command(ON_A_RUN, data=options_of(DataOptions, without=UNDATED))
def evaluate(
    *,
    run: Annotated[Path | None, typer.Argument(help="A run folder.")] = None,
    data: DataOptions,
    then: Annotated[
        str | None,
        option("With --as-of, a test over time: find those that became known after that, and until this moment."),
    ] = None,
    seed: options.Seed = 0,
    methods: Annotated[
        str | None,
        option("Other methods to compare with on the same data and folds, such as centroid,nnpu.", panel=OUTPUT),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """See where a run's method ranks known positives that are hidden in turn, or those that became known later.

    It is trained again without some of the known positives, in five turns. That says how good the ranking is without
    any known negative, if the known positives are typical of all. Other methods are compared on the same hidden
    positives, and on those that an audit of the run has found: either the best one ranks them higher, or there is no
    verdict. Each method takes five trainings.

    With `--as-of` and `--then`, for a run of tables or for tables, it is a test over time: the method knows what was
    known at the first moment, and is to find those that became known until the second. `--time` names the column of
    times in edges and positives; if they call it differently, `--time edges=paid_at --time positives=seen_at`.

    Examples:

        pugnn evaluate runs/mine

        pugnn evaluate runs/mine --methods centroid,label-propagation

        pugnn evaluate --edges pays.csv --positives bad.csv --time paid_at --as-of 2025-06-30 --then 2025-12-31
    """
    over_time = then is not None or data.as_of is not None
    if not over_time and (run is None or data != DataOptions()):
        raise PugnnError("give a run folder; or, for a test over time, also tables, with --as-of and --then")
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
    if over_time:
        from pugnn.cli.over_time import evaluate_over_time

        evaluate_over_time(run, data, then, others, seed=seed, as_json=as_json)
        return
    assert run is not None
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
