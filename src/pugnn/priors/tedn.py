"""TEDⁿ (Garg, Wu, Smola, Balakrishnan & Lipton, NeurIPS 2021): best-bin estimation and training take turns."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from pugnn.evidence import RankedPositives
from pugnn.priors.base import PRIORS
from pugnn.priors.best_bin import best_bin_of_ranks
from pugnn.priors.linear_models import EPOCHS, LinearModels

#: Epochs in which all unlabelled nodes count as negative.
WARM_UP = EPOCHS // 3
#: Epochs after which the prior is estimated again.
EVERY = 10


@PRIORS.register("tedn")
def tedn(hidden: RankedPositives) -> float:
    r"""Linear models learn known positives against unlabelled nodes. After a warm-up, the share α of the training half
    of the unlabelled nodes that scores highest is left out, as the positives among them, and α is estimated every ten
    epochs by best bins, from hidden positives and the other half.
    """
    models = LinearModels(hidden, 1)
    half = len(models.unlabelled) // 2
    prior = 0.0

    def estimate(labelled: Tensor, unlabelled: Tensor) -> float:
        scores = models.hidden(labelled)[:, 0].numpy()
        others = unlabelled[half:].detach().numpy()
        ranks = np.array([(others[:, fold] > score).mean() for score, fold in zip(scores, hidden.folds, strict=True)])
        return best_bin_of_ranks(ranks, len(others))

    def loss(epoch: int, labelled: Tensor, unlabelled: Tensor) -> Tensor:
        nonlocal prior
        if epoch >= WARM_UP and epoch % EVERY == 0:
            prior = estimate(labelled, unlabelled)
        negatives = unlabelled[:half].sort(dim=0).values[: max(1, round((1 - prior) * half))]
        return models.labelled_mean(F.softplus(-labelled)) + F.softplus(negatives).mean(dim=0)

    models.train(loss)
    with torch.no_grad():
        return estimate(models.logits(models.labelled), models.logits(models.unlabelled))
