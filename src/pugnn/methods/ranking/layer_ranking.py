"""Layers of a graph with several relations: the views of each, and how much hidden positives say that it counts.

A layer is a plain graph (:mod:`pugnn.graph.layers`), of all relations together or of one relation. It has two kinds of
views side by side: those of the attributes of nodes, times 0.45, and those of their place in the layer
(:class:`pugnn.features.structure.Structure`), which is all there is for nodes without attributes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pugnn.evidence.hidden_positives import FoldedTask, evidence_for
from pugnn.graph import Graph
from pugnn.graph.layers import ALL, has_attributes, layers_of, structural
from pugnn.methods.ranking.plain import rank_views
from pugnn.task import PUTask
from pugnn.views import Attributes, JoinedViewMatrix, views_of

#: The weight of attributes beside the place in a layer.
ATTRIBUTES_WEIGHT = 0.45
#: How fast the weight of a layer falls with the evidence against it.
FALL = 2.0
#: With more entries of the adjacency, places in a layer take too long to compute, unless there is nothing else.
MAX_ENTRIES = 5_000_000


def layer_views(layer: Graph, *, attributes: bool) -> JoinedViewMatrix:
    """The views of a layer: of the place of nodes in it, and of their attributes if there are any."""
    parts = [(views_of(layer, Attributes.of(layer)), ATTRIBUTES_WEIGHT)] if attributes else []
    if not parts or len(layer.indices) <= MAX_ENTRIES:
        bare = structural(layer)
        parts.append((views_of(bare, Attributes.of(bare)), 1.0))
    return JoinedViewMatrix(parts)


def on_layer(folded: FoldedTask, layer: Graph) -> FoldedTask:
    """The same task on a layer, whose first nodes are those of the graph."""
    return FoldedTask(replace(folded.task, graph=layer), folded.folds)


def layer_weights(ranks: dict[str, NDArray[np.float64]], floor: float) -> dict[str, float]:
    """The weight of each layer, 1 for the best, from the ranks of hidden positives in each.

    ``floor`` is that of :func:`pugnn.evidence.hidden_positives.evidence_for`.
    """
    best = min(ranks, key=lambda name: float(np.log(ranks[name] + floor).mean()) if len(ranks[name]) else 0.0)
    evidence = {name: evidence_for(ranks[best], over=of_layer, floor=floor) for name, of_layer in ranks.items()}
    return {name: float(np.exp(-FALL * max(0.0, against))) for name, against in evidence.items()}


def plain_layer_weights(folded: FoldedTask) -> dict[str, float]:
    """The weight of each layer by its plain ranking."""
    graph = folded.task.graph
    attributes = has_attributes(graph)
    ranks = {
        name: rank_views(layer_views(layer, attributes=attributes), on_layer(folded, layer)).hidden.ranks
        for name, layer in layers_of(graph).items()
    }
    return layer_weights(ranks, folded.labelled_share)


def relation_weights(task: PUTask, seed: int) -> dict[str, float]:
    """The weight of each relation for methods that read a single kind of edge; the largest is 1.

    It is the weight of its own layer plus that of all relations. Both directions of a relation count the same, so that
    the weighted sum of relations is symmetric.
    """
    of_layers = plain_layer_weights(FoldedTask.of(task, seed))
    weights = {}
    for name, relation in task.graph.relations.items():
        both = of_layers.get(name, 0.0) + of_layers.get(relation.reverse or name, 0.0)
        weights[name] = of_layers[ALL] + both / 2
    return {name: weight / max(weights.values()) for name, weight in weights.items()}
