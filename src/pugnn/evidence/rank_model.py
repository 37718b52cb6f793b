r"""Where positives rank among the unlabelled nodes: a small model, fitted to known positives that were hidden.

A node's rank :math:`h` is the share of the unlabelled nodes above it. The unlabelled nodes themselves have all ranks
alike, so that all there is to know about a ranking is the prior :math:`\pi` and the recall :math:`F(h)`, the share of
the positives among the first share h of the unlabelled nodes:

.. math:: \text{precision} = \frac{\pi F(h)}{h}, \qquad F_1 = \frac{2 \pi F(h)}{h + \pi}, \qquad
    \text{lift} = \frac{F(h)}{h}, \qquad \text{AUC} = \frac{\int F(h)\, dh - \pi / 2}{1 - \pi}

**Hidden positives show F.** It comes from a family of shapes, positives that gather within the first share b or so of
the nodes, sharply (k large) or with a long tail (k small), but for a part e that lies anywhere:

.. math:: F(h) = (1 - e) \frac{G(h / b)}{G(1 / b)} + e h, \qquad G(x) = \frac{x}{(1 + x^k)^{1 / k}}

Every shape on a grid of (b, k, e) has the likelihood of the hidden positives' ranks, or rather its power :math:`\eta =
0.4 / (1 + n / 100)`, since no such shape is quite true: beyond a hundred, more hidden positives make the model
hardly surer. Ranks are counted in bins that grow from half a node to all.

**They bound the prior.** Precision is at most 1, also down to the place where three tenths of the positives are found,
so that :math:`\pi \le B = F^{-1}(0.3) / 0.3`. The part :math:`c = \pi / B` is the precision there, and *hidden
positives do not show it*: many positives that are ranked badly and few that are ranked well look the same. It may be
anything from 1/60 to 1.

So a band is the widest of those that hold for some c: from the lowest of their 5 % quantiles to the highest of their
95 % quantiles. The value between its ends is the median, with the weight :math:`\sqrt c` per unit of log c. And since
nothing says that more positives are left than are known, the band of the prior reaches down to as many as those.

**Few positives need not rank as expected.** Recall and AUC are means over the positives. If these are N, they deviate
from F by chance, with the variance :math:`F (1 - F) / N` of recall and :math:`\mathrm{var}(h) / N` of their mean rank.
Quantiles of what may happen then, over all c with that weight, widen their bands.

**Checked nodes show c**, but only if they were drawn at random: that is an audit (:mod:`pugnn.evidence.measured`).
Nodes that were checked because they are on top do not enter here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from pugnn.errors import PugnnError, given, require_number, require_share, require_type, require_whole
from pugnn.graph.arrays import as_array

Values = NDArray[np.float64]

#: Bins of ranks, besides the one for the first half node.
BINS = 60
#: The shapes: how many b, from half a node to beyond all nodes; k; and e.
BREADTHS, BROADEST = 48, 3.0
SHARPNESS, LOST = (0.3, 0.6, 1.0, 2.0, 4.0, 8.0, 16.0, 40.0), (0.0, 0.05, 0.2)
#: η: power of the likelihood for a few hidden positives, and the number of them at which it is half of that.
POWER, HALVED_AT = 0.4, 100
#: What no shape expects may happen now and then.
FLOOR = 1e-9
#: The bound B is that of the list that holds this share of the positives.
BOUNDED_AT = 0.3
#: The smallest part c of the bound that the prior may be, and how many parts are looked at.
MIN_PART, PARTS = 1 / 60, 12
#: How likely each of them is, adding up to 1.
PART_WEIGHTS = np.sqrt(np.geomspace(MIN_PART, 1.0, PARTS))
PART_WEIGHTS /= PART_WEIGHTS.sum()
#: Priors between these are considered where none is given.
MIN_PRIOR, MAX_PRIOR = 1e-5, 0.93
#: Shapes with a bound below a given prior are so much less likely.
CONTRADICTED = 1e-6
#: Bands hold the true value with this probability, if the model is right.
COVERAGE = 0.9
#: What they leave out at either end.
TAIL = (1 - COVERAGE) / 2
#: Deviations by chance, in standard deviations, equally likely.
DEVIATIONS = ndtri(np.arange(0.1, 1.0, 0.2))


@dataclass(frozen=True)
class Band:
    """A value and the ends of its band."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class RankModel:
    """What hidden positives say of prior and recall: shapes of recall with weights, and for each some priors.

    Args:
        edges: shares of the unlabelled nodes, ascending from 0 to 1, shape ``(E,)``.
        recalls: of each shape at the edges, shape ``(S, E)``.
        priors: the parts c of the shape's bound, ascending, shape ``(S, C)``.
        weights: how likely each shape is, adding up to 1, shape ``(S,)``.
        unlabelled: number of unlabelled nodes.
        fewest: the share that the band of the prior reaches down to, at least.
    """

    edges: Values
    recalls: Values
    priors: Values
    weights: Values
    unlabelled: int
    fewest: float = 1.0

    @classmethod
    def of(cls, ranks: Values, unlabelled: int, *, bounds: tuple[float, float] | None = None) -> RankModel:
        """Fitted to the ranks of hidden positives, shape ``(n,)``.

        Args:
            ranks: share of the unlabelled nodes above each.
            unlabelled: number of these.
            bounds: between which the prior lies, if that is known; both the same for a known prior.
        """
        require_whole("unlabelled", unlabelled, 1)
        require_type("bounds", bounds, tuple | None, "two shares")
        ranks = as_ranks(ranks)
        edges, recalls, bound = _shapes(unlabelled)
        within = np.diff(recalls, axis=1)  # share of the positives in each bin
        fit = POWER / (1 + len(ranks) / HALVED_AT) * (np.log(within + FLOOR) @ _counts(ranks, edges, unlabelled))
        if bounds is not None:
            fit = fit + np.log(CONTRADICTED) * (bound < _require_bounds(*bounds)[0])
        kept = fit > fit.max() + np.log(1e-6)
        weights = np.exp(fit[kept] - fit.max())
        fewest = len(ranks) / unlabelled if bounds is None else 1.0
        priors = _priors(bound[kept], bounds)
        return cls(edges, recalls[kept], priors, weights / weights.sum(), unlabelled, fewest)

    def prior(self) -> Band:
        """Positive share of the unlabelled nodes."""
        band = self.band(self.priors)
        return replace(band, low=min(band.low, self.fewest))

    def bound(self) -> float:
        """The median of the bound B: the prior if all that looks positive is."""
        return float(_quantiles(self.priors[:, -1], self.weights, [0.5])[0])

    def recall_at(self, share: float) -> Values:
        """Recall among the first ``share`` of the unlabelled nodes, for each shape, as a column."""
        require_number("share", share)
        if not 0 < share <= 1:
            raise PugnnError(f"share must lie between 0 and 1, got {share}")
        at = min(max(int(np.searchsorted(self.edges, share)), 1), len(self.edges) - 1)
        part = (share - self.edges[at - 1]) / (self.edges[at] - self.edges[at - 1])
        recalls: Values = (1 - part) * self.recalls[:, at - 1] + part * self.recalls[:, at]
        return recalls[:, None]

    def found_at(self, share: float) -> Values:
        """Positives among the first ``share``, as a share of the unlabelled nodes, for each shape and prior."""
        return np.minimum(self.priors * self.recall_at(share), share)  # precision is at most 1

    def recall(self, share: float) -> Band:
        """Share of the positives among the first ``share`` of the unlabelled nodes."""
        recall = self.recall_at(share)
        return self._of_positives(recall, recall * (1 - recall))

    def precision(self, share: float) -> Band:
        """Share of positives among the first ``share`` of the unlabelled nodes."""
        return self.band(self.found_at(share) / share)

    def lift(self, share: float) -> Band:
        """How many times more positives these hold than as many random nodes."""
        recall = self.recall(share)
        return Band(recall.value / share, recall.low / share, recall.high / share)

    def f1(self, share: float) -> Band:
        """F1 of deciding the first ``share`` of the unlabelled nodes positive."""
        return self.band(self._f1(share))

    def auc(self) -> Band:
        """Probability that a positive ranks above a negative."""
        within, middle = np.diff(self.recalls, axis=1), (self.edges[1:] + self.edges[:-1]) / 2
        mean, square = (within @ middle)[:, None], (within @ middle**2)[:, None]
        variance = (square - mean**2) / (1 - self.priors) ** 2
        return self._of_positives(np.clip((1 - mean - self.priors / 2) / (1 - self.priors), 0.0, 1.0), variance)

    def decided_share(self) -> float:
        """The share of the unlabelled nodes to decide positive: that of the highest expected F1."""
        expected = [float(self.weights @ self._f1(share) @ PART_WEIGHTS) for share in self.edges[1:]]
        return float(self.edges[1 + int(np.argmax(expected))])

    def band(self, values: Values) -> Band:
        """Of a quantity with a value for each shape and prior: the median, and the ends of what holds for some c."""
        values = np.broadcast_to(values, self.priors.shape)
        ends = [_quantiles(of_part, self.weights, [TAIL, 1 - TAIL]) for of_part in values.T]
        value = _quantiles(values.ravel(), np.outer(self.weights, PART_WEIGHTS).ravel(), [0.5])[0]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        return Band(float(np.clip(value, low, high)), float(low), float(high))

    def _of_positives(self, values: Values, variances: Values) -> Band:
        """Of a mean over the positives with a value for each shape and prior, and the variance of a single one."""
        deviations = (
            np.sqrt(np.maximum(variances, 0.0) / np.maximum(self.unlabelled * self.priors, 1.0))[:, :, None]
            * DEVIATIONS
        )
        points = np.clip(values[:, :, None] + deviations, 0.0, 1.0)
        weights = np.repeat(np.outer(self.weights, PART_WEIGHTS), len(DEVIATIONS)) / len(DEVIATIONS)
        low, high = _quantiles(points.ravel(), weights, [TAIL, 1 - TAIL])
        expected = self.band(values)
        return Band(expected.value, min(expected.low, float(low)), max(expected.high, float(high)))

    def _f1(self, share: float) -> Values:
        return 2 * self.found_at(share) / (share + self.priors)


def as_ranks(ranks: object) -> Values:
    """Ranks as an array: numbers from 0 to 1."""
    array = as_array(ranks, "ranks")
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iuf") or not ((array >= 0) & (array <= 1)).all():
        raise PugnnError(f"ranks must be shares of the unlabelled nodes, numbers from 0 to 1; got {given(ranks)}")
    return array.astype(np.float64)


def _require_bounds(low: float, high: float) -> tuple[float, float]:
    require_share("low", low)
    require_share("high", high)
    if low > high:
        raise PugnnError(f"low must not lie above high; got {low} and {high}")
    return low, high


def _counts(ranks: Values, edges: Values, unlabelled: int) -> Values:
    """How many ranks lie in each bin. Between two nodes, a rank is that of the middle."""
    return np.histogram(np.minimum(ranks + 0.5 / unlabelled, 1.0), edges)[0].astype(np.float64)


def _priors(bound: Values, bounds: tuple[float, float] | None) -> Values:
    """For each shape, priors up to its bound, evenly spaced in log-odds; given bounds take the place of 1/60."""
    low, high = (MIN_PRIOR, MAX_PRIOR) if bounds is None else bounds
    least = np.clip(MIN_PART * bound, low, high) if bounds is None else np.full(len(bound), low)
    priors: Values = expit(np.linspace(logit(least), logit(np.clip(bound, low, high)), PARTS, axis=1))
    return np.clip(priors, low, high)  # rounding must not lead out of what is given


def _quantiles(values: Values, weights: Values, wanted: list[float]) -> Values:
    order = np.argsort(values, kind="stable")
    ordered = weights[order]
    return np.interp(wanted, np.cumsum(ordered) - ordered / 2, values[order])


@lru_cache(maxsize=8)
def _shapes(unlabelled: int) -> tuple[Values, Values, Values]:
    """Edges of the bins, recall of each shape there, and its bound B."""
    half = 0.5 / unlabelled
    edges = np.concatenate([[0.0], np.geomspace(half, 1.0, BINS)])
    breadths = np.geomspace(half, BROADEST, BREADTHS)[:, None]
    found = []
    for k in SHARPNESS:
        # log G = −log(1 + x^−k) / k, so that no power overflows.
        gathered, whole = (
            np.exp(-np.logaddexp(0.0, -k * np.log(share / breadths)) / k) for share in (edges[1:], edges[-1:])
        )
        found += [(1 - lost) * gathered / whole + lost * edges[1:] for lost in LOST]
    recalls = np.concatenate(found)
    recalls = np.concatenate([np.zeros((len(recalls), 1)), recalls], axis=1)
    place = (recalls < BOUNDED_AT).sum(axis=1)  # the first edge at which so many positives are found
    rows = np.arange(len(recalls))
    before, after = recalls[rows, place - 1], recalls[rows, place]
    part = (BOUNDED_AT - before) / (after - before)
    bound = ((1 - part) * edges[place - 1] + part * edges[place]) / BOUNDED_AT
    return edges, recalls, np.minimum(bound, 1.0)
