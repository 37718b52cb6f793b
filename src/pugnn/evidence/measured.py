r"""What checks say of a ranking: numbers of positives in stretches of it, with intervals that the draw alone justifies.

Nodes were drawn at random, without replacement, within each stretch of the ranking. If x of the n that were checked are
positive, of N, the number K of positives in the stretch has the exact (hypergeometric) one-sided limits of Clopper and
Pearson. These are quantiles of two distributions, one for each side:

.. math:: K_\text{low} = x + \mathrm{Binomial}(N - n,\ \mathrm{Beta}(x,\ n - x + 1)), \qquad
    K_\text{high} = x + \mathrm{Binomial}(N - n,\ \mathrm{Beta}(x + 1,\ n - x))

Whatever grows with every :math:`K_h` (a sum over stretches, a precision) has as its lower end the 5 % quantile over
independent :math:`K_\text{low}`, and as its upper end the 95 % quantile over independent :math:`K_\text{high}`; what
falls with some of them (recall falls with what is missed) takes the other side of those. That is the *melding* of Fay,
Proschan and Brittain (2015), which keeps the coverage of the single limits. Nothing is assumed of the ranking or of the
known positives. Nodes that were checked without having been drawn are not a sample: they are known, and the stretch is
the rest.

**Narrowed by hidden positives.** Where known positives are typical of all, they show the *shape*, which part
:math:`\theta_h` of all positives lies in each stretch, and checks the *level*. With :math:`c_h` of n hidden positives
in stretch h, shapes are drawn from a Dirichlet distribution with parameters :math:`\lambda c_h + \tfrac12`,
:math:`\lambda = 0.4 / (1 + n / 100)`; all K are alike on a log scale; and each pair is as likely as it makes the
checks, with :math:`p_h = K \theta_h / N_h`. The interval is what lies between the 2.5 and 97.5 % quantiles, since no
such model is quite true, and within the exact one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import Displayed, counted, percent
from pugnn.evidence.rank_model import COVERAGE, HALVED_AT, POWER, Band, Values
from pugnn.evidence.stretches import Places, hidden_counts, share_out

#: Numbers of first finds whose precision is measured.
TOPS = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
#: Draws from each distribution.
SAMPLES = 5_000
#: Shapes, and numbers of positives for each, that are looked at.
SHAPES, LEVELS = 2_000, 160
#: The highest level, as a multiple of all nodes.
OVERFULL = 10
#: What every stretch has besides hidden positives, in the parameters of a shape.
EVERY_STRETCH = 0.5
#: No precision is nearer to 0 or 1.
CERTAIN = 1e-6

TAIL = (1 - COVERAGE) / 2
#: What a narrowed interval leaves out at either end: less, because no model of the shape is quite true.
MODEL_TAIL = TAIL / 2


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

    def cells(self, cut: int | None = None) -> Cells:
        """What was checked in each stretch, the one around ``cut`` split there."""
        edges = self.edges if cut is None else np.union1d(self.edges, [cut])

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


@dataclass(frozen=True)
class MeasuredTop:
    """The first nodes of a ranking: how many, how many of them were checked, and the measured precision."""

    taken: int
    checked: int
    precision: Band


@dataclass(frozen=True)
class MeasuredDecisions:
    """The nodes that are decided positive: how many, and what was measured of them."""

    taken: int
    checked: int
    precision: Band
    recall: Band
    f1: Band


@dataclass(frozen=True, eq=False, repr=False)
class Measurement(Displayed):
    """How good a ranking is, measured on checks; intervals hold with 90 %.

    Args:
        checks: number of drawn nodes that were checked.
        positive: number of positives among them.
        others: number of nodes that were checked without having been drawn.
        unlabelled: length of the ranking.
        first: precision of the first 10, 20, 50, … nodes.
        decided: of those decided positive; ``None`` if there are none.
        positives: number of positives in the ranking, those that were checked among them.
        narrowed: whether hidden positives have narrowed number, recall and F1.
        why_not_narrowed: the reason, where they have not.
    """

    checks: int
    positive: int
    others: int
    unlabelled: int
    first: tuple[MeasuredTop, ...]
    decided: MeasuredDecisions | None
    positives: Band
    narrowed: bool
    why_not_narrowed: str = ""

    def _facts(self) -> list[str]:
        count = self.positives
        facts = [f"measured on {counted(self.checks, 'check')}"]
        facts.append(f"{count.value:,.0f} positives ({count.low:,.0f} to {count.high:,.0f}) of {self.unlabelled:,}")
        bands = {f"first {top.taken:,}": top.precision for top in self.first if top.taken == 100}
        if self.decided is not None:
            bands |= {"precision": self.decided.precision, "recall": self.decided.recall}
        shares = (
            f"{name} {percent(band.value)} ({percent(band.low)} to {percent(band.high)})"
            for name, band in bands.items()
        )
        return [*facts, *shares]

    def to_plain(self) -> dict[str, Any]:
        """All of it in plain values, for JSON."""
        return asdict(self)


def measure_checks(
    sample: CheckedSample, *, decided: int, ranks: Values | None = None, why_not_narrowed: str = ""
) -> Measurement:
    """Precision, number of positives, recall and F1, from checks.

    Args:
        sample: the checks.
        decided: how many nodes, from the top, are decided positive.
        ranks: of hidden positives, as shares of the ranking, where they are typical of all; ``None`` otherwise.
        why_not_narrowed: the reason for ``None``.
    """
    tops = tuple(MeasuredTop(top, *_precision(sample, top)) for top in TOPS if top <= sample.size)
    inside = 0 < decided < sample.size
    cut = decided if inside else None
    cells = sample.cells(cut)
    low, high = cells.limits()
    model = None if ranks is None or len(ranks) < 2 or not len(sample.drawn) else cells.modelled(ranks)
    at = int(np.searchsorted(cells.edges, decided)) if inside else len(cells.sizes)
    expected = cells.expected()

    def band(value: float, lows: Values, highs: Values, modelled: Values | None, most: float) -> Band:
        ends = [float(np.quantile(lows, TAIL)), min(float(np.quantile(highs, 1 - TAIL)), most)]
        if modelled is not None:
            value, *narrow = np.quantile(modelled, [0.5, MODEL_TAIL, 1 - MODEL_TAIL]).tolist()
            inner = [max(ends[0], narrow[0]), min(ends[1], narrow[1])]
            ends = inner if inner[0] <= inner[1] else ends
        return Band(min(max(value, ends[0]), ends[1]), *ends)

    def halves(draws: Values) -> tuple[Values, Values]:
        return draws[..., :at].sum(axis=-1), draws[..., at:].sum(axis=-1)

    whole = band(
        float(expected.sum()),
        low.sum(axis=1),
        high.sum(axis=1),
        None if model is None else model.sum(axis=1),
        sample.size,
    )
    decisions = None
    if inside:
        found = {"low": halves(low), "high": halves(high), "value": halves(expected)}
        shape = None if model is None else halves(model)

        def of(measure: Any) -> Band:
            # What is found counts for a list, and what is missed against it.
            return band(
                float(measure(*found["value"])),
                measure(found["low"][0], found["high"][1]),
                measure(found["high"][0], found["low"][1]),
                None if shape is None else measure(*shape),
                1.0,
            )

        decisions = MeasuredDecisions(
            decided,
            *_precision(sample, decided),
            of(lambda right, missed: right / np.maximum(right + missed, CERTAIN)),
            of(lambda right, missed: 2 * right / (decided + right + missed)),
        )
    return Measurement(
        checks=len(sample.drawn),
        positive=int(sample.drawn_positive.sum()),
        others=len(sample.others),
        unlabelled=sample.size,
        first=tops,
        decided=decisions,
        positives=whole,
        narrowed=model is not None,
        why_not_narrowed="" if model is not None else why_not_narrowed,
    )


def _precision(sample: CheckedSample, top: int) -> tuple[int, Band]:
    """Among the first ``top`` nodes: how many were checked, and the precision."""
    cells = sample.cells(top)
    at = int(np.searchsorted(cells.edges, top))
    low, high = (draws[:, :at].sum(axis=1) / top for draws in cells.limits())
    ends = float(np.quantile(low, TAIL)), float(np.quantile(high, 1 - TAIL))
    checked = int(((sample.drawn < top).sum()) + (sample.others < top).sum())
    return checked, Band(min(max(float(cells.expected()[:at].sum()) / top, ends[0]), ends[1]), *ends)


def foreseen(sample: CheckedSample, more: int, top: int) -> tuple[float, float]:
    """Half the width of the interval of the precision of the first ``top``, now and after ``more`` checks like these.

    Stretches get as many of them as they have now, in proportion, and are expected to have as many positives.
    """
    cells = sample.cells(top)
    at = int(np.searchsorted(cells.edges, top))
    free = (cells.sizes - cells.checked).astype(np.int64)
    added = share_out(more * cells.checked / max(cells.checked.sum(), 1), free, more)
    scale = (cells.checked + added) / np.maximum(cells.checked, 1)
    later = Cells(cells.edges, cells.sizes, cells.checked + added, cells.positive * scale, cells.known)
    widths = []
    for each in (cells, later):
        low, high = (draws[:, :at].sum(axis=1) / top for draws in each.limits())
        widths.append(float(np.quantile(high, 1 - TAIL) - np.quantile(low, TAIL)) / 2)
    return widths[0], widths[1]


def checks_to_settle(sample: CheckedSample, measured: Measurement) -> int:
    """Checks without a find in the last stretch after which it could hide no more positives than were measured.

    With n checks and none positive, 1 − 0.05^(1/n) of the stretch may be (about 3 / n).
    """
    cells = sample.cells()
    share = max(measured.positives.value, 1.0) / max(float(cells.sizes[-1]), 1.0)
    return int(min(np.ceil(np.log(TAIL) / np.log1p(-min(share, 1 - CERTAIN))), cells.sizes[-1]))


def calibrated(sample: CheckedSample, ranks: Values | None) -> Values:
    """The probability of being positive at each place of the ranking, never rising, shape ``(size,)``.

    In each stretch it is what checks say (half a positive and half a negative more than were found) or, where hidden
    positives may narrow that, the mean of the model; monotone by pooling neighbours, and between the middles of two
    stretches interpolated by the logarithm of the rank.
    """
    from sklearn.isotonic import isotonic_regression

    cells = sample.cells()
    if ranks is None or len(ranks) < 2:
        share = (cells.positive + 0.5) / (cells.checked + 1)
    else:
        share = (cells.modelled(ranks) - cells.known).mean(axis=0) / np.maximum(cells.sizes, 1)
    share = isotonic_regression(share, sample_weight=np.maximum(cells.sizes, 1), increasing=False)
    middles = np.log(np.sqrt((cells.edges[:-1] + 1.0) * cells.edges[1:]))
    values: Values = np.interp(np.log(np.arange(1, sample.size + 1)), middles, np.clip(share, 0.0, 1.0))
    values[sample.others], values[sample.drawn] = sample.others_positive, sample.drawn_positive
    return values
