"""nnPU (Kiryo, Niu, du Plessis & Sugiyama, NIPS 2017): the non-negative PU risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pugnn.losses import NonNegativeLoss
from pugnn.methods.base import METHODS, LossMethod


@METHODS.register("nnpu")
@dataclass(frozen=True)
class NNPU(LossMethod):
    r"""The non-negative PU risk (Kiryo, Niu, du Plessis & Sugiyama, NIPS 2017).

    See :mod:`pugnn.losses.nnpu`; defaults are the authors'.

    Args:
        prior: positive share of the unlabelled nodes: a number, auto, a range like 0.02..0.1, or an estimator's name.
        surrogate: loss of a margin, ``sigmoid`` or ``logistic``.
        correction: what to do when the negatives' risk falls below −β: ``ascent`` raises it again, as in the original;
            ``clamp`` ignores it, as in many re-implementations.
        beta: β, how far below zero that risk may fall.
        gamma: γ, size of the ascent.
    """

    prior: float | str = "auto"
    surrogate: Literal["sigmoid", "logistic"] = "sigmoid"
    correction: Literal["ascent", "clamp"] = "ascent"
    beta: float = 0.0
    gamma: float = 1.0

    def loss(self) -> NonNegativeLoss:
        """The loss that the network is trained on."""
        return NonNegativeLoss(self.known_prior, self.surrogate, self.correction, self.beta, self.gamma)
