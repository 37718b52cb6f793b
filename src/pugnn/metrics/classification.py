"""Binary classification metrics with truth. Small enough to read, and no heavy import."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Truth = NDArray[np.bool_]


def f1(truth: Truth, decided: Truth) -> float:
    """Harmonic mean of precision and recall of the positive class; 0 when nothing is right.

    Example:
        >>> f1(np.array([True, True, False]), np.array([True, False, False]))  # doctest: +ELLIPSIS
        0.66...
    """
    true_positive = int((truth & decided).sum())
    return 2 * true_positive / max(1, int(truth.sum()) + int(decided.sum()))


def macro_f1(truth: Truth, decided: Truth) -> float:
    """Mean of the F1 of the positive and of the negative class: the paper's measure."""
    return (f1(truth, decided) + f1(~truth, ~decided)) / 2


def accuracy(truth: Truth, decided: Truth) -> float:
    """Share of right decisions."""
    return float((truth == decided).mean())


def roc_auc(truth: Truth, scores: NDArray[np.floating]) -> float:
    """Probability that a positive scores above a negative, ties counting half; ``nan`` with one class only."""
    positives, negatives = int(truth.sum()), int((~truth).sum())
    if not positives or not negatives:
        return float("nan")
    ranks = rankdata(scores)
    return float((ranks[truth].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def average_precision(truth: Truth, scores: NDArray[np.floating]) -> float:
    """Precision averaged over the positives as the threshold falls; ``nan`` without positives."""
    if not truth.any():
        return float("nan")
    thresholds, group = np.unique(-scores, return_inverse=True)  # tied scores enter together
    found = np.bincount(group, truth, minlength=len(thresholds))
    taken = np.bincount(group, minlength=len(thresholds))
    precision = found.cumsum() / taken.cumsum()
    return float((precision * found).sum() / truth.sum())
