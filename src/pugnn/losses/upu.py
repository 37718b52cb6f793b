r"""The unbiased PU risk (du Plessis, Niu & Sugiyama, NIPS 2014 and ICML 2015).

With the prior :math:`\pi`, the risk of a classifier can be estimated from labelled and unlabelled nodes alone, because
the unlabelled ones are a mixture of positives and negatives:

.. math:: R = R^+ + R^-, \qquad R^+ = \pi \operatorname{mean}_L \ell(g), \qquad
    R^- = \operatorname{mean}_U \ell(-g) - \pi \operatorname{mean}_L \ell(-g)

:math:`R^-` estimates the risk on negatives, but can fall below zero.

With known negatives, it is combined with a supervised risk, as in PNU learning (Sakai, du Plessis, Niu & Sugiyama, ICML
2017):

.. math:: (1 - \eta) (R^+ + R^-) + \eta (R^+ + \pi \operatorname{mean}_N \ell(-g))
    = R^+ + (1 - \eta) R^- + \eta\, \pi \operatorname{mean}_N \ell(-g)

with :math:`\eta` as in :attr:`pugnn.losses.Sets.negative_weight`. In PNU learning, known negatives are a random sample
of all negatives and count :math:`1 - \pi` instead of :math:`\pi`; here they speak for as many nodes as there are
positives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from pugnn.errors import require_choice
from pugnn.losses.sets import Sets, require_prior

#: Losses :math:`\ell` of a margin: ``sigmoid``, :math:`\sigma(-z)`, is bounded and symmetric; ``logistic``,
#: :math:`\log(1 + e^{-z})`, is convex.
SURROGATES: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": lambda margin: torch.sigmoid(-margin),
    "logistic": lambda margin: F.softplus(-margin),
}


@dataclass(frozen=True)
class UnbiasedLoss:
    r"""The risk without correction.

    Args:
        prior: :math:`\pi`, positive share of the unlabelled nodes.
        surrogate: :math:`\ell`, ``sigmoid`` or ``logistic``.
    """

    prior: float
    surrogate: Literal["sigmoid", "logistic"] = "sigmoid"

    def __post_init__(self) -> None:
        require_prior(self.prior)
        require_choice("surrogate", self.surrogate, SURROGATES)

    def __call__(self, logits: Tensor, sets: Sets) -> dict[str, Tensor]:
        """The positive and the negative risk, and that of known negatives, by name; their sum is the loss."""
        loss = SURROGATES[self.surrogate]
        labelled, unlabelled = logits[sets.labelled], logits[sets.unlabelled]
        negative = sets.mean(loss(-unlabelled)) - self.prior * sets.mean(loss(-labelled))
        return {
            "positive": self.prior * sets.mean(loss(labelled)),
            "negative": (1 - sets.negative_weight) * negative,
            **sets.known_negatives(self.prior, loss(-logits[sets.negative])),
        }
