"""Binary classification metrics where the truth is known; ``nan`` for what is undefined.

They equal scikit-learn's, whose import takes longer than a whole fit of a small graph.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, given, require_whole
from pugnn.graph.arrays import as_array
from pugnn.metrics.base import Truth, metric


def _checked(truth: Any, values: Any, what: str) -> tuple[Truth, NDArray[Any]]:
    """Both as arrays: a mask of the positives, and as many decisions or finite scores."""
    mask, array = as_array(truth, "truth"), as_array(values, what)
    if mask.ndim != 1 or mask.dtype.kind not in "biuf" or not np.isin(mask, (0, 1)).all():
        raise PugnnError(f"truth must be a mask of the positives, one entry per node; got {given(truth)}")
    wanted = "biu" if what == "decided" else "biuf"
    if array.shape != mask.shape or array.dtype.kind not in wanted or not np.isfinite(array).all():
        raise PugnnError(f"{what} must have one entry per node, {len(mask)}, none of them missing; got {given(values)}")
    if what == "decided" and not np.isin(array, (0, 1)).all():
        raise PugnnError("decided must be a mask: True or 1 for nodes that are decided positive")
    return mask.astype(np.bool_), array.astype(np.bool_) if what == "decided" else array


@metric("macro_f1", "decisions", "macro-F1")
def macro_f1(truth: Truth, decided: Truth) -> float:
    """Mean of the F1 of the positive and of the negative class: the paper's measure."""
    truth, decided = _checked(truth, decided, "decided")
    return (f1(truth, decided) + f1(~truth, ~decided)) / 2


@metric("f1", "decisions", "F1")
def f1(truth: Truth, decided: Truth) -> float:
    """Harmonic mean of precision and recall of the positive class; 0 without true positives.

    Example:
        >>> f1(np.array([True, True, False]), np.array([True, False, False]))  # doctest: +ELLIPSIS
        0.66...
    """
    truth, decided = _checked(truth, decided, "decided")
    return float(2 * (truth & decided).sum() / max(1, truth.sum() + decided.sum()))


@metric("accuracy", "decisions", "accuracy")
def accuracy(truth: Truth, decided: Truth) -> float:
    """Share of correct decisions."""
    truth, decided = _checked(truth, decided, "decided")
    return float((truth == decided).mean())


@metric("roc_auc", "scores", "ROC AUC", "AUC")
def roc_auc(truth: Truth, scores: NDArray[np.floating]) -> float:
    """Probability that a positive scores above a negative, ties counting half; ``nan`` with one class only."""
    truth, scores = _checked(truth, scores, "scores")
    positive, negative = scores[truth], np.sort(scores[~truth])
    if not len(positive) or not len(negative):
        return float("nan")
    below, not_above = (np.searchsorted(negative, positive, side) for side in ("left", "right"))
    return float((below + not_above).mean() / (2 * len(negative)))


@metric("average_precision", "scores", "average precision", "AP")
def average_precision(truth: Truth, scores: NDArray[np.floating]) -> float:
    """Mean over the positives of the precision among all nodes that score at least as high; ``nan`` without any."""
    truth, scores = _checked(truth, scores, "scores")
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
    require_whole("count", count, 1)
    truth, scores = _checked(truth, scores, "scores")
    if len(scores) < count:
        return float("nan")
    last = np.partition(scores, -count)[-count]
    above, level = truth[scores > last], truth[scores == last]
    return float((above.sum() + (count - len(above)) * level.mean()) / count)


@metric("precision_at_positives", "scores", "precision at the number of positives", "P@n")
def precision_at_positives(truth: Truth, scores: NDArray[np.floating]) -> float:
    """Share of positives among as many nodes as there are positives, which is their recall, too; ``nan`` without any.

    Example:
        >>> precision_at_positives(np.array([True, True, False, False]), np.array([0.9, 0.3, 0.5, 0.1]))
        0.5
    """
    truth, scores = _checked(truth, scores, "scores")
    return precision_at(int(truth.sum()), truth, scores) if truth.any() else float("nan")


for _count in (20, 100):
    metric(f"precision_at_{_count}", "scores", f"precision at {_count}", f"P@{_count}")(partial(precision_at, _count))
