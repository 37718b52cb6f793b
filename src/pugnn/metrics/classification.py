"""Binary classification metrics where the truth is known: scikit-learn's, with ``nan`` for what is undefined."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, average_precision_score, f1_score, roc_auc_score

Truth = NDArray[np.bool_]


def f1(truth: Truth, decided: Truth) -> float:
    """Harmonic mean of precision and recall of the positive class; 0 without true positives.

    Example:
        >>> f1(np.array([True, True, False]), np.array([True, False, False]))  # doctest: +ELLIPSIS
        0.66...
    """
    return float(f1_score(truth, decided, zero_division=0.0))


def macro_f1(truth: Truth, decided: Truth) -> float:
    """Mean of the F1 of the positive and of the negative class: the paper's measure."""
    return float(f1_score(truth, decided, labels=[False, True], average="macro", zero_division=0.0))


def accuracy(truth: Truth, decided: Truth) -> float:
    """Share of correct decisions."""
    return float(accuracy_score(truth, decided))


def roc_auc(truth: Truth, scores: NDArray[np.floating]) -> float:
    """Probability that a positive scores above a negative, ties counting half; ``nan`` with one class only."""
    return float(roc_auc_score(truth, scores)) if truth.any() and not truth.all() else float("nan")


def average_precision(truth: Truth, scores: NDArray[np.floating]) -> float:
    """Precision averaged over the positives as the threshold falls; ``nan`` without positives."""
    return float(average_precision_score(truth, scores)) if truth.any() else float("nan")


def precision_at(count: int, truth: Truth, scores: NDArray[np.floating]) -> float:
    """Share of positives among the nodes that score highest; ``nan`` with fewer nodes than ``count``.

    Where equal scores straddle the last place, it is the mean over the orders that they could have.

    Example:
        >>> truth = np.array([True, True, False, False])
        >>> precision_at(2, truth, np.array([0.9, 0.5, 0.5, 0.1]))
        0.75
    """
    if len(scores) < count:
        return float("nan")
    last = np.partition(scores, -count)[-count]
    above, level = truth[scores > last], truth[scores == last]
    return float((above.sum() + (count - len(above)) * level.mean()) / count)
