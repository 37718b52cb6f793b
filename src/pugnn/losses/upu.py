r"""The unbiased PU risk (du Plessis, Niu & Sugiyama, NIPS 2014 and ICML 2015).

With the prior :math:`\pi`, the risk of a classifier on positives and negatives can be written with labelled and
unlabelled nodes alone, because the unlabelled ones are a mixture of both:

.. math:: R = R^+ + R^-, \qquad R^+ = \pi \operatorname{mean}_L \ell(g), \qquad
    R^- = \operatorname{mean}_U \ell(-g) - \pi \operatorname{mean}_L \ell(-g)

:math:`R^-` stands for the negatives' share of the risk, but nothing keeps it from falling below zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from pugnn.losses.sets import Sets, require_prior
from pugnn.losses.surrogate import SURROGATES, require_surrogate


@dataclass(frozen=True)
class UnbiasedLoss:
    r"""The risk as it is.

    Args:
        prior: :math:`\pi`, positive share of the unlabelled nodes.
        surrogate: :math:`\ell`, ``sigmoid`` or ``logistic``.
    """

    prior: float
    surrogate: Literal["sigmoid", "logistic"] = "sigmoid"

    def __post_init__(self) -> None:
        require_prior(self.prior)
        require_surrogate(self.surrogate)

    def __call__(self, logits: Tensor, sets: Sets) -> dict[str, Tensor]:
        """The risks of the positive and of the negative side by name; their sum is the loss."""
        loss = SURROGATES[self.surrogate]
        labelled, unlabelled = logits[sets.labelled], logits[sets.unlabelled]
        return {
            "positive": self.prior * sets.mean("labelled", loss(labelled)),
            "negative": sets.mean("unlabelled", loss(-unlabelled))
            - self.prior * sets.mean("labelled as negative", loss(-labelled)),
        }
