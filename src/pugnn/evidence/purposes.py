"""Lists for a purpose: how far down a ranking to go, by the probabilities of its nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pugnn.errors import PugnnError, require_number, require_whole
from pugnn.evidence.rank_model import Values


@dataclass(frozen=True)
class Choice:
    """A list for a purpose: how many nodes from the top, and what is expected of it.

    Args:
        purpose: in words.
        taken: number of nodes.
        found: positives expected among them.
        missed: positives expected among the others.
        precision: expected share of positives among them.
        recall: expected share of the positives that are among them.
        cost: of checking them and of what is missed, where costs were given.
    """

    purpose: str
    taken: int
    found: float
    missed: float
    precision: float
    recall: float
    cost: float | None = None


def choose_list(
    probabilities: Values,
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
        budget: the first so many nodes.
        precision: the longest list with this expected precision.
        recall: the shortest list with this expected recall.
        cost_miss: what a missed positive costs; with ``cost_check``, the cheapest list.
        cost_check: what it costs to check a node.
    """
    given = [budget, precision, recall, cost_miss if cost_check is None else cost_check]
    if sum(each is not None for each in given) != 1:
        raise PugnnError("give one purpose: a budget, a precision, a recall, or the costs of a miss and a check")
    found, size = np.concatenate([[0.0], np.cumsum(probabilities)]), len(probabilities)
    taken, total, cost = np.arange(size + 1), float(found[-1]), None
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
        cost = float(costs[count])
    right = float(found[count])
    return Choice(purpose, count, right, total - right, right / max(count, 1), right / max(total, 1e-9), cost)


def _require_part(name: str, value: object) -> None:
    require_number(name, value)
    if not 0 < float(value) <= 1:  # type: ignore[arg-type]
        raise PugnnError(f"{name} must lie between 0 and 1, got {value}")
