r"""Do the known positives look like a random sample of all positives?

Methods for positive and unlabelled nodes assume that they do. Unknown positives cannot be examined, and positives may
differ from other nodes by nature; so each check has a margin for how far a class may differ by nature.

* **Degree.** Where positives cluster, the neighbours of known positives are mostly positive, and neighbours weighted by
  one over their number of links represent the positives at large: node j has the weight :math:`\sum_{i \in L} A_{ij} /
  d_j`, whose mean over random samples is proportional to the share of positives among its neighbours. Elsewhere the
  only comparison is with all nodes, and only a difference larger than usual between classes counts.
* **Component.** The connected component with most known positives, compared with its share of all nodes.
* **Links and features.** If the known positives are a random share c of all positives, then a share c of the positives
  around a known positive are known, and so at most c of all nodes there. A known share s among the neighbours of the
  known, or among the nodes that resemble them most, therefore means at most :math:`n_L / s` positives in all. Where
  that is hardly more than are known, either nearly all positives are known already, or the known ones were picked from
  one corner, or by following links.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import bdtrc

from pugnn.checkup.resemblance import Directions
from pugnn.graph import Graph
from pugnn.task import PUTask

#: With fewer known positives, nothing can be said about how they were picked.
MIN_KNOWN = 10

#: Known positives that are compared one by one with others.
MAX_KNOWN = 500

#: Levels of the tests. Well-linked nodes become known more easily, so that side is tested more sensitively.
LEVEL_MANY, LEVEL_FEW, LEVEL_COMPONENT = 0.05, 0.01, 0.01

#: How far the chance of having more links may be from one half by nature: against likely positives, and against all.
#: Over nine data sets the largest differences are 0.02 and 0.10.
MARGIN_LIKELY, MARGIN_ALL = 0.03, 0.1

#: Odds of lying in one component, relative to those of any node, that a class may have by nature.
MARGIN_ODDS = 3.0

#: Known positives are a close group if, as a random sample, they would imply fewer positives in all than this multiple
#: of the known ones.
CLOSE = 4.0

#: The similarity to the third most similar known positive bounds the surroundings of a known positive.
NEAREST = 3

#: Unlabelled nodes that known positives are compared with by features.
OTHERS = 50_000

#: Unlabelled nodes that are compared at a time.
BLOCK = 4096

#: With fewer links between known positives, nothing follows from them.
MIN_LINKS = 5


@dataclass(frozen=True)
class DegreeCheck:
    """Number of links of the known positives compared with others."""

    compared_with: Literal["likely positives", "all nodes"]
    more_links: float  # chance that a known positive has more links than one of them, ties counting half
    margin: float  # how far that may be from one half by nature
    p_value: float  # probability that a random sample of such a class is as far from one half
    bias: Literal["many", "few"] | None  # whether known positives have too many or too few links


@dataclass(frozen=True)
class ComponentCheck:
    """The connected component with most known positives: its share of these, and of all nodes."""

    known_share: float
    node_share: float
    p_value: float
    concentrated: bool


@dataclass(frozen=True)
class ClosenessCheck:
    """How close known positives are to each other, by links or by features."""

    known_share: float  # of the nodes next to a known positive
    implied_positives: float  # upper bound on all positives if the known ones are a random sample
    close: bool  # whether that is hardly more than are known


@dataclass(frozen=True)
class Sampling:
    """Evidence for and against a random sample; a check that cannot be made is ``None``.

    Args:
        verdict: ``"close"`` where known positives are a close group: no random sample, or nearly all of the positives.
        degree: check of the number of links.
        component: of the components of the graph.
        links: of known positives that are each other's neighbours.
        features: of known positives that are all alike.
    """

    verdict: Literal["random", "not random", "close", "too few"]
    degree: DegreeCheck | None
    component: ComponentCheck | None
    links: ClosenessCheck | None
    features: ClosenessCheck | None


def check_sampling(
    task: PUTask, directions: Directions | None, rng: np.random.Generator, *, together: bool
) -> Sampling:
    """Look for signs that the known positives are not a random sample of the positives.

    Where they cluster (``together``), neighbours of known positives are likely positives. ``rng`` draws the nodes to
    examine if there are very many.
    """
    if len(task.labelled) < MIN_KNOWN:
        return Sampling("too few", None, None, None, None)
    known = np.sort(rng.choice(task.labelled, min(len(task.labelled), MAX_KNOWN), replace=False))
    degree = _check_degree(task.graph, known, together=together)
    parts = _check_component(task.graph.components, task.labelled)
    links = check_links(task.graph, task.labelled)
    features = None if directions is None else check_features(task, known, directions, rng)
    verdict: Literal["random", "not random", "close"] = "random"
    if (degree and degree.bias) or (parts and parts.concentrated):
        verdict = "not random"
    elif (links and links.close) or (features and features.close):
        verdict = "close"
    return Sampling(verdict, degree, parts, links, features)


def _check_degree(graph: Graph, known: NDArray[np.int64], *, together: bool) -> DegreeCheck | None:
    if together:
        linked = known[graph.degrees[known] > 0]  # isolated nodes are nobody's neighbours
        if len(linked) < MIN_KNOWN:
            return None
        chance, error = more_links_than_neighbours(graph, linked)
    else:
        degrees, own = np.sort(graph.degrees), graph.degrees[known]
        # Share of all nodes with fewer links, plus half of those with as many.
        below = (np.searchsorted(degrees, own) + np.searchsorted(degrees, own, side="right")) / (2 * len(degrees))
        chance, error = float(below.mean()), float(below.std(ddof=1)) / sqrt(len(own))
    margin = MARGIN_LIKELY if together else MARGIN_ALL
    # One-sided; where all degrees are equal, chance explains everything.
    p_value = erfc((abs(chance - 0.5) - margin) / error / sqrt(2)) / 2 if error > 0 else 1.0
    bias: Literal["many", "few"] | None = None
    if p_value <= (LEVEL_MANY if chance > 0.5 else LEVEL_FEW):
        bias = "many" if chance > 0.5 else "few"
    return DegreeCheck("likely positives" if together else "all nodes", chance, margin, p_value, bias)


def more_links_than_neighbours(graph: Graph, known: NDArray[np.int64]) -> tuple[float, float]:
    r"""Chance that a known positive has more links than the neighbours of the others, and its standard error.

    .. math:: \frac{\sum_{i \ne k} \sum_{j \in N(k)} [d_i > d_j] / d_j}{\sum_{i \ne k} \sum_{j \in N(k)} 1 / d_j}

    with ties counting half; i and k run over the known positives, all of which have links. The error is that of the
    jackknife.
    """
    values, code = np.unique(graph.degrees, return_inverse=True)
    count = len(known)
    neighbours = np.concatenate([graph.neighbours(int(node)) for node in known])
    owner = np.repeat(np.arange(count), graph.degrees[known])
    weight = 1 / graph.degrees[neighbours]
    # One row per known positive: the weight of its neighbours by their degree, then of those below each degree.
    table = sp.csr_array((weight, (owner, code[neighbours])), shape=(count, len(values))).toarray()
    below = np.cumsum(table, axis=1) - table / 2
    wins = below[:, code[known]].T  # entry (i, k)
    total = np.broadcast_to(table.sum(axis=1), wins.shape).copy()
    np.fill_diagonal(wins, 0)
    np.fill_diagonal(total, 0)
    chance = wins.sum() / total.sum()
    without = (wins.sum() - wins.sum(axis=0) - wins.sum(axis=1)) / (total.sum() - total.sum(axis=0) - total.sum(axis=1))
    error = sqrt((count - 1) / count * float(((without - without.mean()) ** 2).sum()))
    return float(chance), error


def _check_component(component: NDArray[np.int32], labelled: NDArray[np.int64]) -> ComponentCheck | None:
    sizes = np.bincount(component)
    if len(sizes) < 2:
        return None
    held = np.bincount(component[labelled], minlength=len(sizes))
    most = int(held.argmax())
    # Any component might have been the fullest one, so the chances of all of them add up.
    different, parts = np.unique(sizes, return_counts=True)
    odds = MARGIN_ODDS * different / (sizes.sum() - different)
    by_nature = odds / (1 + odds)
    p_value = min(float(parts @ bdtrc(held[most] - 1, len(labelled), by_nature)), 1.0)
    share = sizes[most] / sizes.sum()
    return ComponentCheck(float(held[most] / len(labelled)), float(share), p_value, p_value <= LEVEL_COMPONENT)


def check_links(graph: Graph, labelled: NDArray[np.int64]) -> ClosenessCheck | None:
    """Share of known ones among the neighbours of known positives."""
    known = np.zeros(graph.num_nodes, dtype=np.bool_)
    known[labelled] = True
    to_known = sum(int(known[graph.neighbours(node)].sum()) for node in labelled.tolist())
    if to_known < 2 * MIN_LINKS:
        return None
    return _closeness(to_known / int(graph.degrees[labelled].sum()), len(labelled))


def check_features(
    task: PUTask, known: NDArray[np.int64], directions: Directions, rng: np.random.Generator
) -> ClosenessCheck:
    """Share of known nodes among those at least as similar to a known positive as its third most similar one."""
    others = task.unlabelled
    if len(others) > OTHERS:
        others = np.sort(rng.choice(others, OTHERS, replace=False))
    own = directions(known)
    alike = own @ own.T
    np.fill_diagonal(alike, -np.inf)
    # Ties count: with equal features there may be many nodes of both sorts.
    reach = np.sort(alike, axis=1)[:, [-NEAREST]] - 1e-5
    near_known = (alike >= reach).sum(axis=1) * len(task.labelled) / len(known)
    near_others = np.zeros(len(known))
    for start in range(0, len(others), BLOCK):
        near_others += (directions.alike(own, others[start : start + BLOCK]) >= reach).sum(axis=1)
    near_others *= len(task.unlabelled) / max(len(others), 1)
    return _closeness(float(np.median(near_known / (near_known + near_others))), len(task.labelled))


def _closeness(known_share: float, labelled: int) -> ClosenessCheck:
    return ClosenessCheck(known_share, labelled / known_share, known_share * CLOSE > 1)
