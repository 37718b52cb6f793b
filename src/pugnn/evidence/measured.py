r"""What checks say of a ranking, with intervals that the draw alone justifies.

Whatever grows with every number :math:`K_h` of positives in a stretch (a sum over stretches, a precision) has as its
lower end the 5 % quantile over independent :math:`K_\text{low}`, and as its upper end the 95 % quantile over
independent :math:`K_\text{high}` (:mod:`pugnn.evidence.checked_sample`); what falls with some of them (recall falls
with what is missed) takes the other side of those. That is the *melding* of Fay, Proschan and Brittain (2015), which
keeps the coverage of the single limits. Nothing is assumed of the ranking or of the known positives.

Where known positives are typical of all, the ranks of hidden ones narrow number, recall and F1: to what lies between
the 2.5 and 97.5 % quantiles of the model, since no such model is quite true, and within the exact interval. If the
model's number lies outside the exact limits of 60 %, checks and hidden positives disagree, and nothing is narrowed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from pugnn.errors import Displayed, counted, percent
from pugnn.evidence.checked_sample import CERTAIN, Cells, CheckedSample
from pugnn.evidence.rank_model import TAIL, Band, Values
from pugnn.evidence.stretches import share_out

#: Numbers of first nodes whose precision is measured.
TOPS = (10, 100, 1_000, 10_000)
#: A share whose interval is wider than this is unknown, and a number whose ends differ by a larger factor.
UNKNOWN_WIDTH, UNKNOWN_FACTOR = 0.5, 5.0

#: Hidden positives and checks agree if the model's number lies between these quantiles of the exact limits.
AGREED = 0.2
#: What a narrowed interval leaves out at either end: less, because no model of the shape is quite true.
MODEL_TAIL = TAIL / 2

#: Of the numbers of positives in the first cells and in the others: grows with the former, never with the latter.
Measure = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class MeasuredTop:
    """The first nodes of a ranking: how many, how many of them were checked, and the measured precision."""

    taken: int
    checked: int
    precision: Band


@dataclass(frozen=True)
class MeasuredList:
    """A list of the first nodes, such as those decided positive: how many, and what was measured of them."""

    taken: int
    checked: int
    precision: Band
    recall: Band
    f1: Band
    missed: Band  # number of positives beyond them


@dataclass(frozen=True, eq=False, repr=False)
class Measurement(Displayed):
    """How good a ranking is, measured on checks; intervals hold with 90 %.

    Args:
        checks: number of drawn nodes that were checked.
        positive: number of positives among them.
        others: number of nodes that were checked without having been drawn.
        unlabelled: length of the ranking.
        first: precision of the first 10, 100, 1,000 and 10,000 nodes, and of those that were all checked.
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
    decided: MeasuredList | None
    positives: Band
    narrowed: bool
    why_not_narrowed: str = ""

    def unknown(self, band: Band) -> bool:
        """Whether an interval, of a share or of the number of positives, is too wide to say anything."""
        return (is_vague if band is self.positives else is_wide)(band.low, band.high)

    def rows(self) -> list[tuple[str, Band, Literal["share", "count"]]]:
        """All that was measured: words, the band, and what it is of."""
        found: list[tuple[str, Band, Literal["share", "count"]]] = [
            (f"precision of the first {top.taken:,}", top.precision, "share") for top in self.first
        ]
        found.append((f"positives among {self.unlabelled:,} unlabelled", self.positives, "count"))
        if (decided := self.decided) is not None:
            found.append((f"precision of the {decided.taken:,} decided positive", decided.precision, "share"))
            found += [("their recall", decided.recall, "share"), ("their F1", decided.f1, "share")]
        return found

    def _facts(self) -> list[str]:
        count = self.positives
        facts = [f"measured on {counted(self.checks, 'check')}"]
        number = "unknown number of" if self.unknown(count) else f"{count.value:,.0f}"
        facts.append(f"{number} positives ({count.low:,.0f} to {count.high:,.0f}) of {self.unlabelled:,}")
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


def is_wide(low: float, high: float) -> bool:
    """Whether the interval of a share says so little that it is called unknown."""
    return high - low > UNKNOWN_WIDTH


def is_vague(low: float, high: float) -> bool:
    """Whether the interval of a number says so little that it is called unknown."""
    return high > UNKNOWN_FACTOR * max(low, 1.0)


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
    tops = {top for top in (*TOPS, sample.known_top) if TOPS[0] <= top <= sample.size}
    cells = sample.cells(decided)
    model, why = _agreed_model(sample, cells, ranks, why_not_narrowed)
    return Measurement(
        checks=len(sample.drawn),
        positive=int(sample.drawn_positive.sum()),
        others=len(sample.others) + len(sample.later),
        unlabelled=sample.size,
        first=tuple(MeasuredTop(top, *measure_precision(sample, top)) for top in sorted(tops)),
        decided=_list(sample, cells, decided, model) if decided else None,
        positives=_band(cells, len(cells.sizes), lambda all_of_them, _: all_of_them, model),
        narrowed=model is not None,
        why_not_narrowed=why,
    )


def measure_list(sample: CheckedSample, taken: int, ranks: Values | None) -> MeasuredList:
    """The same of the first ``taken`` nodes."""
    cells = sample.cells(taken)
    return _list(sample, cells, taken, _agreed_model(sample, cells, ranks)[0])


def _list(sample: CheckedSample, cells: Cells, taken: int, model: Values | None) -> MeasuredList:
    at = int(np.searchsorted(cells.edges, taken))
    found = _band(cells, at, lambda _, missed: -missed, model)
    return MeasuredList(
        taken,
        *measure_precision(sample, taken),
        _band(cells, at, lambda right, missed: right / np.maximum(right + missed, CERTAIN), model),
        _band(cells, at, lambda right, missed: 2 * right / np.maximum(taken + right + missed, CERTAIN), model),
        Band(0.0 - found.value, 0.0 - found.high, 0.0 - found.low),
    )


def _agreed_model(
    sample: CheckedSample, cells: Cells, ranks: Values | None, why: str = ""
) -> tuple[Values | None, str]:
    """Draws of the model, if hidden positives may narrow what checks say, or the reason why they may not."""
    if ranks is None or len(ranks) < 2 or not len(sample.drawn):
        return None, why or "no drawn node is checked yet"
    model = cells.modelled(ranks)
    low, high = (draws.sum(axis=1) for draws in cells.limits)
    if np.quantile(low, AGREED) <= np.median(model.sum(axis=1)) <= np.quantile(high, 1 - AGREED):
        return model, ""
    return None, "checks and hidden positives disagree on how many positives there are"


def _band(cells: Cells, at: int, measure: Measure, model: Values | None = None) -> Band:
    """A measure of the positives before and after cell ``at``: its exact interval, narrowed by draws of a model."""

    def of(first: Values, rest: Values) -> Any:
        return measure(first[..., :at].sum(axis=-1), rest[..., at:].sum(axis=-1))

    (low, high), expected = cells.limits, cells.expected()
    value = float(of(expected, expected))
    ends = [float(np.quantile(of(low, high), TAIL)), float(np.quantile(of(high, low), 1 - TAIL))]
    if model is not None:
        value, *inner = np.quantile(of(model, model), [0.5, MODEL_TAIL, 1 - MODEL_TAIL]).tolist()
        inner = [max(ends[0], inner[0]), min(ends[1], inner[1])]
        ends = inner if inner[0] <= inner[1] else ends
    return Band(min(max(value, ends[0]), ends[1]), *ends)


def measure_precision(sample: CheckedSample, top: int) -> tuple[int, Band]:
    """Among the first ``top`` nodes: how many were checked, and the precision."""
    checked = int((sample.verdicts[0] < top).sum())
    return checked, _top_band(sample.cells(top), top)


def _top_band(cells: Cells, top: int) -> Band:
    return _band(cells, int(np.searchsorted(cells.edges, top)), lambda right, _: right / max(top, 1))


def foreseen(sample: CheckedSample, more: int, top: int) -> tuple[float, float]:
    """Half the width of the interval of the precision of the first ``top``, now and after ``more`` checks like these.

    Stretches get as many of them as they have now, in proportion, and are expected to have as many positives.
    """
    cells = sample.cells(top)
    free = (cells.sizes - cells.checked).astype(np.int64)
    checked = cells.checked + share_out(more * cells.checked / max(cells.checked.sum(), 1), free, more)
    later = replace(cells, checked=checked, positive=cells.positive * checked / np.maximum(cells.checked, 1))
    now, then = (_top_band(each, top) for each in (cells, later))
    return (now.high - now.low) / 2, (then.high - then.low) / 2


def checks_to_settle(sample: CheckedSample, measured: Measurement) -> int:
    """Checks without a find in the last stretch after which it could hide no more positives than were measured.

    With n checks and none positive, 1 − 0.05^(1/n) of the stretch may be (about 3 / n).
    """
    cells = sample.cells()
    share = max(measured.positives.value, 1.0) / max(float(cells.sizes[-1]), 1.0)
    return int(min(np.ceil(np.log(TAIL) / np.log1p(-min(share, 1 - CERTAIN))), cells.sizes[-1]))


def calibrated(sample: CheckedSample, ranks: Values | None) -> Values:
    """The probability of being positive at each place of the ranking, never rising, shape ``(size,)``.

    The mean of each stretch is what checks say or, where hidden positives may narrow that, the mean of the model: all
    of them add up to the measured number. Within stretches it follows a line between their middles, by the logarithm
    of the rank; neighbours are pooled where it would rise.
    """
    from sklearn.isotonic import isotonic_regression

    cells = sample.cells()
    model, _ = _agreed_model(sample, cells, ranks)
    numbers = cells.expected() if model is None else model.mean(axis=0)
    share = (numbers - cells.known) / np.maximum(cells.sizes, 1)
    sizes = np.diff(cells.edges)
    share = isotonic_regression(share, sample_weight=sizes, increasing=False)
    middles = np.log(np.sqrt((cells.edges[:-1] + 1.0) * cells.edges[1:]))
    line = np.interp(np.log(np.arange(1, sample.size + 1)), middles, share)
    means = np.add.reduceat(line, cells.edges[:-1]) / sizes
    line = np.clip(line * np.repeat(share / np.maximum(means, CERTAIN), sizes), 0.0, 1.0)
    values: Values = isotonic_regression(line, increasing=False)
    places, positive = sample.verdicts
    values[places] = positive
    return values
