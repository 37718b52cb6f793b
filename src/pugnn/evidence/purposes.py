"""Lists for a purpose: how far down a ranking to go, by the probabilities of its nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pugnn.errors import PugnnError, require_number, require_whole
from pugnn.evidence.measured import MeasuredList
from pugnn.evidence.rank_model import Band, Values


@dataclass(frozen=True)
class Choice:
    """A list for a purpose: how many nodes from the top, and what is expected of it, with the measured intervals.

    Args:
        purpose: in words.
        asked: the same by name, as :func:`choose_list` takes it.
        taken: number of nodes.
        found: positives among them.
        missed: positives among the others.
        precision: share of positives among them.
        recall: share of the positives that are among them.
        cost: of checking them and of what is missed, where costs were given.
    """

    purpose: str
    asked: dict[str, float]
    taken: int
    found: Band
    missed: Band
    precision: Band
    recall: Band
    cost: Band | None = None


def choose_list(
    probabilities: Values,
    measure: Callable[[int], MeasuredList],
    *,
    budget: int | None = None,
    precision: float | None = None,
    recall: float | None = None,
    cost_miss: float | None = None,
    cost_check: float | None = None,
) -> Choice:
    """How far down a ranking to go, for one purpose.

    Args:
        probabilities: of being positive, in the order of the ranking.
        measure: what was measured of the first so many nodes.
        budget: the first so many nodes.
        precision: the longest list with this expected precision.
        recall: the shortest list with this expected recall.
        cost_miss: what a missed positive costs; with ``cost_check``, the cheapest list.
        cost_check: what it costs to check a node.
    """
    purposes = {"budget": budget, "precision": precision, "recall": recall}
    purposes |= {"cost_miss": cost_miss, "cost_check": cost_check}
    asked = {name: value for name, value in purposes.items() if value is not None}
    if len({name.split("_")[0] for name in asked}) != 1:
        raise PugnnError("give one purpose: a budget, a precision, a recall, or the costs of a miss and a check")
    found, size = np.concatenate([[0.0], np.cumsum(probabilities)]), len(probabilities)
    taken, total = np.arange(size + 1), float(found[-1])
    if budget is not None:
        require_whole("budget", budget, 1)
        count, purpose = min(budget, size), f"a budget of {budget:,}"
    elif precision is not None:
        _require_part("precision", precision)
        count = int(np.flatnonzero(found >= precision * taken - 1e-9)[-1])
        purpose = f"a precision of {precision:g}"
    elif recall is not None:
        _require_part("recall", recall)
        count, purpose = int(np.argmax(found >= recall * total - 1e-9)), f"a recall of {recall:g}"
    else:
        if cost_miss is None or cost_check is None:
            raise PugnnError("costs come in pairs: that of a miss, and that of a check")
        for name, each in (("cost_miss", cost_miss), ("cost_check", cost_check)):
            require_number(name, each, negative=False)
        costs = cost_check * taken + cost_miss * (total - found)
        count, purpose = int(np.argmin(costs)), f"a miss at {cost_miss:g} and a check at {cost_check:g}"
    right, measured = float(found[count]), measure(count)
    share, missed = _within(right / max(count, 1), measured.precision), _within(total - right, measured.missed)
    part = _within(right / max(total, 1e-9), measured.recall)
    cost = None if cost_miss is None or cost_check is None else _scaled(missed, cost_miss, cost_check * count)
    return Choice(purpose, asked, count, _scaled(share, count), missed, share, part, cost)


def _within(value: float, band: Band) -> Band:
    return Band(min(max(value, band.low), band.high), band.low, band.high)


def _scaled(band: Band, factor: float, more: float = 0.0) -> Band:
    return Band(*(factor * end + more for end in (band.value, band.low, band.high)))


def _require_part(name: str, value: object) -> None:
    require_number(name, value)
    if not 0 < float(value) <= 1:  # type: ignore[arg-type]
        raise PugnnError(f"{name} must lie between 0 and 1, got {value}")
