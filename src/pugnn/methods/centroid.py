"""Centroid: similarity to the mean of the known positives, against the mean of all nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from pugnn.evidence.hidden_positives import FoldedTask
from pugnn.methods.base import METHODS, FittedMethod, Method
from pugnn.models import Backbone
from pugnn.priors import settle_prior
from pugnn.task import PUTask
from pugnn.training import RunOptions, TrainingSettings, resolve_device
from pugnn.training.progress import stage_progress
from pugnn.views import Attributes, LinearModel, ViewMatrix, views_of


@METHODS.register("centroid")
@dataclass(frozen=True)
class Centroid(Method):
    r"""Similarity to the mean of the known positives, against the mean of all nodes: no training.

    Attributes are smoothed over the neighbourhood, with rows of length 1 (:mod:`pugnn.views`). With
    :math:`\mu_L` the mean row of the known positives and :math:`\mu` that of all nodes, node i scores
    :math:`\langle v_i, \mu_L - \mu \rangle`. Without :math:`\mu`, what all nodes have in common would decide.
    Known negatives move :math:`\mu` towards their mean (:meth:`pugnn.evidence.hidden_positives.FoldedTask.contrasts`).

    The share π of the unlabelled nodes that score highest is decided positive; if it is estimated, that is the one with
    the highest expected F1 (:meth:`pugnn.evidence.RankModel.decided_share`).

    Args:
        prior: positive share of the unlabelled nodes: a number, auto, a range like 0.02..0.1, or an estimator's name.
    """

    trains: ClassVar[bool] = False
    settles_prior: ClassVar[bool] = True

    prior: float | str = "auto"

    def build(self, num_features: int, settings: TrainingSettings) -> Backbone:  # noqa: ARG002
        """A model that is still empty: its sizes depend on the data."""
        return LinearModel(num_features)

    def directions(self, views: ViewMatrix, folded: FoldedTask) -> NDArray[np.float32]:
        """Directions of the models of a folded task, shape ``(1, F, k)``."""
        return folded.contrasts(views)

    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:
        """Find the direction, and where to cut."""
        resolve_device(settings.device)  # all is computed on the CPU, but a device that is not there is a mistake
        folded = FoldedTask.of(task, settings.seed)
        with stage_progress("smoothing attributes", show=run.get("progress", False)):
            attributes = Attributes.of(task.graph)
            views = views_of(task.graph, attributes, ("smoothed",))
            directions = self.directions(views, folded)
            hidden = folded.rank_hidden(views @ directions[:, :, 1:])
        prior = settle_prior(self.prior, hidden)
        model = LinearModel.ranking(task, attributes, directions[:, :, 0], prior.value)
        return FittedMethod.of_ranking(model, hidden, prior)
