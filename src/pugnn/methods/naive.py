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

    With few labelled nodes the plain form decides "negative" nearly everywhere: it minimises the share of mistakes, and
    the labelled nodes are next to none. ``balanced`` gives both sets the same weight. Its scores then say how much more
    a node looks like a labelled than like an unlabelled one, which ranks well; where to cut, one half, is right only if
    hardly any unlabelled node is positive. With a known ``prior`` the threshold ``"prior"`` cuts so that this
    share of the unlabelled nodes is decided positive.

    Args:
        balanced: weight the labelled and the unlabelled nodes by one half each.
        prior: positive share of the unlabelled nodes, for the threshold ``"prior"`` alone; by the method's own
            assumption there are none.
    """

    balanced: bool = False
    prior: float | None = None

    def loss(self) -> UnlabelledAsNegativeLoss:
        """The loss that the network is trained on."""
        if self.prior is not None:
            require_prior(self.prior)
        return UnlabelledAsNegativeLoss(self.balanced)
