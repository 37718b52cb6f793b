r"""The default method on a graph with several relations: one model for each layer, weighed by hidden positives.

A layer is a plain graph (:mod:`pugnn.graph.layers`): that of all relations together, or that of one relation. On each,
two kinds of views stand side by side: those of the attributes, times 0.45, and where in the layer a node is
(:class:`pugnn.features.structure.Structure`), which is all there is for nodes without attributes. The method ranks by
them as on any graph, which gives scores :math:`s_g` of standard deviation 1. Their sum

.. math:: s = \sum_g e^{-2 z_g} s_g

weighs layers by how far they fall behind the best: :math:`z_g \ge 0` is the evidence that the best layer ranks hidden
positives higher than layer g does (:func:`pugnn.evidence.hidden_positives.advantage`). A relation that says nothing
counts next to nothing, and several that say the same count together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from pugnn.errors import percent
from pugnn.evidence.bands import HiddenRanks, no_signal
from pugnn.evidence.hidden_positives import KnownNodes, advantage
from pugnn.graph import Graph
from pugnn.graph.derived import forget_derived
from pugnn.graph.layers import ALL, has_attributes, layers_of, structural
from pugnn.memory import available_memory
from pugnn.methods.ranking.logistic import Ranking, rank
from pugnn.priors import prior_words, settle_prior
from pugnn.task import PUTask
from pugnn.training import RunOptions, TrainingSettings
from pugnn.views import SLOPE, Attributes, JointViews, LayeredViews, LayerPart, views_of
from pugnn.waiting import part

if TYPE_CHECKING:
    from pugnn.methods.base import FittedMethod
    from pugnn.methods.views import FittedViews, Views

#: The weight of attributes beside the structure of a layer.
ATTRIBUTES = 0.45
#: How fast the weight of a layer falls with the evidence against it.
FALL = 2.0
#: What was made of a layer is kept for its explanations if there is memory left for so many others.
LAYERS_KEPT = 4
#: With more entries of the adjacency than this, the structure of a layer takes too long, unless there is nothing else.
MAX_ENTRIES = 5_000_000


def layer_views(layer: Graph, *, attributes: bool) -> JointViews:
    """The views of a layer: of its structure, and of attributes if there are any."""
    parts = [(views_of(layer, Attributes.of(layer)), ATTRIBUTES)] if attributes else []
    if not parts or len(layer.indices) <= MAX_ENTRIES:
        bare = structural(layer)
        parts.append((views_of(bare, Attributes.of(bare)), 1.0))
    return JointViews(parts)


def on_layer(known: KnownNodes, layer: Graph) -> KnownNodes:
    """The same known nodes in a layer, whose first nodes are those of the graph."""
    return KnownNodes(replace(known.task, graph=layer), known.folds)


def layer_shares(ranks: dict[str, NDArray[np.float64]], prior: float) -> dict[str, float]:
    """The weight of each layer, 1 for the best, from the ranks of hidden positives in each."""
    best = min(ranks, key=lambda name: float(np.log(ranks[name] + prior).mean()) if len(ranks[name]) else 0.0)
    return {name: float(np.exp(-FALL * max(0.0, advantage(ranks[best], own, prior)))) for name, own in ranks.items()}


def rank_layers(known: KnownNodes) -> tuple[dict[str, Ranking], dict[str, float]]:
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
    shares = rank_layers(KnownNodes.of(task, seed))[1]
    found = {
        name: shares[ALL] + (shares.get(name, 0.0) + shares.get(each.reverse or name, 0.0)) / 2
        for name, each in task.graph.relations.items()
    }
    return {name: value / max(found.values()) for name, value in found.items()}


def _fit_layer(
    method: Views, name: str, layer: Graph, known: KnownNodes, settings: TrainingSettings, *, progress: bool
) -> tuple[FittedViews, list[LayerPart]]:
    """The default method on one layer, and the parts of its model."""
    views = layer_views(layer, attributes=has_attributes(known.task.graph))
    here, alone = on_layer(known, layer), RunOptions(progress=progress)  # no checkpoint: it is short
    found = method.fit_views(lambda: (views, rank(views, here)), here, settings, alone)
    directions = views.split(found.direction[:, :, None])
    parts = [
        LayerPart.of(name, own, Attributes.of(own.graph), direction[:, :, 0])
        for (own, _), direction in zip(views.parts, directions, strict=True)
    ]
    parts[0].by_closeness = torch.tensor(found.by_closeness, dtype=torch.float64)
    if LAYERS_KEPT * sum(4 * np.prod(each.shape) for each, _ in views.parts if each.kept) > available_memory():
        for each, _ in views.parts:
            forget_derived(each.graph)
    return found, parts


def fit_layers(method: Views, task: PUTask, settings: TrainingSettings, run: RunOptions) -> FittedMethod:
    """Fit the default method on every layer, and add up."""
    from pugnn.methods.base import FittedMethod

    known, layers = KnownNodes.of(task, settings.seed), layers_of(task.graph)
    count, progress = task.graph.num_nodes, run.get("progress", False)
    fits: dict[str, FittedViews] = {}
    parts: dict[str, list[LayerPart]] = {}
    for number, (name, layer) in enumerate(layers.items()):
        with part(number / len(layers), (number + 1) / len(layers)):
            fits[name], parts[name] = _fit_layer(method, name, layer, known, settings, progress=progress)
    ranks = {name: known.rank(each.scores[:count, 1:]).ranks for name, each in fits.items()}
    # A share within which all that is there is found: that which most layers agree on.
    shares = layer_shares(ranks, float(np.median([each.settled.value for each in fits.values()])))
    best = max(shares, key=shares.__getitem__)
    scores = np.sum([np.float32(shares[name]) * each.scores[:count] for name, each in fits.items()], axis=0)
    ranked = known.rank(scores[:, 1:])
    settled = settle_prior(method.prior, ranked)
    model = _summed(task, parts, shares, scores[:, 0], settled.value)
    hidden = HiddenRanks(settled, ranked.ranks)
    notes = (
        layers_note(shares),
        f"On the best of these: {fits[best].note[0].lower()}{fits[best].note[1:]}",
        prior_words(settled, len(hidden.ranks), signal=not no_signal(hidden, len(task.unlabelled))),
    )
    return FittedMethod(model, fits[best].log, settled.value, notes=notes, hidden=hidden)


def _summed(
    task: PUTask, parts: dict[str, list[LayerPart]], shares: dict[str, float], scores: NDArray[np.float32], prior: float
) -> LayeredViews:
    """The model that adds up the parts, scaled as :meth:`pugnn.views.LinearViews.ranking` scales one."""
    spread = float(scores[task.unlabelled].std(dtype=np.float64)) or 1.0
    for name, own in parts.items():
        for each in own:
            each.direction *= shares[name] * SLOPE / spread
            each.by_closeness *= shares[name] * SLOPE / spread
    model = LayeredViews([each for own in parts.values() for each in own])
    model.know(task.graph, task.labelled)
    # The parts would give the same again, but for rounding, after smoothing every layer again.
    model.scored_last = task.graph, task.labelled.tobytes(), np.float32(SLOPE / spread) * scores
    ordered = np.sort(model.scores(task.graph)[task.unlabelled].astype(np.float64))[::-1]
    last = min(max(1, round(prior * len(ordered))), max(1, len(ordered) - 1))
    model.constant -= ordered[last - 1 : last + 1].mean()
    return model.eval()


def layers_note(shares: dict[str, float]) -> str:
    """How much each layer counts, in words."""
    total = sum(shares.values())
    ordered = sorted(shares.items(), key=lambda each: -each[1])
    words = ", ".join(f"{name} {percent(share / total) if share > 1e-4 else '0 %'}" for name, share in ordered)
    return f"What each relation contributes to the list: {words}."
