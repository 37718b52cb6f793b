"""uPU (du Plessis, Niu & Sugiyama, NIPS 2014 and ICML 2015): the unbiased PU risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pugnn.losses import UnbiasedLoss
from pugnn.methods.base import METHODS, LossMethod


@METHODS.register("upu")
@dataclass(frozen=True)
class UPU(LossMethod):
    r"""The unbiased PU risk (du Plessis, Niu & Sugiyama, NIPS 2014 and ICML 2015).

    See :mod:`pugnn.losses.upu`. A flexible network can drive it far below zero by learning the labelled nodes by heart;
    nnPU corrects that.

    Args:
        prior: positive share of the unlabelled nodes: a number, auto, a range like 0.02..0.1, or an estimator's name.
        surrogate: loss of a margin, ``sigmoid`` or ``logistic``.
    """

    prior: float | str = "auto"
    surrogate: Literal["sigmoid", "logistic"] = "sigmoid"

    def loss(self) -> UnbiasedLoss:
        """The loss that the network is trained on."""
        return UnbiasedLoss(self.known_prior, self.surrogate)
