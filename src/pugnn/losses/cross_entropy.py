"""Naive supervision: every unlabelled node counts as negative."""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

from pugnn.losses.sets import Sets


@dataclass(frozen=True)
class UnlabelledAsNegativeLoss:
    r"""Mean binary cross-entropy with labelled nodes as 1 and unlabelled ones as 0, split into its two sums.

    .. math:: \frac{1}{n_L + n_U} \Big( \sum_L -\log \sigma(g) + \sum_U -\log \sigma(-g) \Big)

    Args:
        balanced: give both sets the same weight,
            :math:`\tfrac12 \operatorname{mean}_L -\log\sigma(g) + \tfrac12 \operatorname{mean}_U -\log\sigma(-g)`.
    """

    balanced: bool = False

    def __call__(self, logits: Tensor, sets: Sets) -> dict[str, Tensor]:
        """The two terms by name; their sum is the loss."""
        labelled, unlabelled = F.softplus(-logits[sets.labelled]), F.softplus(logits[sets.unlabelled])
        if self.balanced:
            return {
                "labelled": sets.mean("labelled", labelled) / 2,
                "unlabelled": sets.mean("unlabelled", unlabelled) / 2,
            }
        count = len(labelled) + len(unlabelled)
        return {"labelled": labelled.sum() / count, "unlabelled": unlabelled.sum() / count}
