"""The naive classifier: every unlabelled node is taken as negative."""

from __future__ import annotations

from dataclasses import dataclass

from pugnn.losses import UnlabelledAsNegativeLoss
from pugnn.losses.sets import require_prior
from pugnn.methods.base import METHODS, LossMethod


@METHODS.register("naive")
@dataclass(frozen=True)
class Naive(LossMethod):
    r"""Every unlabelled node is taken as negative: cross-entropy with labelled nodes as 1 and all others as 0.

    With few labelled nodes, the plain form decides nearly all nodes negative, which minimises the error rate.
    ``balanced`` gives both sets the same weight: scores then compare a node's likeness to labelled and to unlabelled
    nodes, which ranks well, but the threshold of one half is right only if hardly any unlabelled node is positive. With
    a known ``prior``, the threshold ``"prior"`` decides that share of the unlabelled nodes positive.

    Args:
        balanced: weight the labelled and the unlabelled nodes by one half each.
        prior: positive share of the unlabelled nodes; only used for the threshold ``"prior"``.
    """

    balanced: bool = False
    prior: float | None = None

    def loss(self) -> UnlabelledAsNegativeLoss:
        """The loss that the network is trained on."""
        if self.prior is not None:
            require_prior(self.prior)
        return UnlabelledAsNegativeLoss(self.balanced)
