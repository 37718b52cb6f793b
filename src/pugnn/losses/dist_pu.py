r"""The label-distribution loss of Dist-PU (Zhao, Xu, Jiang, Wen & Huang, CVPR 2022).

With scores :math:`s = \sigma(g)` and the prior :math:`\pi`,

.. math:: R_{lab} = 2\pi \Big| \operatorname{mean}_L s - 1 \Big| + \Big| \operatorname{mean}_U s - \pi \Big|

The absolute value is of the *mean*; individual scores are unconstrained. The trivial solution :math:`s = \pi` on all
unlabelled nodes costs nothing, which is why Dist-PU adds the entropy of the scores.

Known negatives add :math:`|\operatorname{mean}_N s - 0|` with the weight of :meth:`pugnn.losses.Sets.known_negatives`
for :math:`w_L = 2\pi`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from pugnn.losses.sets import Sets, require_prior


@dataclass(frozen=True)
class DistPULoss:
    r"""R_lab.

    Args:
        prior: :math:`\pi`, positive share of the unlabelled nodes.
    """

    prior: float

    def __post_init__(self) -> None:
        require_prior(self.prior)

    def __call__(self, logits: Tensor, sets: Sets) -> dict[str, Tensor]:
        """The terms by name; their sum is the loss."""
        scores = torch.sigmoid(logits)
        return {
            "labelled": 2 * self.prior * (sets.mean(scores[sets.labelled]) - 1).abs(),
            "unlabelled": (sets.mean(scores[sets.unlabelled]) - self.prior).abs(),
            **sets.known_negatives(2 * self.prior, scores[sets.negative]),
        }


def mean_entropy(logits: Tensor) -> Tensor:
    r"""Mean of :math:`-s \log s - (1 - s) \log (1 - s)`: low if every score is near 0 or 1."""
    return (torch.sigmoid(logits) * F.softplus(-logits) + torch.sigmoid(-logits) * F.softplus(logits)).mean()
