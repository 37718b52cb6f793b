"""Signs that a fit has collapsed, in its scores and its loss; no truth is needed for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pugnn.metrics import roc_auc
from pugnn.training.checkpoint import Log

#: What happens by chance in one of twenty cases is no sign of a collapse; the normal distribution's quantile for it.
CHANCE, QUANTILE = 0.05, 1.645
#: Scores that differ by no more than this share of the highest are practically equal.
EQUAL = 1e-4
#: A loss that changes by no more than this share of itself has not moved; shorter trainings are not judged.
UNMOVED, MIN_EPOCHS = 0.01, 50
#: Epochs at the beginning and at the end of a training whose mean losses are compared.
ENDS = 5

#: Codes of the reasons after which not even the ranking is of use.
RANKING_LOST = frozenset({"no-ranking", "equal-scores"})


@dataclass(frozen=True)
class Reason:
    """One sign of a collapse.

    Args:
        code: names the kind of sign; never changes.
        message: what was seen, with figures, and what to do about it.
    """

    code: str
    message: str


def find_reasons(
    labelled: NDArray[np.float64],
    unlabelled: NDArray[np.float64],
    *,
    threshold: float,
    own_threshold: float = 0.5,
    prior: float | None = None,
    log: Log | None = None,
) -> tuple[Reason, ...]:
    """All signs that a fit has collapsed; none if it is healthy.

    Args:
        labelled: scores of the known positives.
        unlabelled: scores of the unlabelled nodes.
        threshold: score from which a node is decided positive.
        own_threshold: the one that would apply had nobody chosen another. Scores that lie on both sides of it have not
            collapsed: with a chosen threshold of 1, no positive decisions are what was asked for.
        prior: positive share of the unlabelled nodes, which tells what chance would do; one half if it is not known.
        log: every term of the loss at every epoch; empty where nothing was trained.
    """
    share = prior if prior is not None and 0 < prior < 1 else 0.5
    reasons = [_unmoved_loss(log or [])]
    if len(unlabelled):
        thresholds = threshold, own_threshold
        reasons += [
            _decided_alike(unlabelled, thresholds, share),
            _not_ranked(labelled, unlabelled, share),
            _equal_scores(unlabelled),
        ]
    return tuple(reason for reason in reasons if reason is not None)


def _decided_alike(scores: NDArray[np.float64], thresholds: Sequence[float], prior: float) -> Reason | None:
    """All decisions are the same, although nodes as independent as coins would rarely be of one class.

    That excuses few nodes (all of three are positive) and rare positives (none of fifty is, at a prior of 0.01).
    """
    count, lowest, highest = len(scores), scores.min(), scores.max()
    if lowest >= max(thresholds) and prior**count < CHANCE:
        return Reason(
            "all-positive",
            f"All {count:,} unlabelled nodes are decided positive: their scores, {lowest:.3g} to {highest:.3g}, reach "
            f"the threshold of {thresholds[0]:.3g}. Use the threshold 'prior', expect fewer positives (a smaller "
            "prior), or train for more epochs.",
        )
    if highest < min(thresholds) and (1 - prior) ** count < CHANCE:
        return Reason(
            "none-positive",
            f"None of the {count:,} unlabelled nodes is decided positive: the highest score is {highest:.3g}, the "
            f"threshold {thresholds[0]:.3g}. Use the threshold 'prior', expect more positives (a larger prior), or "
            "train for more epochs.",
        )
    return None


def _not_ranked(labelled: NDArray[np.float64], unlabelled: NDArray[np.float64], prior: float) -> Reason | None:
    """Known positives rank as if by chance.

    The AUC of known positives against unlabelled nodes is one half, give or take, for random scores. A perfect ranking
    does not reach 1, since a share π of the unlabelled nodes is positive, too: if the known positives lie anywhere
    among these, it is 1 − π/2, give or take. An AUC that chance explains and a good ranking does not is a sign; with
    few known positives, or a large π, no AUC but a very low one is.
    """
    m, n = len(labelled), len(unlabelled)
    auc = roc_auc(np.repeat([True, False], [m, n]), np.concatenate([labelled, unlabelled]))
    by_chance = 0.5 + QUANTILE * sqrt((m + n + 1) / (12 * m * n))
    above = prior / 2  # share of the unlabelled nodes above a known positive, in a perfect ranking
    if_perfect = 1 - above - QUANTILE * sqrt(prior**2 / (12 * m) + above * (1 - above) / n)
    if auc > by_chance or auc >= if_perfect:
        return None
    return Reason(
        "no-ranking",
        f"The known positives do not rank above the unlabelled nodes: they score higher in {100 * auc:.0f} % of all "
        f"pairs, and random scores do so in up to {100 * min(by_chance, 1):.0f} %. Do not use this ranking. Try "
        "another seed, method or prior, and check that features and known positives belong to the right ids.",
    )


def _equal_scores(scores: NDArray[np.float64]) -> Reason | None:
    lowest, highest = scores.min(), scores.max()
    if len(scores) == 1 or highest - lowest > EQUAL * highest:
        return None
    return Reason(
        "equal-scores",
        f"All {len(scores):,} unlabelled nodes have practically the same score, {highest:.3g}, so there is no ranking. "
        "Check that their features differ, scale features down if they are large, and check that known positives have "
        "links.",
    )


def _unmoved_loss(log: Log) -> Reason | None:
    """No term of the loss differs between the first and the last epochs, given the size of the whole."""
    if len(log) < MIN_EPOCHS:
        return None
    names = [name for name in log[0] if name not in ("epoch", "seconds")]
    values = np.array([[record[name] for name in names] for record in log])
    first, last = values[:ENDS].mean(axis=0), values[-ENDS:].mean(axis=0)
    total = names.index("total")
    if np.abs(last - first).max() > UNMOVED * abs(first[total]):
        return None
    return Reason(
        "unmoved-loss",
        f"The loss has not moved: it was {first[total]:.4g} in the first epochs and {last[total]:.4g} in the last of "
        f"{len(log):,}. Scale the features down if they are large, or try another learning rate, prior or seed.",
    )
