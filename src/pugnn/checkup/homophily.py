r"""Do positives keep together? Answered from the known positives alone, against chance.

Two things are looked at, each beside random nodes with as many links (:mod:`pugnn.checkup.chance`):

* **Links.** Two known positives that are linked count 1, and each neighbour m that they share counts one over its
  number of links: :math:`w_{ik} = A_{ik} + \sum_m A_{im} A_{mk} / d_m`. The sum over pairs divided by that of random
  nodes is the *lift*.
* **Neighbours.** With few known positives hardly two of them are near each other, but each has neighbours. Where
  positives keep together, the nodes around one known positive resemble the *other* known positives:
  :math:`w_{ik} = \tfrac12 (\langle z_i, u_k \rangle + \langle z_k, u_i \rangle)`, with the direction u of a node's
  features (:mod:`pugnn.checkup.resemblance`) and z the mean of u over what short random walks from the node meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.checkup.chance import SHUFFLES, Crowd, chance_of_more, draw_crowd, pair_sums
from pugnn.checkup.resemblance import Directions
from pugnn.graph import Graph

Verdict = Literal["together", "weak", "no sign", "apart", "too few"]

#: Chance explains what it gives more often than this.
LEVEL = 0.05

#: What the look at links and the one at neighbours may spend of that level. With few known positives hardly any two are
#: linked, and the neighbours see more.
SHARES = (0.2, 0.8)

#: A lift below this is weak: edges tell little, though more than nothing.
WEAK_LIFT = 1.35

#: Links are enough to see this lift where 95 % of the shuffles stay below it.
VISIBLE_LIFT = 1.5

#: Walks from each node, and their steps, for what lies around it.
WALKS, STEPS = 30, 3

#: Nodes whose surroundings are worked out at a time.
BLOCK = 256


@dataclass(frozen=True)
class Homophily:
    """Whether positives keep together, as far as the known ones tell.

    Args:
        verdict: in one or two words.
        links: links that join two known positives (of those looked at).
        lift: how many times as often known positives are linked or share neighbours as random nodes with as many
            links; ``None`` where those never are.
        visible_lift: lift that would have been noticed: 95 % of the shuffles have a lower one.
        p_links: how likely chance gives so many links and shared neighbours.
        p_apart: how likely chance gives so few.
        p_neighbours: how likely chance makes neighbours resemble other known positives so much; ``None`` without
            features.
        p_value: how likely chance gives so much in either of the two.
        known: known positives looked at.
        shuffles: number of shuffles.
    """

    verdict: Verdict
    links: int
    lift: float | None
    visible_lift: float | None
    p_links: float
    p_apart: float
    p_neighbours: float | None
    p_value: float
    known: int
    shuffles: int = SHUFFLES


def check_homophily(
    graph: Graph, labelled: NDArray[np.int64], directions: Directions | None, rng: np.random.Generator
) -> Homophily:
    """Compare the known positives with random nodes of the same degrees."""
    crowd = draw_crowd(graph.degrees, labelled, rng)
    links = pair_sums(crowd, link_weights(graph, crowd.nodes))
    p_links = p_value = chance_of_more(links)
    p_neighbours = None
    if directions is not None:
        neighbours = pair_sums(crowd, neighbour_weights(graph, crowd.nodes, directions, rng))
        p_neighbours = chance_of_more(neighbours)
        p_value = chance_of_more(links, neighbours, shares=SHARES)
    p_apart = chance_of_more(-links)
    expected = float(links[1:].mean())
    lift = float(links[0]) / expected if expected > 0 else None
    visible = float(np.quantile(links[1:], 1 - LEVEL)) / expected if expected > 0 else None
    return Homophily(
        verdict=_verdict(lift, visible, p_value, p_apart),
        links=_links_among(graph, crowd),
        lift=lift,
        visible_lift=visible,
        p_links=p_links,
        p_apart=p_apart,
        p_neighbours=p_neighbours,
        p_value=p_value,
        known=crowd.known,
    )


def _verdict(lift: float | None, visible: float | None, p_together: float, p_apart: float) -> Verdict:
    links_suffice = visible is not None and visible <= VISIBLE_LIFT
    if p_together <= LEVEL:
        # A lift from few links is mostly noise: it may call a sign weak only where links suffice.
        return "weak" if links_suffice and lift is not None and lift < WEAK_LIFT else "together"
    if not links_suffice:
        return "too few"
    return "apart" if p_apart <= LEVEL / 2 else "no sign"


def link_weights(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
    """Links and shared neighbours of all pairs of ``nodes``, shape ``(n, n)``; the diagonal has no meaning."""
    ones = np.ones(len(graph.indices), dtype=np.float32)
    size = (graph.num_nodes, graph.num_nodes)
    rows = sp.csr_array((ones, graph.indices, graph.indptr), shape=size)[nodes]
    shared = rows @ sp.diags_array(1 / np.maximum(graph.degrees, 1)) @ rows.T
    weights: NDArray[np.float32] = (rows[:, nodes] + shared).toarray().astype(np.float32)
    return weights


def neighbour_weights(
    graph: Graph, nodes: NDArray[np.int64], directions: Directions, rng: np.random.Generator
) -> NDArray[np.float32]:
    """How much the surroundings of one node resemble the other, for all pairs of ``nodes``, shape ``(n, n)``."""
    own = directions(nodes)
    around = np.concatenate(
        [surroundings(graph, nodes[i : i + BLOCK], directions, rng) for i in range(0, len(nodes), BLOCK)]
    )
    alike = around @ own.T
    weights: NDArray[np.float32] = ((alike + alike.T) / 2).astype(np.float32)
    return weights


def surroundings(
    graph: Graph, nodes: NDArray[np.int64], directions: Directions, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Mean direction of what short random walks from each node meet, itself apart; zero without neighbours."""
    start = np.repeat(nodes, WALKS)
    walks = [start]
    for _ in range(STEPS):
        walks.append(_step(graph, walks[-1], rng))
    met, row = np.concatenate(walks), np.tile(np.repeat(np.arange(len(nodes)), WALKS), 1 + STEPS)
    counts = met != np.tile(start, 1 + STEPS)
    seen, column = np.unique(met[counts], return_inverse=True)
    visits = sp.csr_array((np.ones(len(column), np.float32), (row[counts], column)), shape=(len(nodes), len(seen)))
    total = np.asarray(visits.sum(axis=1)).ravel()
    mean: NDArray[np.float32] = (visits @ directions(seen)) / np.maximum(total, 1)[:, None]
    return mean


def _step(graph: Graph, nodes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """One random neighbour of each node; a node without any stays where it is."""
    degree = graph.degrees[nodes]
    rank = (rng.random(len(nodes)) * degree).astype(np.int64)
    found = nodes.copy()
    found[degree > 0] = graph.indices[(graph.indptr[nodes] + rank)[degree > 0]]
    return found


def _links_among(graph: Graph, crowd: Crowd) -> int:
    known = crowd.nodes[: crowd.known]
    neighbours = np.concatenate([graph.neighbours(int(node)) for node in known])
    return int(np.isin(neighbours, known).sum()) // 2
