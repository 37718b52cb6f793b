"""The loss of GRAB (Yoo et al., ICDM 2021): unlabelled nodes have soft labels."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from pugnn.losses.sets import Sets
from pugnn.losses.upu import SURROGATES


@dataclass(frozen=True)
class SoftLabelLoss:
    r"""With a belief :math:`b` of being positive for each node and the sigmoid loss :math:`\ell`,

    .. math:: \operatorname{mean}_L \ell(g) + \operatorname{mean}_U \big( b\, \ell(g) + (1 - b)\, \ell(-g) \big)

    and the term of known negatives (:meth:`pugnn.losses.Sets.known_negatives`) for :math:`\ell(-g)` and
    :math:`w_L = 1`: they have the belief 0.

    Args:
        beliefs: :math:`b`, shape ``(N,)``; those of known positives and negatives are ignored.
    """

    beliefs: Tensor

    def __call__(self, logits: Tensor, sets: Sets) -> dict[str, Tensor]:
        """The terms by name; their sum is the loss."""
        loss = SURROGATES["sigmoid"]
        unlabelled, beliefs = logits[sets.unlabelled], self.beliefs[sets.unlabelled]
        return {
            "labelled": sets.mean(loss(logits[sets.labelled])),
            "unlabelled": sets.mean(beliefs * loss(unlabelled) + (1 - beliefs) * loss(-unlabelled)),
            **sets.known_negatives(1.0, loss(-logits[sets.negative])),
        }
