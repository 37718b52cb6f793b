"""Label propagation (Zhou et al., NIPS 2003): scores spread from the known positives along the edges, no training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Unpack

import torch

from pugnn.errors import require_share
from pugnn.losses.sets import Sets
from pugnn.methods.base import METHODS, FittedMethod, Method
from pugnn.models import Backbone, Propagation, inputs_on
from pugnn.task import PUTask
from pugnn.training import RunOptions, TrainingSettings, resolve_device


@METHODS.register("label-propagation")
@dataclass(frozen=True)
class LabelPropagation(Method):
    r"""Scores spread from the known positives along the edges, without any training (Zhou et al., NIPS 2003).

    With :math:`y` the labelled nodes' indicator and :math:`S` a normalised adjacency, iterate

    .. math:: r \leftarrow (1 - \beta) S r + \beta y

    and let the score be :math:`r / (r + r_\pi)`, where :math:`r_\pi` is the value that the share ``prior`` of the
    unlabelled nodes reaches: the order is that of :math:`r`, and one half cuts where the prior says.

    With known negatives, :math:`r^-` spreads from these in the same way as :math:`r^+` from the known positives, and

    .. math:: r = r^+ \cdot \frac{r^+}{r^+ + w r^-}, \qquad w = \min\Big(1, \frac{n_L}{n_N}\Big)

    Nothing is learned that another graph could use: fit it there again.

    Args:
        prior: positive share of the unlabelled nodes: a number, auto, a range like 0.02..0.1, or an estimator's name.
        normalisation: ``symmetric``, :math:`S = D^{-1/2} A D^{-1/2}`, is label propagation; ``walk``,
            :math:`S = A D^{-1}`, is personalised PageRank, which favours nodes of high degree.
        restart: β, probability of returning to a labelled node.
    """

    trains: ClassVar[bool] = False

    prior: float | str = "auto"
    normalisation: Literal["symmetric", "walk"] = "symmetric"
    restart: float = 0.1

    def check(self) -> None:
        """Raise an error if a setting is out of bounds."""
        require_share("restart", self.restart)

    def build(self, num_features: int, settings: TrainingSettings) -> Backbone:  # noqa: ARG002
        """A model without weights."""
        self.check()
        return Propagation(walk=self.normalisation == "walk", restart=self.restart)

    def fit(self, task: PUTask, settings: TrainingSettings, **run: Unpack[RunOptions]) -> FittedMethod:  # noqa: ARG002
        """Find the value that the prior's share of the unlabelled nodes reaches."""
        device = resolve_device(settings.device)
        model = self.build(task.graph.num_features, settings)
        assert isinstance(model, Propagation)
        sets = Sets.of(task.labelled, task.unlabelled, task.negative)
        model.start_from(task.graph, sets.labelled, sets.negative)
        model.to(device)
        reached = model.spread(inputs_on(task.graph, device))[sets.unlabelled.to(device)]
        count = max(1, round(self.known_prior * len(sets.unlabelled)))
        best = reached.topk(count).values
        # If fewer nodes are reached than the prior implies, the last of them scores one half.
        model.middle.copy_(best[best > 0][-1] if (best > 0).any() else torch.ones(()))
        return FittedMethod(model.eval(), [], self.known_prior)
