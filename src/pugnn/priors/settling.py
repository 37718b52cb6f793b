"""The prior as it is wanted: given, within a range, or estimated with an interval."""

from __future__ import annotations

import math
from typing import Any

from scipy.special import expit, logit

from pugnn.errors import PugnnError, given, percent
from pugnn.evidence import Prior, RankedPositives
from pugnn.evidence.rank_model import MAX_PRIOR, MIN_PRIOR, RankModel
from pugnn.evidence.signal import are_informative
from pugnn.losses.sets import require_prior
from pugnn.priors.base import MAX_ESTIMATE, PRIORS, UNKNOWN_PRIOR


def prior_bounds(prior: object) -> tuple[float, float]:
    """The bounds between which a prior is wanted, both the same for a number; an error for anything else.

    Args:
        prior: a number; ``"auto"``; a range such as ``"0.02..0.1"``; or the name of an estimator (:data:`PRIORS`).

    Example:
        >>> prior_bounds("0.02..0.1"), prior_bounds(0.3)
        ((0.02, 0.1), (0.3, 0.3))
    """
    ends: list[Any] = [prior, prior]
    if isinstance(prior, str):
        if prior == "auto":  # without loading the other estimators
            return MIN_PRIOR, MAX_PRIOR
        first, dots, last = prior.partition("..")
        try:
            ends = [float(first), float(last if dots else first)]
        except ValueError:
            if prior in PRIORS:
                return MIN_PRIOR, MAX_PRIOR
            raise PugnnError(
                f"prior must be auto, a number, or a range such as 0.02..0.1; got {prior!r}. It may also name an "
                f"estimator: {', '.join(sorted(PRIORS))}"
            ) from None
    for end in ends:
        require_prior(end, prior)
    low, high = map(float, ends)
    if low > high:
        raise PugnnError(f"the range of the prior is reversed: {prior!r}; write {high:g}..{low:g}")
    return low, high


def settle_prior(wanted: float | str, hidden: RankedPositives) -> Prior:
    """The prior that a method goes by.

    The value is that of the chosen estimator, or else the share of the highest expected F1
    (:meth:`pugnn.evidence.RankModel.decided_share`); and it is at most one half, because training on an overestimate is
    far worse than on an underestimate. It is not less than what an earlier estimate and the checks since leave
    (:attr:`pugnn.task.PUTask.expected_left`). The interval is the rank model's, and holds the value. Within a range,
    both keep to it.

    Args:
        wanted: as for :func:`prior_bounds`.
        hidden: known positives that were hidden in turn, with their ranks.
    """
    low, high = prior_bounds(wanted)
    if low == high:
        return Prior.given(low)
    ranged = ".." in str(wanted)
    by = "" if ranged or wanted == "auto" else str(wanted)
    if not are_informative(hidden.ranks):
        middle = float(expit((logit(low) + logit(high)) / 2)) if ranged else UNKNOWN_PRIOR
        return Prior(middle, low, high, "assumed", low, high)
    bounds = (low, high) if ranged else None
    model = RankModel.of(hidden.ranks, hidden.unlabelled, bounds=bounds)
    least, most = bounds or (MIN_PRIOR, MAX_ESTIMATE)
    band, value = model.prior(), _estimate(by, hidden) if by else model.decided_share()
    value = min(max(value, least), most)
    left = min(hidden.task.expected_left / hidden.unlabelled, MAX_ESTIMATE)
    if not ranged and left > value:
        value, by = left, "the earlier run"
    ends = min(band.low, value), max(band.high, value)
    return Prior(value, *ends, "range" if ranged else "estimated", low, high, by)


def _estimate(by: str, hidden: RankedPositives) -> float:
    """The share that an estimator returns, which may be one of another package."""
    found: object = PRIORS[by](hidden)
    try:
        value = float(found)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise PugnnError(
            f"the estimator of the prior {by!r} returned {given(found)}, which is not a share; take another"
        )
    return value


@PRIORS.register("auto")
def auto(hidden: RankedPositives) -> float:
    """The share that is decided positive for the highest expected F1, see :func:`settle_prior`."""
    return settle_prior("auto", hidden).value


def prior_words(prior: Prior, hidden: int, *, signal: bool = True) -> str:
    """Where a prior comes from, and how sure it is, in words.

    ``hidden`` known positives were hidden in turn; ``signal`` says whether they rank better than by chance.

    Example:
        >>> prior_words(Prior(0.12, 0.09, 0.17, "range"), 30)  # doctest: +NORMALIZE_WHITESPACE
        'About 12 % of the unlabelled nodes are positive, between 9 % and 17 %: estimated within the given range from
        the ranks of 30 known positives that were hidden in turn.'
    """
    value, low, high = (percent(share) for share in (prior.value, prior.low, prior.high))
    if prior.source == "given":
        return f"The share of positives among the unlabelled nodes is taken as given: {value}."
    if prior.source == "assumed":
        same = "hidden positives, because all nodes have the same score"
        why = same if hidden >= 2 else "fewer than two hidden positives"
        return (
            f"How many of the unlabelled nodes are positive cannot be estimated from {why}; {value} is assumed. Give a "
            "prior if you know better."
        )
    if not signal:
        return (
            f"The {hidden} known positives, hidden in turn, rank no better than by chance, so how many of the "
            "unlabelled nodes are positive cannot be estimated."
        )
    ranks = f"the ranks of {hidden} known positives that were hidden in turn"
    if prior.vague and prior.source == "estimated":
        why = f"as {prior.by} estimates" if prior.by else "the share with the highest expected F1"
        return (
            f"How many of the unlabelled nodes are positive is unknown before checks; {value} is used in training, "
            f"{why}. Give a prior if you know better."
        )
    within = " within the given range" if prior.source == "range" else f" by {prior.by}" * bool(prior.by)
    return (
        f"About {value} of the unlabelled nodes are positive, between {low} and {high}: estimated{within} from {ranks}."
    )
