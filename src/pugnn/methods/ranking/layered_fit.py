r"""The default method on a graph with several relations: one model for each layer, weighed by hidden positives.

On each layer (:mod:`pugnn.methods.ranking.layer_ranking`) the method ranks as on any graph, which gives scores
:math:`s_g` of standard deviation 1. Their sum

.. math:: s = \sum_g e^{-2 z_g} s_g

weighs a layer by how far it falls behind the best: :math:`z_g \ge 0` is the evidence that the best layer ranks hidden
positives higher than layer g does (:func:`pugnn.evidence.hidden_positives.evidence_for`). A relation that says nothing
hardly counts, and relations that say the same count together.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from pugnn.errors import percent
from pugnn.evidence.hidden_positives import FoldedTask
from pugnn.graph import Graph
from pugnn.graph.derived import forget_derived
from pugnn.graph.layers import has_attributes, layers_of
from pugnn.memory import available_memory
from pugnn.methods.base import FittedMethod
from pugnn.methods.ranking.layer_ranking import layer_views, layer_weights, on_layer
from pugnn.methods.ranking.plain import RANKING_TIME, rank_views
from pugnn.methods.ranking.view_fit import ViewFit, fit_views
from pugnn.priors import settle_prior
from pugnn.task import PUTask
from pugnn.training import RunOptions, TrainingSettings
from pugnn.training.progress import stage_progress
from pugnn.views import LOG_ODDS_SPREAD, LayeredModel, LayerModel
from pugnn.waiting import part

#: The views of a layer are cached for its explanations if memory is left for this many others.
CACHED_LAYERS = 4


def fit_layers(task: PUTask, prior: float | str, settings: TrainingSettings, run: RunOptions) -> FittedMethod:
    """Fit the default method on every layer, and add up."""
    folded, layers = FoldedTask.of(task, settings.seed), layers_of(task.graph)
    alone = RunOptions(progress=run.get("progress", False))  # without a checkpoint: each fit is short
    fits: dict[str, ViewFit] = {}
    models: dict[str, list[LayerModel]] = {}
    for number, (name, layer) in enumerate(layers.items()):
        with part(number / len(layers), (number + 1) / len(layers)):
            fits[name], models[name] = _fit_layer(name, layer, folded, prior, settings, alone)
    scores = {name: fit.scores[: task.graph.num_nodes] for name, fit in fits.items()}
    ranks = {name: folded.rank_hidden(of_layer[:, 1:]).ranks for name, of_layer in scores.items()}
    # Ranks within the share of positives count the same; the layers estimate it, so most of them decide.
    weights = layer_weights(ranks, floor=float(np.median([fit.prior.value for fit in fits.values()])))
    total = np.sum([np.float32(weights[name]) * scores[name] for name in scores], axis=0)
    hidden = folded.rank_hidden(total[:, 1:])
    settled = settle_prior(prior, hidden)
    model = _add_up(task, models, weights, total[:, 0])
    model.decide(task, settled.value)
    best = max(weights, key=weights.__getitem__)
    notes = (layers_note(weights), f"On the best of these: {fits[best].note[0].lower()}{fits[best].note[1:]}")
    return FittedMethod.of_ranking(model.eval(), hidden, settled, notes=notes, log=fits[best].log)


def _fit_layer(
    name: str,
    layer: Graph,
    folded: FoldedTask,
    prior: float | str,
    settings: TrainingSettings,
    run: RunOptions,
) -> tuple[ViewFit, list[LayerModel]]:
    """The default method on one layer, and its models, one for each kind of views."""
    views = layer_views(layer, attributes=has_attributes(folded.task.graph))
    folded = on_layer(folded, layer)
    with part(0, RANKING_TIME), stage_progress(f"ranking by views of {name}", show=run.get("progress", False)):
        ranking = rank_views(views, folded)
    with part(RANKING_TIME, 1):
        fit = fit_views(views, ranking, folded, prior, settings, run)
    directions = views.split(fit.direction[:, :, None])
    models = [
        LayerModel.on_layer(name, matrix, direction[:, :, 0])
        for (matrix, _), direction in zip(views.parts, directions, strict=True)
    ]
    models[0].by_closeness = torch.tensor(fit.closeness_weight, dtype=torch.float64)
    needed = sum(4 * np.prod(matrix.shape) for matrix, _ in views.parts if matrix.kept)
    if CACHED_LAYERS * needed > available_memory():
        for matrix, _ in views.parts:
            forget_derived(matrix.graph)
    return fit, models


def _add_up(
    task: PUTask, models: dict[str, list[LayerModel]], weights: dict[str, float], scores: NDArray[np.float32]
) -> LayeredModel:
    """The weighted sum of the models, scaled to log-odds as :meth:`pugnn.views.LinearModel.ranking` does."""
    spread = float(scores[task.unlabelled].std(dtype=np.float64)) or 1.0
    for name, of_layer in models.items():
        for model in of_layer:
            model.scale_by(weights[name] * LOG_ODDS_SPREAD / spread)
    layered = LayeredModel([model for of_layer in models.values() for model in of_layer])
    layered.know(task.graph, task.labelled)
    # The models would give the same again, but for rounding, after smoothing every layer again.
    layered.remember_scores(task.graph, np.float32(LOG_ODDS_SPREAD / spread) * scores)
    return layered


def layers_note(weights: dict[str, float]) -> str:
    """The share of each layer, in words."""
    total = sum(weights.values())
    ordered = sorted(weights.items(), key=lambda item: -item[1])
    shares = ", ".join(f"{name} {percent(weight / total) if weight > 1e-4 else '0 %'}" for name, weight in ordered)
    return f"What each relation contributes to the list: {shares}."
