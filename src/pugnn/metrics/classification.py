"""Binary classification metrics where the truth is known; ``nan`` for what is undefined.

They equal scikit-learn's, whose import takes longer than a whole fit of a small graph.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Truth = NDArray[np.bool_]


def f1(truth: Truth, decided: Truth) -> float:
    """Harmonic mean of precision and recall of the positive class; 0 without true positives.

    Example:
        >>> f1(np.array([True, True, False]), np.array([True, False, False]))  # doctest: +ELLIPSIS
        0.66...
    """
    return float(2 * (truth & decided).sum() / max(1, truth.sum() + decided.sum()))


def macro_f1(truth: Truth, decided: Truth) -> float:
    """Mean of the F1 of the positive and of the negative class: the paper's measure."""
    return (f1(truth, decided) + f1(~truth, ~decided)) / 2


def accuracy(truth: Truth, decided: Truth) -> float:
    """Share of correct decisions."""
    return float((truth == decided).mean())


def roc_auc(truth: Truth, scores: NDArray[np.floating]) -> float:
    """Probability that a positive scores above a negative, ties counting half; ``nan`` with one class only."""
    positive, negative = scores[truth], np.sort(scores[~truth])
    if not len(positive) or not len(negative):
        return float("nan")
    below, not_above = (np.searchsorted(negative, positive, side) for side in ("left", "right"))
    return float((below + not_above).mean() / (2 * len(negative)))


def average_precision(truth: Truth, scores: NDArray[np.floating]) -> float:
    """Mean over the positives of the precision among all nodes that score at least as high; ``nan`` without any."""
    ascending, positive = np.sort(scores), np.sort(scores[truth])
    if not len(positive):
        return float("nan")
    nodes = len(scores) - np.searchsorted(ascending, positive)
    found = len(positive) - np.searchsorted(positive, positive)
    return float((found / nodes).mean())


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
