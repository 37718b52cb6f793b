"""Layers of a graph with several relations, ranked one by one, and how much hidden positives say that each counts.

A layer is a plain graph (:mod:`pugnn.graph.layers`): that of all relations together, or that of one relation. On each,
two kinds of views stand side by side: those of the attributes, times 0.45, and where in the layer a node is
(:class:`pugnn.features.structure.Structure`), which is all there is for nodes without attributes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pugnn.evidence.hidden_positives import FoldedTask, advantage
from pugnn.graph import Graph
from pugnn.graph.layers import ALL, has_attributes, layers_of, structural
from pugnn.methods.ranking.logistic import Ranking, rank
from pugnn.task import PUTask
from pugnn.views import Attributes, JoinedViewMatrix, views_of

#: The weight of attributes beside the structure of a layer. It is the number that ``VIEWS`` has for the
#: views beside the smoothed one, and multiplies those weights once more; either may change without the other.
ATTRIBUTES = 0.45
#: How fast the weight of a layer falls with the evidence against it.
FALL = 2.0
#: With more entries of the adjacency than this, the structure of a layer takes too long, unless there is nothing else.
MAX_ENTRIES = 5_000_000


def layer_views(layer: Graph, *, attributes: bool) -> JoinedViewMatrix:
    """The views of a layer: of its structure, and of attributes if there are any."""
    parts = [(views_of(layer, Attributes.of(layer)), ATTRIBUTES)] if attributes else []
    if not parts or len(layer.indices) <= MAX_ENTRIES:
        bare = structural(layer)
        parts.append((views_of(bare, Attributes.of(bare)), 1.0))
    return JoinedViewMatrix(parts)


def on_layer(known: FoldedTask, layer: Graph) -> FoldedTask:
    """The same known nodes in a layer, whose first nodes are those of the graph."""
    return FoldedTask(replace(known.task, graph=layer), known.folds)


def layer_shares(ranks: dict[str, NDArray[np.float64]], prior: float) -> dict[str, float]:
    """The weight of each layer, 1 for the best, from the ranks of hidden positives in each."""
    best = min(ranks, key=lambda name: float(np.log(ranks[name] + prior).mean()) if len(ranks[name]) else 0.0)
    return {name: float(np.exp(-FALL * max(0.0, advantage(ranks[best], own, prior)))) for name, own in ranks.items()}


def rank_layers(known: FoldedTask) -> tuple[dict[str, Ranking], dict[str, float]]:
    """The ranking of every layer, without training, and the weights of layers."""
    graph = known.task.graph
    with_attributes = has_attributes(graph)
    rankings = {
        name: rank(layer_views(layer, attributes=with_attributes), on_layer(known, layer))
        for name, layer in layers_of(graph).items()
    }
    found = len(known.task.labelled) / len(known.task.unlabelled)
    return rankings, layer_shares({name: each.hidden.ranks for name, each in rankings.items()}, found)


def relation_weights(task: PUTask, seed: int) -> dict[str, float]:
    """How much each relation counts in a graph for methods that take one kind of edge; the most is 1.

    It is the weight of its layer and of that of all relations; both directions of one count the same, so that the sum
    is symmetric.
    """
    shares = rank_layers(FoldedTask.of(task, seed))[1]
    found = {
        name: shares[ALL] + (shares.get(name, 0.0) + shares.get(each.reverse or name, 0.0)) / 2
        for name, each in task.graph.relations.items()
    }
    return {name: value / max(found.values()) for name, value in found.items()}
