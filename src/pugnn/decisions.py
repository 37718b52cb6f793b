"""Who is decided positive: from which score, and by which rule."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, require_whole
from pugnn.evidence.signal import HiddenRanks, has_signal
from pugnn.methods import Method
from pugnn.training.scoring import ABOVE_ALL_SCORES

#: Score from which a node is decided positive by default.
DEFAULT_THRESHOLD = 0.5
#: Log-odds of known negatives: low enough for a score of exactly 0.
KNOWN_NEGATIVE = -1000.0


def check_decision(threshold: Any, budget: Any, method: Method) -> None:
    """Raise unless a method can decide by this threshold, or by a budget in its place."""
    if isinstance(threshold, str) and threshold == "prior":
        if getattr(method, "prior", 0.5) is None:
            raise PugnnError(f"the threshold 'prior' needs one; give {method.name} a prior, such as 0.1")
    elif isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 <= float(threshold) <= 1:
        raise PugnnError(f"threshold must be a number from 0 to 1, or 'prior'; got {threshold!r}")
    if budget is None:
        return
    require_whole("budget", budget, 1)
    if threshold != DEFAULT_THRESHOLD:
        raise PugnnError("budget and threshold both say who is decided positive; leave one out")


def decide(
    scores: NDArray[np.float64],
    prior: float,
    hidden: HiddenRanks | None,
    threshold: float | str,
    budget: int | None,
    *,
    anyway: bool,
) -> tuple[float, str]:
    """The score from which a node is decided positive, and the rule in words.

    Args:
        scores: of the unlabelled nodes.
        prior: their positive share that the method used.
        hidden: ranks of hidden positives; ``None`` if the method hid none.
        threshold: a score, or ``"prior"`` for the share of the prior.
        budget: number of nodes to decide positive, in place of a threshold.
        anyway: decide although there is no signal.
    """
    if budget is not None:
        budget = min(budget, len(scores))
        lowest = _score_at(scores, budget)
        surplus = int((scores >= lowest).sum()) - budget
        ties = f", and {surplus:,} more with the same score as the last of them" if surplus > 0 else ""
        return lowest, f"the first {budget:,}, the given budget{ties}"
    if threshold == "prior":
        return _score_at(scores, round(prior * len(scores))), "the share of positives that the method expects"
    if threshold != DEFAULT_THRESHOLD:
        return float(threshold), f"scores from {float(threshold):g}, the given threshold"
    if hidden is None:
        return DEFAULT_THRESHOLD, f"scores from {DEFAULT_THRESHOLD}"
    if hidden.prior.bounds is None and not has_signal(hidden, len(scores)) and not anyway:
        return ABOVE_ALL_SCORES, "none, because no signal was found"
    by_f1 = "the top list with the highest expected F1"
    return DEFAULT_THRESHOLD, {
        "given": "the share of positives that was given",
        "range": f"{by_f1}, within the given range",
        "estimated": f"the share of positives that {hidden.prior.by} estimates" if hidden.prior.by else by_f1,
        "assumed": "a share of positives that is assumed",
    }[hidden.prior.source]


def _score_at(scores: NDArray[np.float64], count: int) -> float:
    """The lowest score of the first ``count`` nodes."""
    count = min(len(scores), max(1, count))
    # A score of 0 means that nothing speaks for the node; no number makes it a positive.
    return max(float(np.sort(scores)[-count]), np.finfo(np.float64).tiny)
