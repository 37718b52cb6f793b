"""TEDⁿ (Garg, Wu, Smola, Balakrishnan & Lipton, NeurIPS 2021): best-bin estimation and training take turns."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from pugnn.priors.base import PRIORS, Evidence
from pugnn.priors.best_bin import best_bin_of_ranks
from pugnn.priors.linear_models import EPOCHS, LinearModels

#: Epochs in which all unlabelled nodes count as negative.
WARM_UP = EPOCHS // 3
#: Epochs after which the prior is estimated again.
EVERY = 10


@PRIORS.register("tedn")
def tedn(evidence: Evidence) -> float:
    r"""Linear models learn known positives against unlabelled nodes. After a warm-up, the share α of the training half
    of the unlabelled nodes that scores highest is left out, as the positives among them, and α is estimated every ten
    epochs by best bins, from hidden positives and the other half.
    """
    models = LinearModels(evidence, 1)
    half = len(models.free) // 2
    prior = 0.0

    def estimate(known: Tensor, free: Tensor) -> float:
        hidden = models.hidden(known)[:, 0].cpu().numpy()
        checked = free[half:].detach().cpu().numpy()
        ranks = np.array(
            [(checked[:, fold] > score).mean() for score, fold in zip(hidden, evidence.folds, strict=True)]
        )
        return best_bin_of_ranks(ranks, len(checked))

    def loss(epoch: int, known: Tensor, free: Tensor) -> Tensor:
        nonlocal prior
        if epoch >= WARM_UP and epoch % EVERY == 0:
            prior = estimate(known, free)
        negatives = free[:half].sort(dim=0).values[: max(1, round((1 - prior) * half))]
        return models.labelled_mean(F.softplus(-known)) + F.softplus(negatives).mean(dim=0)

    models.train(loss)
    with torch.no_grad():
        return estimate(models.logits(models.known), models.logits(models.free))
