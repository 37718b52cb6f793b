r"""Where to draw the nodes of an audit: stretches of a ranking, and how many nodes to check in each.

The ranking is cut at 10, 30, 100, 300, … and where decisions end. A check is worth most where a node is as likely
positive as not and stands for many others: with :math:`N_h` nodes in stretch h and precision :math:`p_h` there, the
variance of an estimated number of positives is least (Neyman) for

.. math:: n_h \propto N_h \sqrt{p_h (1 - p_h)}, \qquad p_h = K \theta_h / N_h

:math:`\theta_h` is the share of hidden positives that rank in the stretch. How many positives K there are is unknown,
so that the root is a mean over several K. Stretches that would get fewer than three checks are merged with a
neighbour.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pugnn.evidence.rank_model import Values

#: What an audit is to measure: the precision at the top of the list, the number of positives, or half of each.
About = Literal["precision", "count", "both"]
ABOUT: tuple[About, ...] = get_args(About)

Places = NDArray[np.int64]

#: Precision is measured among the first so many, or among those decided positive if these are more.
FIRST = 100
#: Checks that a stretch should get at least.
MIN_CHECKS = 3.0
#: A cut is left out where a more important one is this near, as a ratio.
NEAR = 1.4
#: Numbers of positives that are considered, as parts of the expected one.
POSSIBLE_COUNTS = (1.0, 0.25, 0.06)
#: What a hidden positive counts against the half that every stretch has, in anticipating precisions.
HIDDEN_COUNTS, EVERY_STRETCH = 0.5, 0.5
#: No precision is anticipated to be higher.
MAX_PRECISION = 0.98


def hidden_counts(ranks: Values, edges: Places) -> Values:
    """How many hidden positives rank in each stretch; ``ranks`` are shares of the ranking above each."""
    places = np.minimum(np.floor(ranks * edges[-1]), edges[-1] - 1)
    return np.histogram(places + 0.5, edges)[0].astype(np.float64)


def plan_stretches(
    size: int, checks: int, *, decided: int, ranks: Values, expected: float, about: About
) -> tuple[Places, Places]:
    """Edges of the stretches, from 0 to ``size``, shape ``(H + 1,)``, and how many nodes to draw in each, ``(H,)``.

    Args:
        size: length of the ranking.
        checks: how many nodes to draw, at most ``size``.
        decided: how many nodes, from the top, are decided positive.
        ranks: of hidden positives, as shares of the ranking.
        expected: number of positives.
        about: what is to be measured.
    """
    edges = _cuts(size, decided)
    sizes = np.diff(edges)
    shape = HIDDEN_COUNTS * hidden_counts(ranks, edges) + EVERY_STRETCH
    spread = np.zeros(len(sizes))
    for part in POSSIBLE_COUNTS:
        precision = np.minimum(part * expected * shape / shape.sum() / sizes, MAX_PRECISION)
        spread += np.sqrt(precision * (1 - precision))
    worth = sizes * spread
    last = min(max(FIRST, decided), size) if about == "precision" else FIRST
    top = np.where(edges[1:] <= max(last, edges[1]), worth, 0.0)
    part = {"precision": 1.0, "both": 0.5, "count": 0.0}[about]
    wanted = checks * (part * top / top.sum() + (1 - part) * worth / worth.sum())
    reached = int(np.flatnonzero(wanted)[-1]) + 1  # precision asks for nothing further down
    edges, wanted = _merge(edges[: reached + 1], wanted[:reached])
    if edges[-1] < size:
        edges, wanted = np.append(edges, size), np.append(wanted, 0.0)
    return edges, share_out(wanted, np.diff(edges), checks)


def share_out(wanted: Values, sizes: Places, checks: int) -> Places:
    """Whole numbers near the wanted ones that add up to ``checks``, or to all nodes, none above its size."""
    found = np.minimum(np.floor(wanted).astype(np.int64), sizes)
    for _ in range(min(checks, int(sizes.sum())) - int(found.sum())):
        found[np.argmax(np.where(found < sizes, wanted - found, -np.inf))] += 1
    return found


def _cuts(size: int, decided: int) -> Places:
    cuts = [cut * 10**power for power in range(1, len(str(size)) + 1) for cut in (1, 3)]
    cuts = [cut for cut in cuts if cut < size / NEAR]
    for cut in (decided, FIRST):  # the latter is the more important one
        if 0 < cut < size:
            cuts = [each for each in cuts if max(each, cut) > NEAR * min(each, cut)] + [cut]
    return np.array([0, *sorted(cuts), size], np.int64)


def _merge(edges: Places, wanted: Values) -> tuple[Places, Values]:
    """Fewer stretches, each with at least three checks, as far as there are so many."""
    kept, checks = edges.tolist(), wanted.tolist()
    while len(checks) > 1 and min(checks) < MIN_CHECKS:
        at = checks.index(min(checks))
        before = at > 0 and (at == len(checks) - 1 or checks[at - 1] <= checks[at + 1])
        first = at - 1 if before else at
        checks[first : first + 2] = [checks[first] + checks[first + 1]]
        del kept[first + 1]
    return np.array(kept, np.int64), np.array(checks)
