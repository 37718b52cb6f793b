r"""Do positives cluster? Answered from the known positives alone, against chance.

Chance means random nodes with as many links (:mod:`pugnn.checkup.chance`).

* **Links.** Two known positives that are linked count 1, and each neighbour m that they share counts one over its
  number of links: :math:`w_{ik} = A_{ik} + \sum_m A_{im} A_{mk} / d_m`. The sum over pairs divided by that of random
  nodes is the *lift*; it measures how strongly positives cluster, given enough links.
* **Neighbours.** Few known positives are hardly ever close to each other, but each has neighbours. Where positives
  cluster, the nodes around one known positive resemble the *other* known positives, :math:`r_i = \langle z_i,
  \operatorname{mean}_{k \in L \setminus i} u_k \rangle > 0`, and r ranks higher than around random nodes. Here u is the
  direction of a node's features (:mod:`pugnn.checkup.resemblance`) and z the mean of u over the nodes that short random
  walks visit. Both must hold: where walks from everywhere end at the same hubs, surroundings differ for other reasons.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.checkup.chance import Crowd, chance_of_more, draw_crowd, node_sums, pair_sums
from pugnn.checkup.resemblance import Directions
from pugnn.checkup.sizes import links_of
from pugnn.graph import Graph

Verdict = Literal["together", "weak", "no sign", "apart", "too few"]

#: Level of the tests.
LEVEL = 0.05

#: There are enough links where 95 % of the shuffles stay below this lift: such a lift would be noticed.
VISIBLE_LIFT = 1.5

#: How links and neighbours share the level; with few known positives the neighbours are more sensitive.
SHARE_OF_LINKS, SHARE_OF_NEIGHBOURS = 0.2, 0.8

#: Where positives clearly cluster, the lift is about this or more. A lift that is lower even with half of the shuffles'
#: spread added is weak, if the spread is small enough for the lift to be known at all.
CLEAR_LIFT, KNOWN_WITHIN = 1.5, 0.5

#: Random walks from each node, and their steps.
WALKS, STEPS = 30, 6

#: Nodes whose surroundings are computed at a time.
BLOCK = 256


@dataclass(frozen=True)
class Homophily:
    """Whether positives cluster, judging by the known ones.

    Args:
        verdict: in one or two words.
        evidence: what the verdict is based on.
        p_value: probability of that evidence by chance.
        links: links between two known positives (of those examined).
        lift: how many times as often known positives are linked or share neighbours as random nodes with as many
            links; ``None`` where those never are.
        spread: standard deviation of the lift over the shuffles.
        visible_lift: lift that would have been noticed: 95 % of the shuffles have a lower one.
        p_links: probability of so many links and shared neighbours by chance.
        p_apart: probability of so few.
        p_neighbours: probability that neighbours resemble other known positives that much; ``None`` without features.
        known: number of known positives examined.
    """

    verdict: Verdict
    evidence: Literal["links", "neighbours"]
    p_value: float
    links: int
    lift: float | None
    spread: float | None
    visible_lift: float | None
    p_links: float
    p_apart: float
    p_neighbours: float | None
    known: int


def check_homophily(
    graph: Graph, labelled: NDArray[np.int64], directions: Directions | None, rng: np.random.Generator
) -> Homophily:
    """Compare the known positives with random nodes of the same degrees."""
    crowd = draw_crowd(graph.degrees[: graph.num_targets], labelled, rng)
    known = crowd.nodes[: crowd.known]
    sums = pair_sums(crowd, link_weights(graph, crowd.nodes))
    p_links, p_apart = chance_of_more(sums), chance_of_more(-sums)
    lift = spread = visible = None
    expected = float(sums[1:].mean())
    if expected > 0:
        lift, spread = float(sums[0]) / expected, float(sums[1:].std()) / expected
        visible = float(np.quantile(sums[1:], 1 - LEVEL)) / expected
    evidence: Literal["links", "neighbours"] = "links"
    p_value, p_neighbours = p_links, None
    if directions is not None:
        p_neighbours = _chance_of_resemblance(crowd, resemblance_around(graph, crowd, directions, rng))
        by_links, by_neighbours = p_links / SHARE_OF_LINKS, p_neighbours / SHARE_OF_NEIGHBOURS
        evidence = "links" if by_links < by_neighbours else "neighbours"
        p_value = min(by_links, by_neighbours, 1.0)
    return Homophily(
        verdict=_verdict(lift, spread, visible, p_value, p_apart),
        evidence=evidence,
        p_value=p_value,
        links=int(links_of(graph, known)[:, known].sum()) // 2,
        lift=lift,
        spread=spread,
        visible_lift=visible,
        p_links=p_links,
        p_apart=p_apart,
        p_neighbours=p_neighbours,
        known=crowd.known,
    )


def _verdict(
    lift: float | None, spread: float | None, visible: float | None, p_together: float, p_apart: float
) -> Verdict:
    if p_together <= LEVEL:
        if lift is None or spread is None or spread > KNOWN_WITHIN:
            return "together"  # by the neighbours: there are too few links to say how much
        return "weak" if lift + spread / 2 < CLEAR_LIFT else "together"
    # Where nearly all shuffles are alike (no links at all, or the only possible ones) nothing could be seen.
    if visible is None or not 1 < visible <= VISIBLE_LIFT:
        return "too few"
    return "apart" if p_apart <= LEVEL / 2 else "no sign"


def _ranks(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Ranks from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2).astype(np.float32)[place]


def _chance_of_resemblance(crowd: Crowd, alike: NDArray[np.float32]) -> float:
    """Probability by chance that surroundings resemble known positives, and more so than those of random nodes."""
    own = alike[: crowd.known].astype(np.float64)
    error = float(own.std(ddof=1)) / sqrt(len(own)) if len(own) > 1 else 0.0
    above_zero = erfc(float(own.mean()) / error / sqrt(2)) / 2 if error > 0 else 1.0
    return max(above_zero, chance_of_more(node_sums(crowd, _ranks(alike))))


def link_weights(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
    """Links and shared neighbours of all pairs of ``nodes``, shape ``(n, n)``; the diagonal has no meaning."""
    rows = links_of(graph, nodes)
    shared = rows @ sp.diags_array(1 / np.maximum(graph.degrees, 1)) @ rows.T
    weights: NDArray[np.float32] = (rows[:, nodes] + shared).toarray().astype(np.float32)
    return weights


def resemblance_around(
    graph: Graph, crowd: Crowd, directions: Directions, rng: np.random.Generator
) -> NDArray[np.float32]:
    """How much the surroundings of each node of the crowd resemble the other known positives."""
    around = np.concatenate(
        [surroundings(graph, crowd.nodes[i : i + BLOCK], directions, rng) for i in range(0, len(crowd.nodes), BLOCK)]
    )
    own = directions(crowd.nodes[: crowd.known])
    others = np.tile(own.mean(axis=0), (len(around), 1))
    if crowd.known > 1:
        others[: crowd.known] = (own.sum(axis=0) - own) / (crowd.known - 1)
    alike: NDArray[np.float32] = np.einsum("nf,nf->n", around, others)
    return alike


def surroundings(
    graph: Graph, nodes: NDArray[np.int64], directions: Directions, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Mean direction of the nodes that random walks visit, without the node itself; zero without neighbours."""
    start = np.repeat(nodes, WALKS)
    walks = [start]
    for _ in range(STEPS):
        walks.append(random_step(graph, walks[-1], rng))
    met, row = np.concatenate(walks), np.tile(np.repeat(np.arange(len(nodes)), WALKS), 1 + STEPS)
    counts = met != np.tile(start, 1 + STEPS)
    seen, column = np.unique(met[counts], return_inverse=True)
    visits = sp.csr_array((np.ones(len(column), np.float32), (row[counts], column)), shape=(len(nodes), len(seen)))
    total = np.asarray(visits.sum(axis=1)).ravel()
    return directions.mixed(sp.csr_array(sp.diags_array(1 / np.maximum(total, 1)) @ visits), seen)


def random_step(graph: Graph, nodes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """One random neighbour of each node, or the node itself where it has none."""
    degree = graph.degrees[nodes]
    rank = (rng.random(len(nodes)) * degree).astype(np.int64)
    found = nodes.copy()
    found[degree > 0] = graph.indices[(graph.indptr[nodes] + rank)[degree > 0]]
    return found
