r"""Checked nodes of a ranking, and how many positives its stretches may hold then.

Nodes were drawn at random, without replacement, within each stretch of the ranking. If x of the n that were checked are
positive, of N, the number K of positives in the stretch has the exact (hypergeometric) one-sided limits of Clopper and
Pearson. These are quantiles of two distributions, one for each side:

.. math:: K_\text{low} = x + \mathrm{Binomial}(N - n,\ \mathrm{Beta}(x,\ n - x + 1)), \qquad
    K_\text{high} = x + \mathrm{Binomial}(N - n,\ \mathrm{Beta}(x + 1,\ n - x))

Nodes that were checked without having been drawn are not a sample: they are known, and the stretch is the rest.

**Hidden positives** show the *shape*, which part :math:`\theta_h` of all positives lies in each stretch, and checks the
*level*. With :math:`c_h` of n hidden positives in stretch h, shapes are drawn from a Dirichlet distribution with
parameters :math:`\lambda c_h + \tfrac12`, :math:`\lambda = 0.4 / (1 + n / 100)`; all K are alike on a log scale; and
each pair is as likely as it makes the checks, with :math:`p_h = K \theta_h / N_h`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pugnn.evidence.rank_model import HALVED_AT, POWER, Values
from pugnn.evidence.stretches import Places, hidden_counts

#: Draws from each distribution.
SAMPLES = 5_000
#: Shapes, and numbers of positives for each, that are looked at.
SHAPES, LEVELS = 2_000, 160
#: The highest level, as a multiple of all nodes.
OVERFULL = 10
#: What every stretch has besides hidden positives, in the parameters of a shape.
EVERY_STRETCH = 0.5
#: No probability is nearer to 0 or 1.
CERTAIN = 1e-6


@dataclass(frozen=True, eq=False)
class CheckedSample:
    """Verdicts on nodes of a ranking, by their places in it, from 0.

    Args:
        edges: of the stretches, from 0 to the length of the ranking, shape ``(H + 1,)``.
        drawn: places of the nodes that were drawn and checked.
        drawn_positive: which of them are positive.
        others: places of nodes that were checked without having been drawn.
        others_positive: which of them are positive.
    """

    edges: Places
    drawn: Places
    drawn_positive: NDArray[np.bool_]
    others: Places
    others_positive: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """Length of the ranking."""
        return int(self.edges[-1])

    @property
    def known_top(self) -> int:
        """How many nodes, from the top, were all checked."""
        checked = np.zeros(self.size + 1, dtype=bool)
        checked[self.drawn] = checked[self.others] = True
        return int(np.argmin(checked))

    def cells(self, cut: int = 0) -> Cells:
        """What was checked in each stretch, the one around ``cut`` split there."""
        edges = np.union1d(self.edges, [cut])

        def count(places: Places) -> Values:
            return np.histogram(places + 0.5, edges)[0].astype(np.float64)

        known = count(self.others)
        return Cells(
            edges=edges,
            sizes=np.diff(edges) - known,
            checked=count(self.drawn),
            positive=count(self.drawn[self.drawn_positive]),
            known=count(self.others[self.others_positive]),
        )


@dataclass(frozen=True, eq=False)
class Cells:
    """Stretches with their checks, each of shape ``(H,)``: nodes to be drawn from, drawn ones that were checked,
    positives among these, and positives among the nodes that were checked otherwise."""

    edges: Places
    sizes: Values
    checked: Values
    positive: Values
    known: Values

    @cached_property
    def limits(self) -> tuple[Values, Values]:
        """Draws of the number of positives in each cell, low and high, each of shape ``(SAMPLES, H)``."""
        rng = np.random.default_rng(0)
        x, n = self.positive, self.checked
        return self._draw(rng, x, n - x + 1), self._draw(rng, x + 1, n - x)

    def _draw(self, rng: np.random.Generator, a: Values, b: Values) -> Values:
        share = rng.beta(np.maximum(a, CERTAIN), np.maximum(b, CERTAIN), (SAMPLES, len(a)))
        share = np.where(a <= 0, 0.0, np.where(b <= 0, 1.0, share))
        return self._with_rest(rng, share)

    def expected(self) -> Values:
        """The unbiased estimate of each cell; one without checks is like the next one above it that has some."""
        seen = np.flatnonzero(self.checked > 0)
        if not len(seen):
            return self.known
        above = seen[np.maximum(np.searchsorted(seen, np.arange(len(self.sizes)), side="right") - 1, 0)]
        rate = self.positive[above] / self.checked[above]
        expected: Values = self.known + self.positive + (self.sizes - self.checked) * rate
        return expected

    def modelled(self, ranks: Values) -> Values:
        """Draws of the number of positives in each cell from shape and level, shape ``(SAMPLES, H)``."""
        rng = np.random.default_rng(0)
        sizes = np.maximum(self.sizes, 1)
        power = POWER / (1 + len(ranks) / HALVED_AT)
        shapes = rng.dirichlet(power * hidden_counts(ranks, self.edges) + EVERY_STRETCH, SHAPES)
        # A stretch can be full: then its share of the level is more than it holds.
        levels = np.geomspace(max(1.0, self.positive.sum()), OVERFULL * sizes.sum(), LEVELS)
        likely = np.zeros((SHAPES, LEVELS))
        for cell in np.flatnonzero(self.checked > 0):
            share = np.clip(np.outer(shapes[:, cell], levels) / sizes[cell], CERTAIN, 1 - CERTAIN)
            x = self.positive[cell]
            likely += x * np.log(share) + (self.checked[cell] - x) * np.log1p(-share)
        weights = np.exp(likely - likely.max()).ravel()
        shape, level = np.divmod(rng.choice(weights.size, SAMPLES, p=weights / weights.sum()), LEVELS)
        share = np.minimum(shapes[shape] * levels[level][:, None] / sizes, 1.0)
        return self._with_rest(rng, share)

    def _with_rest(self, rng: np.random.Generator, share: Values) -> Values:
        """All positives of each cell, if nodes that were not checked are positive with this probability."""
        left = np.maximum(self.sizes - self.checked, 0).round().astype(np.int64)
        drawn: Values = self.known + self.positive + rng.binomial(left, share)
        return drawn
