"""How many positives there are and how good the list is, as ``run.json`` and report tell it."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.checkup import CheckUp
from pugnn.estimator import PUNodeClassifier
from pugnn.evidence import Estimate
from pugnn.metrics import f1, measure, roc_auc
from pugnn.runs.run import Evidence
from pugnn.task import PUBenchmark, PUTask


def find_evidence(
    estimator: PUNodeClassifier,
    task: PUTask,
    check_up: CheckUp,
    log_odds: NDArray[np.float64],
    scores: NDArray[np.float64],
    truth: PUBenchmark | None,
) -> Evidence:
    """What a fitted estimator has learnt from hidden positives, and metrics where the truth is known."""
    prior, estimate = estimator.settled_prior_, estimator.estimate_
    found = Evidence(settled_prior=None if prior is None else asdict(prior))
    if truth is not None:
        found.metrics = measure(truth, scores, estimator.threshold_)
    if estimate is None:
        found.estimate_missing = _why_missing(estimator, task)
    else:
        estimate = replace(estimate, caveat=check_up.caveat)
        found.estimate = with_truth(estimate, log_odds, estimator.predict(), truth)
    return found


def with_truth(
    estimate: Estimate, log_odds: NDArray[np.float64], decisions: NDArray[np.int64], truth: PUBenchmark | None
) -> dict[str, Any]:
    """An estimate in plain values, with the true ones under ``truth`` where they are known.

    Log-odds and decisions, 0 or 1, are of all nodes.
    """
    return {**estimate.to_plain(), "truth": None if truth is None else _truth(estimate, log_odds, decisions, truth)}


def _why_missing(estimator: PUNodeClassifier, task: PUTask) -> str:
    if len(task.typical) < 2:
        besides = " besides those that were found and confirmed" if len(task.confirmed) else ""
        return f"with a single known positive{besides}, nothing can be hidden and found again."
    if estimator.check_parameters()[0].settles_prior:  # it has hidden known positives
        return "all nodes have the same score, so hidden positives say nothing."
    return "this method would have to be trained again without some known positives: `pugnn evaluate` does that."


def _truth(
    estimate: Estimate, log_odds: NDArray[np.float64], decisions: NDArray[np.int64], truth: PUBenchmark
) -> dict[str, Any] | None:
    scored = np.zeros(len(log_odds), dtype=bool)
    scored[truth.scored] = True
    nodes = truth.task.unlabelled[scored[truth.task.unlabelled]]
    positive, decided = truth.positive[nodes], decisions[nodes] == 1
    if positive.all() or not positive.any():
        return None
    right = int((positive & decided).sum())
    # Only some of the unlabelled nodes may be test nodes, so these are looked for among the first of all.
    best = truth.task.unlabelled[np.argsort(-log_odds[truth.task.unlabelled], kind="stable")]
    first = ((part.taken, best[: part.taken][scored[best[: part.taken]]]) for part in estimate.first)
    return {
        "prior": float(positive.mean()),
        "decided": {
            "precision": right / max(int(decided.sum()), 1),
            "recall": right / int(positive.sum()),
            "f1": f1(positive, decided),
        },
        "auc": roc_auc(positive, log_odds[nodes]),
        "first": [
            {"taken": taken, "precision": float(truth.positive[known].mean())} for taken, known in first if len(known)
        ],
    }
