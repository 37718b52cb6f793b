"""How good a method is on a task, from known positives that are hidden in turn: it is trained again without them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from pugnn.errors import PugnnError, PugnnWarning, require_type
from pugnn.estimator import PUNodeClassifier
from pugnn.evidence.audit import Audit
from pugnn.evidence.bands import Estimate, estimate
from pugnn.evidence.hidden_positives import FOLDS, FoldedTask, RankedPositives, ranks_among
from pugnn.evidence.over_time import OverTime, over_time
from pugnn.evidence.paired import AuditedPositives, PairedVerdict, best_against_rest
from pugnn.evidence.signal import HiddenRanks
from pugnn.fitting import learnable_task
from pugnn.graph.arrays import listed
from pugnn.methods import Method
from pugnn.methods.ranking.plain import estimate_prior
from pugnn.parameters import require_fitted
from pugnn.store import TableGraph
from pugnn.store.given import given_task
from pugnn.task import PUTask
from pugnn.waiting import part, status_line

#: Share of the time that a fit takes; the folds come after it.
FIT = 1 / (1 + FOLDS)


def cross_fit(estimator: PUNodeClassifier, task: PUTask, *, progress: bool = False) -> RankedPositives:
    """Share of the unlabelled nodes above each known positive, when the method is trained without it.

    The known positives are dealt out to five folds, or fewer if there are fewer. A hidden fold counts as unlabelled: it
    is neither a label nor a source of distance or propagation. Ranks are among the task's unlabelled nodes. Those of
    confirmed nodes are left out, since a ranking found them.

    Args:
        estimator: with the method and its settings; it is not changed.
        task: with at least two known positives that are not confirmed finds.
        progress: show a line on standard error.
    """
    require_hidable(task)
    known = FoldedTask.of(task, estimator.seed)
    turns, folds = known.turns, known.folds
    log_odds = np.empty((task.graph.num_targets, turns))
    with part(0, 1), status_line() as line, warnings.catch_warnings():
        warnings.simplefilter("ignore", PugnnWarning)  # of trainings with fewer labels, that nobody will use
        for fold in range(turns):
            if progress:
                line.say(f"training {estimator.check_parameters()[0].name} without fold {fold + 1} of {turns}")
            unlabelled = np.union1d(task.unlabelled, task.labelled[folds == fold])
            rest = replace(task, labelled=task.labelled[folds != fold], unlabelled=unlabelled)
            with part(fold / turns, (fold + 1) / turns):
                log_odds[:, fold] = estimator.unfitted().set_params(progress=False).fit_task(rest).decision_function()
    return known.rank_hidden(log_odds)


def require_hidable(task: PUTask) -> None:
    """Raise unless there are known positives to hide and others to train on."""
    if len(task.typical) < 2:
        words = "with one known positive, nothing can be hidden and found again; give two or more"
        raise PugnnError(f"{words} (confirmed finds do not count, because a ranking found them)")


def evaluate(
    estimator: PUNodeClassifier, task: PUTask | TableGraph, *, caveat: str | None = None, progress: bool = False
) -> Estimate | None:
    """Bands of precision, recall, F1, AUC and lift of a fitted estimator, from trainings without each fold.

    ``None`` if all scores are equal, so that there is no ranking to speak of.

    Args:
        estimator: fitted on the task, or loaded.
        task: the task, or what :func:`pugnn.read_graph` returned with known positives.
        caveat: why the known positives may not be typical of all.
        progress: show a line on standard error.
    """
    require_fitted(estimator)
    task = learnable_task(task)
    require_type("caveat", caveat, str | None, "text")
    method, settings = estimator.check_parameters()
    prior, wanted = estimator.settled_prior_, getattr(method, "prior", None)
    if prior is None:  # as the default method would estimate it
        prior = estimate_prior("auto" if wanted is None else wanted, task, settings, progress=estimator.progress)
    # The folds go by the same prior: it is estimated once, from all of them.
    if isinstance(wanted, str):
        method = replace(method, prior=prior.value)  # type: ignore[call-arg]
    again = estimator.unfitted().set_params(method=method)
    ranked = cross_fit(again, task, progress=progress)
    scores = estimator.predict_proba(task.graph)[:, 1]
    decided = int((scores[task.unlabelled] >= estimator.threshold_).sum())
    found = estimate(HiddenRanks(prior, ranked.ranks), unlabelled=ranked.unlabelled, decided=decided)
    return found if found is None else replace(found, caveat=caveat)


class Comparison(dict[str, Estimate | None]):
    """Estimates by method, ``None`` where all scores are equal; and how the best of them fares against each other one.

    A name has primes if it is taken: the same method with other settings.

    Attributes:
        verdicts: a :class:`~pugnn.evidence.paired.PairedVerdict` on the best method and each other one.
    """

    def __init__(self, estimates: dict[str, Estimate | None], verdicts: tuple[PairedVerdict, ...]) -> None:
        super().__init__(estimates)
        self.verdicts = verdicts


def cross_validate(
    methods: Iterable[str | Method],
    graph: Any,
    positives: Any = None,
    *,
    audit: Audit | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Comparison:
    """Compare methods on one graph without negatives: each is trained, and trained again without each fold.

    The folds are the same for all methods, so that their ranks of each hidden positive can be compared: see
    :attr:`Comparison.verdicts`. The width of a band says nothing about which method is better.

    Args:
        methods: names, or methods with settings of their own.
        graph: the graph, in any form that ``fit`` takes.
        positives: its known positives, as for ``fit``.
        audit: of any ranking of the same unlabelled nodes; positives that it found are compared, too.
        seed: controls all randomness.
        progress: show a line on standard error.
    """
    wanted = listed(methods, "methods")
    if not wanted:
        raise PugnnError("there are no methods to compare; give names, such as ['views', 'nnpu']")
    require_type("audit", audit, Audit | None, "a pugnn.evidence.audit.Audit")
    estimators = [PUNodeClassifier(method, seed=seed, progress=progress) for method in wanted]
    for estimator in estimators:
        estimator.check_parameters()
    task, _ = given_task(graph, positives)
    require_hidable(task)
    with part(0, 1):
        return evaluate_all(estimators, task, audit=audit, progress=progress)


def evaluate_all(
    estimators: Sequence[PUNodeClassifier],
    task: PUTask,
    *,
    audit: Audit | None = None,
    caveat: str | None = None,
    progress: bool = False,
) -> Comparison:
    """What :func:`evaluate` says of estimators, which are fitted first if they are not, and verdicts between them."""
    found, ranks, audited = dict[str, Estimate | None](), {}, _audited(audit, task)
    for number, estimator in enumerate(estimators):
        with part(number / len(estimators), (number + 1) / len(estimators)):
            if not hasattr(estimator, "model_"):
                with part(0, FIT):
                    estimator.fit_task(task)
            with part(FIT, 1):
                estimated = evaluate(estimator, task, caveat=caveat, progress=progress)
        name = _free_name(estimator, found)
        found[name] = estimated
        if estimated is not None:
            scores = estimator.decision_function(task.graph)
            ranks[name] = ranks_among(scores[audited.nodes], scores[task.unlabelled])
    hidden = {name: estimated.ranks for name, estimated in found.items() if estimated is not None}
    return Comparison(found, best_against_rest(hidden, len(task.unlabelled), ranks, audited.weights))


def evaluate_over_time(
    estimators: Sequence[PUNodeClassifier], data: TableGraph, *, progress: bool = False
) -> dict[str, OverTime]:
    """A test over time: each estimator is fitted as of one moment, and is to find those that became known later.

    Args:
        estimators: with methods and settings; they are not changed.
        data: what :func:`pugnn.read_graph` returned with ``as_of`` and ``then``.
        progress: show a line on standard error.

    Returns:
        What was found, by method; a name has primes if it is taken.
    """
    if not isinstance(data, TableGraph) or data.later is None or data.truth is None:
        raise PugnnError("a test over time needs what read_graph returns with positives, time, as_of and then")
    task, found = learnable_task(data), dict[str, OverTime]()
    for number, estimator in enumerate(estimators):
        with part(number / len(estimators), (number + 1) / len(estimators)):
            fitted = estimator.unfitted().set_params(progress=progress).fit_task(task)
        name = _free_name(fitted, found)
        scores = np.nan_to_num(fitted.decision_function())  # −∞ where label propagation reaches no node
        later, seed = asdict(data.later), fitted.seed
        found[name] = over_time(scores, task.labelled, task.unlabelled, data.truth, **later, seed=seed)
    return found


def _free_name(fitted: PUNodeClassifier, taken: Collection[str]) -> str:
    """The name of its method, with primes if it is taken."""
    name: str = fitted.settings_["method"]["name"]
    while name in taken:
        name += "'"
    return name


def _audited(audit: Audit | None, task: PUTask) -> AuditedPositives:
    """Positives that an audit has found, by their positions in the graph."""
    if audit is None:
        return AuditedPositives(np.zeros(0, np.int64), np.zeros(0))
    known = np.concatenate([task.labelled, task.negative])
    if audit.graph.num_nodes != task.graph.num_nodes or np.isin(known, audit.ranking).any():
        raise PugnnError("the audit is of another graph or of other known positives; give one of the same")
    return AuditedPositives.of(audit.sample(), audit.ranking)
