r"""Random sets of nodes that look like the known positives in nothing but their number of links.

Whether known positives keep together is a question about pairs: is :math:`\sum_{i \ne k \in L} w_{ik}` larger than it
would be for random nodes? Hubs are close to everyone, so random nodes must have as many links as the known ones: nodes
are put into strata of nearly equal degree, and known positives change places with nodes of their own stratum only.

A few other nodes of each stratum, the *controls*, are drawn once, and labels are shuffled among these and the known
ones. All pair weights then fit into one small matrix, whatever the size of the graph, and the test is exact: if the
known positives are random nodes of their strata, every shuffle is as likely as what was seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

#: Degrees in one stratum differ by no more than this factor.
STRATUM_RATIO = 1.1

#: Known positives that are looked at; of more, so many are drawn.
MOST_KNOWN = 200

#: Controls for each known positive.
CONTROLS = 9

#: Shuffles of the labels.
SHUFFLES = 999


@dataclass(frozen=True, eq=False)
class Crowd:
    """Known positives and controls, with shuffled labels.

    Args:
        nodes: positions of the known positives that are looked at, then of the controls, shape ``(n,)``.
        known: how many of them are known positives.
        labels: 1 where a node is taken as known, shape ``(1 + shuffles, n)``; the first row is the truth.
    """

    nodes: NDArray[np.int64]
    known: int
    labels: NDArray[np.float32]


def degree_strata(degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """The stratum of each node: 0 without links, then one for each step of :data:`STRATUM_RATIO`.

    Example:
        >>> degree_strata(np.array([0, 1, 2, 10, 11, 100])).tolist()
        [0, 1, 8, 25, 26, 49]
    """
    steps = np.log(np.maximum(degrees, 1)) / np.log(STRATUM_RATIO)
    return np.where(degrees > 0, 1 + np.floor(steps + 1e-9), 0).astype(np.int64)


def draw_crowd(degrees: NDArray[np.int64], labelled: NDArray[np.int64], rng: np.random.Generator) -> Crowd:
    """Draw controls stratum by stratum and shuffle the labels within each.

    Args:
        degrees: of all nodes, shape ``(N,)``.
        labelled: positions of the known positives.
        rng: decides all draws.
    """
    known = np.sort(rng.choice(labelled, min(len(labelled), MOST_KNOWN), replace=False))
    strata = degree_strata(degrees)
    free = np.ones(len(degrees), dtype=np.bool_)
    free[labelled] = False
    groups: list[NDArray[np.int64]] = []
    labels: list[NDArray[np.float32]] = []
    for stratum in np.unique(strata[known]):
        members = known[strata[known] == stratum]
        others = np.flatnonzero((strata == stratum) & free)
        controls = rng.choice(others, min(len(others), CONTROLS * len(members)), replace=False)
        groups.append(np.concatenate([members, controls]))
        chosen = np.zeros((1 + SHUFFLES, len(groups[-1])), dtype=np.float32)
        order = rng.random(chosen.shape).argsort(axis=1)
        order[0] = np.arange(len(groups[-1]))  # the members come first: the truth
        np.put_along_axis(chosen, order[:, : len(members)], 1, axis=1)
        labels.append(chosen)
    nodes, shuffled = np.concatenate(groups), np.concatenate(labels, axis=1)
    first = np.argsort(-shuffled[0], kind="stable")
    return Crowd(nodes[first], len(known), np.ascontiguousarray(shuffled[:, first]))


def pair_sums(crowd: Crowd, weights: NDArray[np.float32]) -> NDArray[np.float64]:
    """Sum of the weights over ordered pairs of known positives, and of those of every shuffle.

    Args:
        crowd: known positives and controls.
        weights: symmetric weights of all pairs, shape ``(n, n)``; a node's pair with itself does not count.

    Returns:
        Sums, shape ``(1 + shuffles,)``; the first one is that of the truth.
    """
    pairs = weights.copy()
    np.fill_diagonal(pairs, 0)
    sums: NDArray[np.float64] = np.einsum("sn,sn->s", crowd.labels @ pairs, crowd.labels, dtype=np.float64)
    # The same sum in another order differs in its last digits, and ties must stay ties.
    grain = 1e-5 * max(float(np.abs(sums).max()), 1e-30)
    return np.round(sums / grain) * grain


def chance_of_more(*looks: NDArray[np.float64], shares: tuple[float, ...] = (1.0,)) -> float:
    r"""How likely chance gives as large a sum as was seen, in at least one of several looks at the same shuffles.

    With one look that is :math:`(1 + \#\{\text{shuffles} \ge \text{truth}\}) / (1 + \text{shuffles})`. With several,
    each row of sums counts by its most surprising look, so that looking twice is paid for, exactly.

    Args:
        looks: sums as :func:`pair_sums` gives them.
        shares: how much of the price each look may spend, in all 1; a look with more is the more trusted.

    Example:
        >>> chance_of_more(np.array([3.0, 1.0, 2.0, 3.0]))
        0.5
        >>> chance_of_more(np.array([3.0, 1.0, 2.0, 0.0]), np.array([1.0, 2.0, 3.0, 4.0]), shares=(0.5, 0.5))
        0.5
    """
    ranks = [rankdata(-look, method="max") / share for look, share in zip(looks, shares, strict=True)]
    surprise = np.min(ranks, axis=0)
    return float((surprise <= surprise[0]).mean())
