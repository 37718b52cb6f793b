"""Every unlabelled node taken as negative: the supervision of a naive classifier."""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

from pugnn.losses.distance_aware import NearFar


@dataclass(frozen=True)
class UnlabelledAsNegativeLoss:
    r"""Mean binary cross-entropy with labelled nodes as 1 and unlabelled ones as 0, split into its two sums.

    .. math:: \frac{1}{n_L + n_U} \Big( \sum_L -\log \sigma(g) + \sum_U -\log \sigma(-g) \Big)
    """

    def __call__(self, logits: Tensor, sets: NearFar) -> dict[str, Tensor]:
        """The two terms by name; their sum is the loss."""
        count = len(sets.labelled) + len(sets.near) + len(sets.far)
        unlabelled = F.softplus(logits[sets.near]).sum() + F.softplus(logits[sets.far]).sum()
        return {
            "labelled": F.softplus(-logits[sets.labelled]).sum() / count,
            "unlabelled": unlabelled / count,
        }
