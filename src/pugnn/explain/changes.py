"""What would change a decision."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pugnn.explain.parts import largest

#: If more parts than this are needed, it is no single ones that decide.
MAX_PARTS = 100


def smallest_change(
    total: float,
    limit: float,
    contributions: NDArray[np.float64],
    total_without: Callable[[NDArray[np.int64]], float],
) -> tuple[NDArray[np.int64], float] | None:
    """The fewest parts without which a total is on the other side of a limit, largest first, and the total then.

    Parts are taken in the order of their contributions, and the total without them is computed anew. ``None`` if
    :data:`MAX_PARTS` are not enough.

    Args:
        total: of all parts.
        limit: from which the decision is positive.
        contributions: of the parts, shape ``(P,)``.
        total_without: the total, computed anew, without some of the parts.
    """
    sign = 1.0 if total >= limit else -1.0
    order = largest(sign * contributions, MAX_PARTS)
    order = order[sign * contributions[order] > 0]
    least, most, changed = 0, len(order), None
    count = most  # first all of them, then halve the interval: the least is too few, the most enough
    while count > least:
        now = total_without(order[:count])
        if (now >= limit) != (total >= limit):
            most, changed = count, now
        elif count == len(order):
            return None
        else:
            least = count
        count = (least + most) // 2
    return None if changed is None else (order[:most], changed)
