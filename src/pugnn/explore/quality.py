"""How good the list is: what the audit has measured, and what to expect of the first so many nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.evidence.audit import Audit
from pugnn.evidence.bands import Bands
from pugnn.evidence.measured import measure_precision
from pugnn.evidence.prior import Prior
from pugnn.evidence.rank_model import Band
from pugnn.explore.room import Room
from pugnn.runs.audit_table import measured_rows, measured_title, next_checks

#: Positions of the slider, at most; an interval takes ten milliseconds at each.
STEPS = 80


class Quality:
    """The numbers of a room, computed again after every verdict."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._steps = slider_steps(len(room.run.others))
        self._of: dict[str, Any] = {}
        self._audit: Audit | None = None

    def now(self) -> dict[str, Any]:
        """What is measured and what is expected by now."""
        audit = self._room.audit
        if audit is not self._audit:  # the room makes another one when a verdict comes in
            self._of = {"measured": measured_of(audit), "expected": self._expected(audit)}
            self._audit = audit
        return self._of

    def _expected(self, audit: Audit) -> dict[str, Any] | None:
        if len(audit.sample().drawn):
            return self._measured(audit)
        return self._from_hidden_positives()

    def _measured(self, audit: Audit) -> dict[str, Any]:
        """By the audit: the numbers that :meth:`pugnn.Audit.choose` has for a budget, as far as they fit together."""
        sample, measured = audit.sample(), audit.estimate()
        found = np.cumsum(audit.probabilities())
        bands = [measure_precision(sample, taken)[1] for taken in self._steps.tolist()]
        values = [
            Band(
                min(max(float(found[taken - 1]), taken * band.low), taken * band.high),
                taken * band.low,
                taken * band.high,
            )
            for taken, band in zip(self._steps.tolist(), bands, strict=True)
        ]
        known = [not measured.unknown(band) for band in bands]
        return self._told(tied(values, self._steps, measured.positives), known, measured.positives)

    def _from_hidden_positives(self) -> dict[str, Any] | None:
        """By positives that were hidden, as the report of the run tells it; ``None`` where they tell nothing."""
        evidence, size = self._room.run.evidence, len(self._room.run.others)
        estimate = evidence.estimate
        if estimate is None or not estimate["signal"] or len(ranks := estimate["hidden"].get("ranks", [])) < 2:
            return None
        prior = Prior(**estimate["prior"])
        bands, values = Bands(np.array(ranks), size, prior), []
        for taken in self._steps.tolist():
            precision = bands.precision(taken / size)
            values.append(Band(*(taken * share for share in (precision.value, precision.low, precision.high))))
        positives = Band(*(size * share for share in (prior.value, prior.low, prior.high)))
        return self._told(values, [False] * len(values), positives)

    def _told(self, finds: list[Band], known: list[bool], positives: Band) -> dict[str, Any]:
        run = self._room.run
        scores = run.scores[run.others[self._steps - 1]].tolist()
        steps = zip(self._steps.tolist(), scores, finds, known, strict=True)
        return {
            "steps": [
                {"taken": taken, "score": score, "finds": _ends(band), "known": sure}
                for taken, score, band, sure in steps
            ],
            "positives": _ends(positives),
        }


def measured_of(audit: Audit) -> dict[str, Any] | None:
    """What the audit has measured, a row for each number; ``None`` before the first verdict."""
    if not audit.verdicts:
        return None
    measured = audit.estimate()
    return {
        "title": measured_title(measured),
        "rows": [{"name": words, "value": value, "range": ends} for words, value, ends in measured_rows(measured)],
        "notes": next_checks(audit, measured),
    }


def tied(finds: list[Band], taken: NDArray[np.int64], positives: Band) -> list[Band]:
    """Finds that agree with each other and with the number of positives, each of which was measured by itself.

    More nodes have no fewer finds, nobody finds more than there are, and those who take all nodes find all of them.

    Example:
        >>> tied([Band(2, 0, 3), Band(9, 1, 9), Band(6, 0, 9)], np.array([3, 9, 10]), Band(5, 4, 6))
        [Band(value=2.0, low=0.0, high=3.0), Band(value=5.0, low=3.0, high=6.0), Band(value=5.0, low=4.0, high=6.0)]
    """
    if not finds:
        return []
    value, low, high = np.array([_ends(band) for band in finds], float).T
    low = np.maximum(np.maximum.accumulate(low), positives.low - (taken[-1] - taken)).clip(max=positives.low)
    high[-1] = positives.high
    high = np.maximum(np.minimum.accumulate(high[::-1])[::-1], low)
    value[-1] = positives.value
    value = value.clip(max=positives.value).clip(low, high)
    return [Band(*ends) for ends in zip(value.tolist(), low.tolist(), high.tolist(), strict=True)]


def slider_steps(size: int) -> NDArray[np.int64]:
    """Numbers of first nodes, from 1 to all, denser at the top.

    Example:
        >>> slider_steps(5), len(slider_steps(10**6)) <= STEPS
        (array([1, 2, 3, 4, 5]), True)
    """
    round_ones = [digit * 10**power for power in range(len(str(size))) for digit in (1, 2, 5)]
    spread = np.geomspace(1, max(size, 1), STEPS - len(round_ones)).round().astype(np.int64)
    steps = np.union1d(spread, round_ones)
    return steps[steps <= size]


def _ends(band: Band) -> list[float]:
    return [band.value, band.low, band.high]
