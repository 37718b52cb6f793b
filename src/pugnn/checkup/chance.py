"""Random sets of nodes that resemble the known positives only in their number of links.

Are known positives closer to each other, or more like their neighbours, than random nodes? Hubs are close to everyone,
so random nodes must have as many links as the known ones: nodes are grouped into strata of nearly equal degree, and
known positives are exchanged only for nodes of their own stratum.

A few other nodes of each stratum, the *controls*, are drawn once, and labels are shuffled among these and the known
ones. All pair weights then fit into one small matrix, whatever the size of the graph, and the test is exact: if the
known positives are random nodes of their strata, every shuffle is as likely as the observed labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Degrees in one stratum differ by no more than this factor.
STRATUM_RATIO = 1.1

#: Known positives that are examined; a random part of more.
MAX_KNOWN = 200

#: Controls for each known positive.
CONTROLS = 9

#: Shuffles of the labels.
SHUFFLES = 999


@dataclass(frozen=True, eq=False)
class Crowd:
    """Known positives and controls, with shuffled labels."""

    nodes: NDArray[np.int64]  # positions of the known positives, then of the controls, shape ``(n,)``
    known: int  # how many of them are known positives
    labels: NDArray[np.float32]  # 1 where a node counts as known, shape ``(1 + shuffles, n)``; the truth comes first


def degree_strata(degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """The stratum of each node: 0 without links, then one for each step of :data:`STRATUM_RATIO`."""
    steps = np.log(np.maximum(degrees, 1)) / np.log(STRATUM_RATIO)
    return np.where(degrees > 0, 1 + np.floor(steps + 1e-9), 0).astype(np.int64)


def draw_crowd(degrees: NDArray[np.int64], labelled: NDArray[np.int64], rng: np.random.Generator) -> Crowd:
    """Draw controls stratum by stratum and shuffle the labels within each; ``degrees`` are those of all nodes."""
    known = np.sort(rng.choice(labelled, min(len(labelled), MAX_KNOWN), replace=False))
    strata = degree_strata(degrees)
    unlabelled = np.ones(len(degrees), dtype=np.bool_)
    unlabelled[labelled] = False
    groups: list[NDArray[np.int64]] = []
    labels: list[NDArray[np.float32]] = []
    for stratum in np.unique(strata[known]):
        members = known[strata[known] == stratum]
        others = np.flatnonzero((strata == stratum) & unlabelled)
        controls = rng.choice(others, min(len(others), CONTROLS * len(members)), replace=False)
        groups.append(np.concatenate([members, controls]))
        chosen = np.zeros((1 + SHUFFLES, len(groups[-1])), dtype=np.float32)
        order = rng.random(chosen.shape).argsort(axis=1)
        order[0] = np.arange(len(groups[-1]))  # the members, which come first: the truth
        np.put_along_axis(chosen, order[:, : len(members)], 1, axis=1)
        labels.append(chosen)
    nodes, shuffled = np.concatenate(groups), np.concatenate(labels, axis=1)
    first = np.argsort(-shuffled[0], kind="stable")
    return Crowd(nodes[first], len(known), np.ascontiguousarray(shuffled[:, first]))


def pair_sums(crowd: Crowd, weights: NDArray[np.float32]) -> NDArray[np.float64]:
    """Sum of symmetric weights over ordered pairs of different known positives, for the truth and every shuffle."""
    pairs = weights.copy()
    np.fill_diagonal(pairs, 0)
    return _with_ties(np.einsum("sn,sn->s", crowd.labels @ pairs, crowd.labels, dtype=np.float64))


def node_sums(crowd: Crowd, values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Sum of one value per node over the known positives, for the truth and every shuffle."""
    return _with_ties((crowd.labels @ values).astype(np.float64))


def _with_ties(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round away the last digits, in which equal sums differ when they are added in another order."""
    grain = 1e-5 * max(float(np.abs(sums).max()), 1e-30)
    return np.round(sums / grain) * grain


def chance_of_more(sums: NDArray[np.float64]) -> float:
    """Probability by chance of a sum as large as the truth's: the share of such sums, itself included."""
    return float((sums >= sums[0]).mean())
