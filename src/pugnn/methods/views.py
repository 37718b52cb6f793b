"""The default method: one linear model of several views of every node, and of its closeness to known positives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np

from pugnn.errors import percent
from pugnn.evidence.hidden_positives import FoldedTask
from pugnn.methods.base import METHODS, FittedMethod, Method
from pugnn.methods.ranking.layered_fit import fit_layers
from pugnn.methods.ranking.plain import RANKING_TIME, default_view_matrix, rank_task
from pugnn.methods.ranking.view_fit import fit_views
from pugnn.models import Backbone
from pugnn.task import PUTask
from pugnn.training import Plan, RunOptions, TrainingSettings, resolve_device
from pugnn.training.checkpoint import Weights
from pugnn.training.progress import stage_progress
from pugnn.views import Attributes, LayeredModel, LayerModel, LinearModel, ViewMatrix, forecast_views
from pugnn.waiting import part


@METHODS.register("views")
@dataclass(frozen=True)
class Views(Method):
    r"""One linear model of several views of every node: a regression, trained further where positives are common.

    1. **Views.** Five views of each node side by side, Z: its attributes smoothed over the wider neighbourhood, its own
       attributes, the mean of its neighbours', the difference of these two, and the mean over two hops, each with rows
       of length 1 (:mod:`pugnn.views`).
    2. **Ranking.** A strongly penalised logistic regression on Z (C = 1), known positives against all other nodes: it
       is convex and needs no prior. Closeness to the known positives, by links alone, is added as far as it finds
       hidden positives (:mod:`pugnn.methods.ranking.plain`).
    3. **Prior.** Known positives are hidden in five turns (:mod:`pugnn.evidence.hidden_positives`). π is given, or
       estimated from their ranks.
    4. **Training.** Adam starts from the regression, scaled to the standard deviation :math:`\min(2, |L| / 50)` and
       shifted so that the share π lies above zero. With scores :math:`s = \sigma(Z w + b)`, it minimises

       .. math:: \max(2\pi, 1) \Big|\operatorname{mean}_L s - 1\Big| + \Big|\operatorname{mean}_U s - \pi\Big|
           + \lambda_t \operatorname{mean}_U H(s) + \tfrac{\rho}{2} \lVert w \rVert^2

       where the weight of the entropy, :math:`\lambda_t`, rises from 0 to 1 over the first half of the epochs, and
       :math:`\rho = 0.06\,\pi / |L|`, within bounds (:mod:`pugnn.methods.ranking.confident`).

    5. **Sum.** The ranking and the trained model, each with scores of standard deviation 1, are added. The share of the
       trained model is :math:`\sigma(2 (z + \log(\pi / 0.05)))`, with z the evidence that it ranks hidden positives
       higher. If π is an estimate, a logarithm above 0 counts :math:`|L| / (|L| + 60)` times. So training counts where
       positives are common and their share is well known, unless hidden positives disagree
       (:mod:`pugnn.methods.ranking.view_fit`).

    Known negatives count more than other nodes in the regression; in training they add
    :math:`|\operatorname{mean}_N s|` with the weight of :meth:`pugnn.losses.Sets.known_negatives`.

    A graph with several relations gets one such model for each (:mod:`pugnn.methods.ranking.layered_fit`).

    The setting ``weight_decay`` is the largest penalty ρ.

    Args:
        prior: positive share of the unlabelled nodes: a number, auto, a range like 0.02..0.1, or an estimator's name.
    """

    settles_prior: ClassVar[bool] = True
    reads_relations: ClassVar[bool] = True
    unused: ClassVar[tuple[str, ...]] = ("backbone", "hidden", "dropout", "batch_size")
    fresh: ClassVar[str] = "views starts from its regression every time"

    prior: float | str = "auto"

    @property
    def training(self) -> dict[str, Any]:
        """Settings of the training."""
        return {"backbone": "mlp", "epochs": 60, "learning_rate": 0.06, "weight_decay": 5e-3}

    def build(self, num_features: int, settings: TrainingSettings) -> Backbone:  # noqa: ARG002
        """A model that is still empty: its sizes depend on the data."""
        return LinearModel(num_features)

    def rebuild(self, num_features: int, settings: TrainingSettings, weights: Weights) -> Backbone:
        """The kind of model that these weights belong to: of a plain graph, or of layers."""
        parts = {name.split(".")[1] for name in weights if name.startswith("parts.")}
        return LayeredModel([LayerModel(num_features) for _ in parts]) if parts else self.build(num_features, settings)

    def plan(self, task: PUTask, settings: TrainingSettings) -> Plan | None:  # noqa: ARG002
        """The memory that the views of the graph need; all else needs next to nothing."""
        return Plan(None, *forecast_views(task.graph))

    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:
        """Rank, settle the prior, train, and add up."""
        resolve_device(settings.device)  # all is computed on the CPU, but a device that is not there is a mistake
        if task.graph.relations:
            return fit_layers(task, self.prior, settings, run)
        folded = FoldedTask.of(task, settings.seed)
        words = "ranking by views of the attributes"
        with part(0, RANKING_TIME), stage_progress(words, show=run.get("progress", False)):
            views, ranking = default_view_matrix(task.graph), rank_task(folded)
        with part(RANKING_TIME, 1):
            fit = fit_views(views, ranking, folded, self.prior, settings, run)
        attributes = Attributes.of(task.graph)
        model = LinearModel.ranking(task, attributes, fit.direction, fit.prior.value, fit.closeness_weight)
        # Bands describe this ranking, so the ranks must be those of its scores, not of either part alone.
        hidden = folded.rank_hidden(fit.scores[:, 1:])
        notes = (_views_note(views, model, task), fit.note)
        return FittedMethod.of_ranking(model, hidden, fit.prior, notes=notes, log=fit.log)


def _views_note(views: ViewMatrix, model: LinearModel, task: PUTask) -> str:
    """The contribution of each view: its covariance with the scores. These add up to their variance."""
    products = views.products(model.direction.numpy()[:, :, None])
    parts = {name: views.scales[name] * product[:, 0] for name, product in zip(views.names, products, strict=True)}
    parts["closeness to known positives"] = model.scores(task.graph) - np.sum(list(parts.values()), axis=0)
    total = np.sum([values[task.unlabelled] for values in parts.values()], axis=0, dtype=np.float64)
    apart = total - total.mean()
    variance = float((apart * apart).sum())
    if variance == 0:
        return "All nodes have the same score."
    shares = {name: float((apart * values[task.unlabelled]).sum()) / variance for name, values in parts.items()}
    words = ", ".join(f"{name} {percent(share) if share > 0 else '0 %'}" for name, share in shares.items())
    return f"What each view of a node contributes to its score: {words}."
