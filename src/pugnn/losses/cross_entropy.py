"""Naive supervision: every unlabelled node counts as negative."""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

from pugnn.losses.sets import Sets


@dataclass(frozen=True)
class UnlabelledAsNegativeLoss:
    r"""Mean binary cross-entropy with labelled nodes as 1 and all others as 0, split into the sums over the sets.

    .. math:: \frac{1}{n_L + n_U + n_N} \Big( \sum_L -\log \sigma(g) + \sum_{U \cup N} -\log \sigma(-g) \Big)

    A known negative counts like any other node: that it is surely negative is what is assumed of all of them.

    Args:
        balanced: give both sets the same weight,
            :math:`\tfrac12 \operatorname{mean}_L -\log\sigma(g) + \tfrac12 \operatorname{mean}_U -\log\sigma(-g)`,
            plus the term of the known negatives (:meth:`pugnn.losses.Sets.known_negatives`) with
            :math:`w_L = \tfrac12` and :math:`\ell = -\log\sigma(-g)`.
    """

    balanced: bool = False

    def __call__(self, logits: Tensor, sets: Sets) -> dict[str, Tensor]:
        """The terms by name; their sum is the loss."""
        labelled, unlabelled = F.softplus(-logits[sets.labelled]), F.softplus(logits[sets.unlabelled])
        negative = F.softplus(logits[sets.negative])
        if self.balanced:
            return {
                "labelled": sets.mean(labelled) / 2,
                "unlabelled": sets.mean(unlabelled) / 2,
                **sets.known_negatives(0.5, negative),
            }
        count = sum(map(sets.size, ("labelled", "unlabelled", "negative")))
        terms = {
            "labelled": sets.sum("labelled", labelled) / count,
            "unlabelled": sets.sum("unlabelled", unlabelled) / count,
        }
        return terms | ({"known_negative": sets.sum("negative", negative) / count} if sets.size("negative") else {})
