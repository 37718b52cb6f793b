"""LSDAN (Wu, Pan, Du & Zhu, TKDD 2021): attention over short and long distances, with the non-negative PU risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pugnn.errors import PugnnError
from pugnn.losses import NonNegativeLoss, UnbiasedLoss
from pugnn.methods.base import METHODS, LossMethod
from pugnn.models import Backbone, make_backbone
from pugnn.training import TrainingSettings


@METHODS.register("lsdan")
@dataclass(frozen=True)
class LSDAN(LossMethod):
    r"""Attention over short and long distances, with a PU risk (Wu, Pan, Du & Zhu, TKDD 2021).

    Trains the network of :mod:`pugnn.models.lsdan`.

    Args:
        prior: positive share of the unlabelled nodes: a number, auto, a range like 0.02..0.1, or an estimator's name.
        hops: K, the longest walk that joins two nodes directly.
        risk: ``non-negative`` (:mod:`pugnn.losses.nnpu`) or ``unbiased`` (:mod:`pugnn.losses.upu`); the authors give
            both.
    """

    prior: float | str = "auto"
    hops: int = 3
    risk: Literal["non-negative", "unbiased"] = "non-negative"

    @property
    def training(self) -> dict[str, Any]:
        """Its own network."""
        return {"backbone": "lsdan"}

    def build(self, num_features: int, settings: TrainingSettings) -> Backbone:
        """The network that the method trains, with new weights."""
        if settings.backbone != "lsdan":
            raise PugnnError(f"lsdan has its own network and accepts no other backbone; got {settings.backbone!r}")
        return make_backbone("lsdan", num_features, hidden=settings.hidden, dropout=settings.dropout, hops=self.hops)

    def loss(self) -> NonNegativeLoss | UnbiasedLoss:
        """The loss that the network is trained on."""
        return NonNegativeLoss(self.known_prior) if self.risk == "non-negative" else UnbiasedLoss(self.known_prior)
