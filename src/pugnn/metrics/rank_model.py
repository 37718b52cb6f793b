r"""Where positives rank among the unlabelled nodes: a small model, fitted to known positives that were hidden.

A node's rank :math:`h` is the share of the unlabelled nodes above it. The unlabelled nodes themselves have all ranks
alike, so that all there is to know about a ranking is the prior :math:`\pi` and the recall :math:`F(h)`, the share of
the positives among the first share h of the unlabelled nodes:

.. math:: \text{precision} = \frac{\pi F(h)}{h}, \qquad F_1 = \frac{2 \pi F(h)}{h + \pi}, \qquad
    \text{lift} = \frac{F(h)}{h}, \qquad \text{AUC} = \frac{\int F(h)\, dh - \pi / 2}{1 - \pi}

Hidden positives show F, and its steepness at the top bounds the prior: precision is at most 1. How far below that bound
the prior lies, they do not show; the shape of the two score distributions has to. So F comes from a family of shapes:
negatives score by a normal (or logistic) distribution, positives by the same one moved up by d and scaled by s, and a
share e of the positives cannot be told from negatives; and nowhere is precision lower than further down the list. Every
shape on a grid of (d, s, e), with every prior on a grid, has the likelihood of the hidden positives' ranks, or rather
its power :math:`\eta = 0.75 / (1 + n / 200)`, since no such shape is quite true: beyond some hundreds, more hidden
positives make the model hardly surer. All shapes are equally likely beforehand, and a prior is in proportion to
:math:`\sqrt{\pi (1 - \pi)}` per unit of its log-odds. Bands are the quantiles of what follows.

A node of rank h that was checked is positive with probability :math:`\pi F'(h)`, the precision there, however it was
chosen: that is the likelihood of checked nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr

from pugnn.errors import Displayed, PugnnError, given, require_number, require_share, require_type
from pugnn.graph.index_arrays import as_array

Values = NDArray[np.float64]

#: Ranks are counted in bins with these edges, finer at the top.
EDGES: Values = np.concatenate([[0.0], np.geomspace(0.002, 0.3, 40), np.linspace(0.3, 1.0, 29)[1:]])
#: The shapes: distribution functions, and how far positives are moved up at most; scales; shares that are lost.
FAMILIES = ((ndtr, 6.0), (expit, 9.0))
STEPS, SCALES, LOST = 16, (0.8, 1.0, 1.6), (0.0, 0.1, 0.25)
#: Priors between these are considered where none is given.
LOWEST, HIGHEST, PRIORS = 0.004, 0.93, 40
#: η: power of the likelihood for a few hidden positives, and the number of them at which it is half of that.
POWER, ENOUGH = 0.75, 200
#: What no shape expects may happen now and then.
FLOOR = 1e-6
#: No node is surer than this to be positive or negative.
UNSURE = 0.01
#: Bands hold the true value with this probability, if the model is right.
COVERAGE = 0.9


@dataclass(frozen=True)
class Band:
    """A value and the ends of its band."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Checked:
    """Nodes that were checked: their ranks, if nothing were known about them, and which are positive."""

    ranks: Values
    positive: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class RankModel(Displayed):
    """What hidden positives say of prior and recall: a weight for each combination of shape and prior.

    Args:
        priors: of each combination, shape ``(C,)``.
        recalls: recall at :data:`EDGES`, shape ``(C, E)``.
        weights: adding up to 1, shape ``(C,)``.
    """

    priors: Values
    recalls: Values
    weights: Values

    @classmethod
    def of(
        cls, ranks: Values, *, low: float = LOWEST, high: float = HIGHEST, checked: Checked | None = None
    ) -> RankModel:
        """Fitted to the ranks of hidden positives, shape ``(n,)``, for priors between two bounds, or for one prior."""
        require_share("low", low)
        require_share("high", high)
        if low > high:
            raise PugnnError(f"low must not lie above high; got {low} and {high}")
        require_type("checked", checked, Checked | None, "nodes that were checked")
        ranks = as_ranks(ranks)
        priors, recalls = _combinations(low, high)
        within = np.diff(recalls, axis=1)  # share of the positives in each bin
        fit, count = np.log(within + FLOOR) @ np.histogram(ranks, EDGES)[0], len(ranks)
        if checked is not None:
            precision = np.clip(priors[:, None] * within / np.diff(EDGES), UNSURE, 1 - UNSURE)
            right, wrong = (
                np.histogram(checked.ranks[part], EDGES)[0] for part in (checked.positive, ~checked.positive)
            )
            fit, count = fit + np.log(precision) @ right + np.log1p(-precision) @ wrong, count + len(checked.ranks)
        fit = POWER / (1 + count / ENOUGH) * fit + 0.5 * np.log(priors * (1 - priors))
        weights = np.exp(fit - fit.max())
        kept = weights > 1e-9 * weights.sum()
        return cls(priors[kept], recalls[kept], weights[kept] / weights[kept].sum())

    def _facts(self) -> list[str]:
        prior, auc = self.prior(), self.auc()
        return [f"prior {prior.value:.3g} ({prior.low:.3g} to {prior.high:.3g})", f"AUC {auc.value:.2f}"]

    def prior(self) -> Band:
        """Positive share of the unlabelled nodes."""
        return self.band(self.priors)

    def recall_at(self, share: float) -> Values:
        """Recall among the first ``share`` of the unlabelled nodes, for each combination."""
        require_number("share", share)
        if not 0 < share <= 1:
            raise PugnnError(f"share must lie between 0 and 1, got {share}")
        at = min(max(int(np.searchsorted(EDGES, share)), 1), len(EDGES) - 1)
        part = (share - EDGES[at - 1]) / (EDGES[at] - EDGES[at - 1])
        recalls: Values = (1 - part) * self.recalls[:, at - 1] + part * self.recalls[:, at]
        return recalls

    def recall(self, share: float) -> Band:
        """Share of the positives among the first ``share`` of the unlabelled nodes."""
        return self.band(self.recall_at(share))

    def precision(self, share: float) -> Band:
        """Share of positives among the first ``share`` of the unlabelled nodes."""
        return self.band(np.minimum(self.priors * self.recall_at(share) / share, 1.0))

    def lift(self, share: float) -> Band:
        """How many times more positives these hold than as many random nodes."""
        return self.band(self.recall_at(share) / share)

    def f1(self, share: float) -> Band:
        """F1 of deciding the first ``share`` of the unlabelled nodes positive."""
        return self.band(2 * self.priors * self.recall_at(share) / (share + self.priors))

    def auc(self) -> Band:
        """Probability that a positive ranks above a negative."""
        above = ((self.recalls[:, 1:] + self.recalls[:, :-1]) / 2) @ np.diff(EDGES)
        return self.band(np.clip((above - self.priors / 2) / (1 - self.priors), 0.0, 1.0))

    def band(self, values: Values) -> Band:
        """Median and quantiles of a quantity that has one value for each combination."""
        order = np.argsort(values, kind="stable")
        ordered, weights = values[order], self.weights[order]
        middles = np.cumsum(weights) - weights / 2
        tail = (1 - COVERAGE) / 2
        low, value, high = np.interp([tail, 0.5, 1 - tail], middles, ordered)
        return Band(float(value), float(low), float(high))


def as_ranks(ranks: object) -> Values:
    """Ranks as an array: numbers from 0 to 1."""
    array = as_array(ranks, "ranks")
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iuf") or not ((array >= 0) & (array <= 1)).all():
        raise PugnnError(f"ranks must be shares of the unlabelled nodes, numbers from 0 to 1; got {given(ranks)}")
    return array.astype(np.float64)


@lru_cache(maxsize=8)
def _combinations(low: float, high: float) -> tuple[Values, Values]:
    """Every prior on a grid with every shape, and recall at the edges."""
    priors = np.unique(expit(np.linspace(logit(low), logit(high), PRIORS)) if high > low else np.array([low]))
    found, recalls = [], []
    for distribution, furthest in FAMILIES:
        scores = np.linspace(-14.0, furthest + 20.0, 600)
        negatives = distribution(-scores)  # share of them above each score
        for shift in np.linspace(0.0, furthest, STEPS):
            for scale in SCALES:
                moved = distribution((shift - scores) / scale)
                for lost in LOST:
                    positives = (1 - lost) * moved + lost * negatives
                    # Share of the unlabelled nodes above each score, for each prior.
                    above = priors[:, None] * positives + (1 - priors)[:, None] * negatives
                    recalls += [np.interp(EDGES, each, positives[::-1]) for each in above[:, ::-1]]
                    found.append(priors)
    slopes = np.diff(recalls, axis=1) / np.diff(EDGES)
    falling = np.maximum.accumulate(slopes[:, ::-1], axis=1)[:, ::-1]  # precision, but for the prior
    table = np.concatenate([np.zeros((len(falling), 1)), np.cumsum(falling * np.diff(EDGES), axis=1)], axis=1)
    return np.concatenate(found), table / table[:, -1:]
