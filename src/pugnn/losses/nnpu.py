r"""The non-negative PU risk (Kiryo, Niu, du Plessis & Sugiyama, NIPS 2017).

The unbiased risk :math:`R^+ + R^-` of :mod:`pugnn.losses.upu` with a lower bound on :math:`R^-`, which estimates a
non-negative risk:

.. math:: R = R^+ + \max(R^-, -\beta)

When :math:`R^-` is below :math:`-\beta`, the network has begun to overfit the labelled nodes. The original algorithm
then takes a step that *raises* :math:`R^-`, along the gradient of :math:`-\gamma R^-` alone.

With known negatives, :math:`R^-` has the weight :math:`1 - \eta` and their own risk is added, as in
:mod:`pugnn.losses.upu`. That risk is never negative: it needs no bound and always counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from pugnn.errors import require_choice, require_number
from pugnn.losses.sets import Sets
from pugnn.losses.upu import UnbiasedLoss


@dataclass(frozen=True)
class NonNegativeLoss(UnbiasedLoss):
    r"""The risk with its lower bound.

    Args:
        prior: :math:`\pi`, positive share of the unlabelled nodes.
        surrogate: :math:`\ell`, ``sigmoid`` or ``logistic``.
        correction: below the bound, ``ascent`` raises :math:`R^-` as in the original; ``clamp`` only stops lowering it
            and continues with :math:`R^+`.
        beta: :math:`\beta`, how far below zero :math:`R^-` may fall.
        gamma: :math:`\gamma`, size of the ascent.
    """

    correction: Literal["ascent", "clamp"] = "ascent"
    beta: float = 0.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("correction", self.correction, ("ascent", "clamp"))
        require_number("beta", self.beta, negative=False)
        require_number("gamma", self.gamma, negative=False)

    def __call__(self, logits: Tensor, sets: Sets) -> dict[str, Tensor]:
        """The positive and the negative risk, and that of known negatives, by name; their values add up to the risk."""
        terms = super().__call__(logits, sets)
        positive, negative = terms["positive"], terms["negative"]
        if self.correction == "clamp":
            return terms | {"negative": negative.clamp(min=-self.beta)}
        # Both branches in one expression that never reads the value, so it also works in a recorded epoch on a GPU.
        fine = negative >= -self.beta  # the weighted risk, as it enters the loss
        ascent = -self.gamma * negative
        floor = ascent + (-self.beta - ascent).detach()  # the value −β with the gradient of −γ R⁻
        return terms | {
            "positive": torch.where(fine, positive, positive.detach()),
            "negative": torch.where(fine, negative, floor),
        }
