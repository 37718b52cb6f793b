"""Label frequency on a grid of priors."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from pugnn.evidence import RankedPositives
from pugnn.priors.base import PRIORS
from pugnn.priors.linear_models import EPOCHS, LinearModels

#: Priors that are tried.
GRID = (0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75)
#: Share of the hidden positives that must be decided positive.
MIN_RECALL = 0.3


@PRIORS.register("frequency-grid")
def frequency_grid(hidden: RankedPositives) -> float:
    r"""The smallest :math:`s(g) / r(g)` over a grid of priors g.

    For each g, linear models are trained without the hidden positives to decide the share g of the unlabelled nodes
    positive (prior matching and entropy, as in the default method). With :math:`s(g)` the share that they decide, and
    :math:`r(g)` the share of hidden positives that they decide positive, :math:`s / r` bounds the prior from above.
    """
    models = LinearModels(hidden, len(GRID))
    priors = torch.tensor(GRID).repeat(models.folds)

    def loss(epoch: int, labelled: Tensor, unlabelled: Tensor) -> Tensor:
        scores = torch.sigmoid(unlabelled)
        entropy = (F.softplus(unlabelled) - scores * unlabelled).mean(dim=0)
        missed = 1 - models.labelled_mean(torch.sigmoid(labelled))
        return (
            (2 * priors).clamp(min=1) * missed
            + (scores.mean(dim=0) - priors).abs()
            + min(1.0, 2 * epoch / EPOCHS) * entropy
        )

    models.train(loss)
    with torch.no_grad():
        decided = (models.logits(models.unlabelled) >= 0).float().mean(dim=0).view(models.folds, -1).mean(dim=0)
        found = models.hidden((models.logits(models.labelled) >= 0).float()).mean(dim=0)
    shares, recalls = decided.numpy(), found.numpy()
    enough = (recalls >= MIN_RECALL) & (shares > 0)
    return float(min(np.min(shares[enough] / recalls[enough], initial=1.0), 1.0))
