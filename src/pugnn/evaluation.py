"""How good a method is on a task, from known positives that are hidden in turn: it is trained again without them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from pugnn.errors import DegenerateWarning, PugnnError
from pugnn.estimator import PUNodeClassifier
from pugnn.graph import Graph
from pugnn.methods import Method
from pugnn.methods.evidence import deal_folds, prior_of
from pugnn.metrics.bands import Estimate, Hidden, Prior, estimate
from pugnn.task import PUTask, resolve_positives
from pugnn.training import derive_seed
from pugnn.waiting import status_line


def cross_fit(estimator: PUNodeClassifier, task: PUTask, *, progress: bool = False) -> NDArray[np.float64]:
    """Share of the unlabelled nodes above each known positive, when the method is trained without it.

    The known positives are dealt out to five folds, or fewer if there are fewer. A hidden fold counts as unlabelled: it
    is neither a label nor a source of distance or propagation. Ranks are among the task's unlabelled nodes.

    Args:
        estimator: with the method and its settings; it is not changed.
        task: with at least two known positives.
        progress: show a line on standard error.
    """
    if len(task.typical) < 2:
        besides = " besides those that a ranking found and you confirmed" if len(task.confirmed) else ""
        raise PugnnError(
            f"with one known positive{besides}, nothing can be hidden and found again, so there is no saying how good "
            "the ranking is; two are needed, and ten or more help a lot"
        )
    folds = deal_folds(len(task.labelled), derive_seed(estimator.seed))
    turns, ranks = int(folds.max()) + 1, np.empty(len(folds))
    with status_line() as line, warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)  # of a training with fewer labels, that nobody will use
        for fold in range(turns):
            if progress:
                line.say(f"training without fold {fold + 1} of {turns}")
            hidden = task.labelled[folds == fold]
            unlabelled = np.union1d(task.unlabelled, hidden)
            rest = replace(task, labelled=task.labelled[folds != fold], unlabelled=unlabelled)
            scores = clone(estimator).set_params(progress=False).fit_task(rest).predict_proba()[:, 1]
            free = np.sort(scores[task.unlabelled])
            below = np.searchsorted(free, scores[hidden]) + np.searchsorted(free, scores[hidden], side="right")
            ranks[folds == fold] = 1 - below / (2 * len(free))
    return ranks[~np.isin(task.labelled, task.confirmed)]  # no sample of all positives


def prior_of_task(estimator: PUNodeClassifier, task: PUTask) -> Prior:
    """How the prior of a fitted or loaded estimator is settled; estimated where its method has none."""
    known = getattr(estimator, "settled_prior_", None)
    if known is not None:
        return known  # type: ignore[no-any-return]
    method, settings = estimator.checked()
    wanted = getattr(method, "prior", None)
    return prior_of("auto" if wanted is None else wanted, task, settings, progress=estimator.progress)


def evaluate(
    estimator: PUNodeClassifier, task: PUTask, *, caveat: str | None = None, progress: bool = False
) -> Estimate | None:
    """Bands of precision, recall, F1, AUC and lift of a fitted estimator, from trainings without each fold.

    ``None`` if all scores are equal, so that there is no ranking to speak of.

    Args:
        estimator: fitted on the task, or loaded.
        task: the task.
        caveat: why the known positives may not be typical of all.
        progress: show a line on standard error.
    """
    method, prior = estimator.checked()[0], prior_of_task(estimator, task)
    # The folds go by the same prior: it is estimated once, from all of them.
    if getattr(method, "prior", None) is not None:
        method = replace(method, prior=prior.value)  # type: ignore[call-arg]
    again = clone(estimator).set_params(method=method)
    ranks = cross_fit(again, task, progress=progress)
    scores = estimator.predict_proba(task.graph)[:, 1]
    decided = int((scores[task.unlabelled] >= estimator.threshold_).sum())
    found = estimate(Hidden(prior, ranks), unlabelled=len(task.unlabelled), decided=decided)
    return found if found is None else replace(found, caveat=caveat)


def cross_validate(
    methods: Iterable[str | Method], graph: Graph, positives: Any, *, seed: int = 0, progress: bool = True
) -> dict[str, Estimate | None]:
    """Compare methods on one graph without negatives: each is trained, and trained again without each fold.

    The folds are the same for all methods, and so are the bands' assumptions: compare the AUC, or precision among as
    many first finds.

    Args:
        methods: names, or methods with settings of their own.
        graph: the graph.
        positives: its known positives, as for ``fit``.
        seed: controls all randomness.
        progress: show a line on standard error.
    """
    task = PUTask.from_positives(graph, resolve_positives(graph, positives))
    found: dict[str, Estimate | None] = {}
    for method in methods:
        estimator = PUNodeClassifier(method, seed=seed, progress=progress).fit_task(task)
        name = estimator.settings_["method"]["name"]
        while name in found:  # the same method with other settings
            name += "'"
        found[name] = evaluate(estimator, task, progress=progress)
    return found
