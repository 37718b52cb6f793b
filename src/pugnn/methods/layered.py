r"""The default method on a graph with several relations: one model for each layer, weighed by hidden positives.

On each layer (:mod:`pugnn.methods.ranking.layer_ranking`) the method ranks as on any graph, which gives scores
:math:`s_g` of standard deviation 1. Their sum

.. math:: s = \sum_g e^{-2 z_g} s_g

weighs layers by how far they fall behind the best: :math:`z_g \ge 0` is the evidence that the best layer ranks hidden
positives higher than layer g does (:func:`pugnn.evidence.hidden_positives.advantage`). A relation that says nothing
counts next to nothing, and several that say the same count together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from pugnn.errors import percent
from pugnn.evidence.bands import HiddenRanks, no_signal
from pugnn.evidence.hidden_positives import FoldedTask
from pugnn.graph import Graph
from pugnn.graph.derived import forget_derived
from pugnn.graph.layers import has_attributes, layers_of
from pugnn.memory import available_memory
from pugnn.methods.base import FittedMethod
from pugnn.methods.ranking.layer_ranking import layer_shares, layer_views, on_layer
from pugnn.methods.ranking.logistic import rank
from pugnn.priors import prior_words, settle_prior
from pugnn.task import PUTask
from pugnn.training import RunOptions, TrainingSettings
from pugnn.views import SLOPE, Attributes, LayeredModel, LayerModel, count_above
from pugnn.waiting import part

if TYPE_CHECKING:
    from pugnn.methods.views import FittedViews, Views

#: What was made of a layer is kept for its explanations if there is memory left for so many others.
LAYERS_KEPT = 4


def _fit_layer(
    method: Views, name: str, layer: Graph, known: FoldedTask, settings: TrainingSettings, *, progress: bool
) -> tuple[FittedViews, list[LayerModel]]:
    """The default method on one layer, and the parts of its model."""
    views = layer_views(layer, attributes=has_attributes(known.task.graph))
    here, alone = on_layer(known, layer), RunOptions(progress=progress)  # no checkpoint: it is short
    found = method.fit_views(lambda: (views, rank(views, here)), here, settings, alone)
    directions = views.split(found.direction[:, :, None])
    parts = [
        LayerModel.of(name, own, Attributes.of(own.graph), direction[:, :, 0])
        for (own, _), direction in zip(views.parts, directions, strict=True)
    ]
    parts[0].by_closeness = torch.tensor(found.by_closeness, dtype=torch.float64)
    if LAYERS_KEPT * sum(4 * np.prod(each.shape) for each, _ in views.parts if each.kept) > available_memory():
        for each, _ in views.parts:
            forget_derived(each.graph)
    return found, parts


def fit_layers(method: Views, task: PUTask, settings: TrainingSettings, run: RunOptions) -> FittedMethod:
    """Fit the default method on every layer, and add up."""
    known, layers = FoldedTask.of(task, settings.seed), layers_of(task.graph)
    count, progress = task.graph.num_nodes, run.get("progress", False)
    fits: dict[str, FittedViews] = {}
    parts: dict[str, list[LayerModel]] = {}
    for number, (name, layer) in enumerate(layers.items()):
        with part(number / len(layers), (number + 1) / len(layers)):
            fits[name], parts[name] = _fit_layer(method, name, layer, known, settings, progress=progress)
    ranks = {name: known.rank_without_folds(each.scores[:count]).ranks for name, each in fits.items()}
    # A share within which all that is there is found: that which most layers agree on.
    shares = layer_shares(ranks, float(np.median([each.settled.value for each in fits.values()])))
    best = max(shares, key=shares.__getitem__)
    scores = np.sum([np.float32(shares[name]) * each.scores[:count] for name, each in fits.items()], axis=0)
    ranked = known.rank_without_folds(scores)
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
    task: PUTask,
    parts: dict[str, list[LayerModel]],
    shares: dict[str, float],
    scores: NDArray[np.float32],
    prior: float,
) -> LayeredModel:
    """The model that adds up the parts, scaled as :meth:`pugnn.views.LinearModel.ranking` scales one."""
    spread = float(scores[task.unlabelled].std(dtype=np.float64)) or 1.0
    for name, own in parts.items():
        for each in own:
            each.direction *= shares[name] * SLOPE / spread
            each.by_closeness *= shares[name] * SLOPE / spread
    model = LayeredModel([each for own in parts.values() for each in own])
    model.know(task.graph, task.labelled)
    # The parts would give the same again, but for rounding, after smoothing every layer again.
    model.scored_last = task.graph, task.labelled.tobytes(), np.float32(SLOPE / spread) * scores
    ordered = np.sort(model.scores(task.graph)[task.unlabelled].astype(np.float64))[::-1]
    last = count_above(prior, len(ordered))
    model.constant -= ordered[last - 1 : last + 1].mean()
    return model.eval()


def layers_note(shares: dict[str, float]) -> str:
    """How much each layer counts, in words."""
    total = sum(shares.values())
    ordered = sorted(shares.items(), key=lambda each: -each[1])
    words = ", ".join(f"{name} {percent(share / total) if share > 1e-4 else '0 %'}" for name, share in ordered)
    return f"What each relation contributes to the list: {words}."
