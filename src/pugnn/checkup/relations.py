r"""Whether each relation of a graph says something about positives, judging by the known ones.

Random walks from known positives and from random nodes with as many links, along one relation and those that lead to
it, visit other nodes: items, devices, venues, neighbours. With :math:`v_{iu}` the share of the walks of node i that
visit u, two nodes meet to the degree :math:`\sum_u v_{iu} v_{ju} / \sqrt{d_u}`. Known positives that meet more often
than random nodes do, by shuffled labels (:mod:`pugnn.checkup.chance`), agree beyond chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.checkup.chance import chance_of_more, draw_crowd, pair_sums
from pugnn.checkup.homophily import LEVEL, random_step
from pugnn.graph import Graph
from pugnn.graph.layers import ALL, layers_of
from pugnn.task import PUTask

#: Random walks from each node, and their steps: enough to share the venue of a paper of an author.
WALKS, STEPS = 30, 4


@dataclass(frozen=True)
class RelationCheck:
    """What one relation says.

    Args:
        name: of the relation.
        edges: how many edges it has.
        reached: target nodes that it has edges of, or that a path leads from to it.
        known: known positives among them.
        lift: how many times as often known positives meet along it as random nodes do; ``None`` where those never do.
        p_value: probability of so much by chance.
    """

    name: str
    edges: int
    reached: int
    known: int
    lift: float | None
    p_value: float

    @property
    def agrees(self) -> bool:
        """Whether known positives agree along it beyond chance."""
        return self.p_value <= LEVEL


def check_relations(task: PUTask, rng: np.random.Generator) -> tuple[RelationCheck, ...]:
    """Every relation of a graph with several."""
    graph, layers = task.graph, layers_of(task.graph)
    return tuple(
        _check(task, name, relation.num_edges, layers.get(name, layers[ALL]), rng)
        for name, relation in graph.relations.items()
    )


def _check(task: PUTask, name: str, edges: int, layer: Graph, rng: np.random.Generator) -> RelationCheck:
    degrees = layer.degrees[: task.graph.num_targets]
    known = task.labelled[degrees[task.labelled] > 0]
    reached, lift, p_value = int((degrees > 0).sum()), None, 1.0
    if len(known) > 1:
        crowd = draw_crowd(degrees, known, rng)
        sums = pair_sums(crowd, _meetings(layer, crowd.nodes, rng))
        expected = float(sums[1:].mean())
        p_value, lift = chance_of_more(sums), float(sums[0]) / expected if expected > 0 else None
    return RelationCheck(name, edges, reached, len(known), lift, p_value)


def _meetings(graph: Graph, nodes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float32]:
    """To which degree all pairs of nodes meet, shape ``(n, n)``."""
    walks, rows = np.repeat(nodes, WALKS), np.repeat(np.arange(len(nodes)), WALKS)
    visits = sp.csr_array((len(nodes), graph.num_nodes), dtype=np.float32)
    for _ in range(STEPS):
        walks = random_step(graph, walks, rng)
        shares = np.full(len(walks), 1 / (WALKS * STEPS), np.float32)
        visits += sp.csr_array((shares, (rows, walks)), shape=visits.shape)
    weights: NDArray[np.float32] = (
        visits @ sp.diags_array(1 / np.sqrt(np.maximum(graph.degrees, 1))) @ visits.T
    ).toarray()
    return weights.astype(np.float32)
