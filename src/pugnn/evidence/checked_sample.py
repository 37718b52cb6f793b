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

from dataclasses import dataclass, field
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
        others: places of nodes that were known before anything was drawn, and so were not drawn from.
        others_positive: which of them are positive.
        later: places of nodes that were chosen by a person and checked after that. Whoever chooses avoids what was
            drawn, so they are no part of the sample, and only bound what is possible.
        later_positive: which of them are positive.
    """

    edges: Places
    drawn: Places
    drawn_positive: NDArray[np.bool_]
    others: Places = field(default_factory=lambda: np.zeros(0, np.int64))
    others_positive: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    later: Places = field(default_factory=lambda: np.zeros(0, np.int64))
    later_positive: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))

    @property
    def size(self) -> int:
        """Length of the ranking."""
        return int(self.edges[-1])

    @property
    def verdicts(self) -> tuple[Places, NDArray[np.bool_]]:
        """Places of all nodes that were checked, and which of them are positive."""
        return (
            np.concatenate([self.drawn, self.others, self.later]),
            np.concatenate([self.drawn_positive, self.others_positive, self.later_positive]),
        )

    @property
    def known_top(self) -> int:
        """How many nodes, from the top, were all checked."""
        checked = np.zeros(self.size + 1, dtype=bool)
        checked[self.verdicts[0]] = True
        return int(np.argmin(checked))

    def cells(self, cut: int = 0) -> Cells:
        """What was checked in each stretch, the one around ``cut`` split there."""
        edges = np.union1d(self.edges, [cut])

        def count(places: Places, within: Places = edges) -> Values:
            return np.histogram(places + 0.5, within)[0].astype(np.float64)

        whole = np.searchsorted(self.edges, edges[:-1], side="right") - 1  # the stretch that a cell is part of
        checked, positive = count(self.drawn), count(self.drawn[self.drawn_positive])
        of_whole = count(self.drawn[self.drawn_positive], self.edges) / np.maximum(count(self.drawn, self.edges), 1)
        return Cells(
            edges=edges,
            sizes=np.diff(edges) - count(self.others),
            checked=checked,
            positive=positive,
            known=count(self.others[self.others_positive]),
            rates=np.where(checked > 0, positive / np.maximum(checked, 1), of_whole[whole]),
            right=count(self.later[self.later_positive]),
            wrong=count(self.later[~self.later_positive]),
        )


@dataclass(frozen=True, eq=False)
class Cells:
    """Stretches with their checks, each of shape ``(H,)``.

    Args:
        edges: of the cells, shape ``(H + 1,)``.
        sizes: nodes that were drawn from.
        checked: drawn ones that were checked.
        positive: positives among these.
        known: positives among nodes that were known before.
        rates: share of positives among checked ones; of those in the whole stretch where a part of it has none.
        right: positives that were found later, without having been drawn.
        wrong: nodes that were found later not to be positive.
    """

    edges: Places
    sizes: Values
    checked: Values
    positive: Values
    known: Values
    rates: Values
    right: Values
    wrong: Values

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

    def _possible(self, numbers: Values) -> Values:
        """Numbers of positives, as far as later finds leave them possible."""
        least = self.known + self.positive + self.right
        most = self.known + self.sizes - (self.checked - self.positive) - self.wrong
        possible: Values = np.clip(numbers, least, most)
        return possible

    def expected(self) -> Values:
        """An estimate of each cell, unbiased where it has checks; what nobody has checked counts as none."""
        return self._possible(self.known + self.positive + (self.sizes - self.checked) * self.rates)

    def modelled(self, ranks: Values) -> Values:
        """Draws of the number of positives in each cell from shape and level, shape ``(SAMPLES, H)``."""
        rng = np.random.default_rng(0)
        sizes = np.maximum(self.sizes, 1)
        power = POWER / (1 + len(ranks) / HALVED_AT)
        shapes = rng.dirichlet(power * hidden_counts(ranks, self.edges) + EVERY_STRETCH, SHAPES)
        # A stretch can be full: then its share of the level is more than it holds.
        levels = np.geomspace(max(1.0, (self.positive + self.known).sum()), OVERFULL * sizes.sum(), LEVELS)
        likely = np.zeros((SHAPES, LEVELS))
        for cell in np.flatnonzero(self.checked > 0):
            unknown = np.outer(shapes[:, cell], levels) - self.known[cell]
            share = np.clip(unknown / sizes[cell], CERTAIN, 1 - CERTAIN)
            x = self.positive[cell]
            likely += x * np.log(share) + (self.checked[cell] - x) * np.log1p(-share)
        weights = np.exp(likely - likely.max()).ravel()
        shape, level = np.divmod(rng.choice(weights.size, SAMPLES, p=weights / weights.sum()), LEVELS)
        unknown = shapes[shape] * levels[level][:, None] - self.known
        return self._with_rest(rng, np.clip(unknown / sizes, 0.0, 1.0))

    def _with_rest(self, rng: np.random.Generator, share: Values) -> Values:
        """All positives of each cell, if nodes that were not checked are positive with this probability."""
        left = np.maximum(self.sizes - self.checked, 0).round().astype(np.int64)
        return self._possible(self.known + self.positive + rng.binomial(left, share))
