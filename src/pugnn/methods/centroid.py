"""Centroid: similarity to the mean of the known positives, against the mean of all nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Unpack

from torch import Tensor

from pugnn.methods.base import METHODS, FittedMethod, Method
from pugnn.methods.evidence import KnownPositives
from pugnn.metrics.bands import Hidden, no_signal
from pugnn.models import Backbone, Blend, inputs_on
from pugnn.models.views import Attributes, make_views
from pugnn.models.views.rows import Rows
from pugnn.priors import Evidence, prior_words, settle_prior
from pugnn.task import PUTask
from pugnn.training import RunOptions, TrainingSettings, resolve_device
from pugnn.training.progress import stage_progress


@METHODS.register("centroid")
@dataclass(frozen=True)
class Centroid(Method):
    r"""Similarity to the mean of the known positives, against the mean of all nodes: no training.

    Attributes are smoothed over the neighbourhood, with rows of length 1 (:mod:`pugnn.models.views`). With
    :math:`\mu_L` the mean row of the known positives and :math:`\mu` that of all nodes, node i scores
    :math:`\langle v_i, \mu_L - \mu \rangle`. Without :math:`\mu`, what all nodes share would decide.
    Known negatives move :math:`\mu` towards their mean (:meth:`pugnn.methods.evidence.KnownPositives.contrasts`).

    The share π of the unlabelled nodes that score highest is decided positive; if it is estimated, that is the one with
    the highest expected F1 (:meth:`pugnn.metrics.RankModel.decided_share`).

    Args:
        prior: π, positive share of the unlabelled nodes; auto estimates it from hidden positives; a range such as
            0.02..0.1 bounds the estimate.
    """

    trains: ClassVar[bool] = False
    settles_prior: ClassVar[bool] = True

    prior: float | str = "auto"

    def build(self, num_features: int, settings: TrainingSettings) -> Backbone:  # noqa: ARG002
        """A model that is still empty: its sizes depend on the data."""
        return Blend(num_features)

    def directions(self, rows: Rows, known: KnownPositives) -> Tensor:
        """What the rows are multiplied with: of the whole, and with each fold hidden, as columns."""
        return known.contrasts(rows)

    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:
        """Find the direction, and where to cut."""
        device = resolve_device(settings.device)
        inputs = inputs_on(task.graph, device)
        known = KnownPositives.of(task, device, settings.seed)
        attributes = Attributes.of(task.graph)
        with stage_progress("smoothing attributes", show=run.get("progress", False)):
            rows = make_views(attributes, inputs, ["smoothed"])["smoothed"]
            directions = self.directions(rows, known)
        ranks, checked = known.hidden_ranks(rows @ directions[:, 1:]), known.checked(rows)
        settled = settle_prior(self.prior, Evidence(task, rows, known.folds, ranks, checked))
        hidden = Hidden(settled, ranks, checked)
        model = Blend(task.graph.num_features)
        model.fill(**attributes.tensors(), **Blend.only(directions[:, 0]))
        model.to(device).cut_at(rows, known.unlabelled, settled.value)
        model.keep(inputs, rows)
        signal = not no_signal(hidden, len(task.unlabelled))
        notes = (prior_words(settled, len(ranks), signal=signal),)
        return FittedMethod(model.eval(), [], settled.value, notes=notes, hidden=hidden)
