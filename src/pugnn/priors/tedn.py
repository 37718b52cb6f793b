"""TEDⁿ (Garg, Wu, Smola, Balakrishnan & Lipton, NeurIPS 2021): best-bin estimation and training take turns."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from pugnn.evidence import RankedPositives
from pugnn.priors.base import PRIORS
from pugnn.priors.best_bin import best_bin_of_ranks
from pugnn.training import Adam

#: Unlabelled nodes that are looked at, at most.
SAMPLE = 2048
EPOCHS, RATE = 150, 0.05
#: Epochs in which all unlabelled nodes count as negative, and after which the prior is estimated again.
WARM_UP, EVERY = 50, 10


@PRIORS.register("tedn")
def tedn(hidden: RankedPositives) -> float:
    r"""Linear models, one for each fold, learn the known positives of the other folds against unlabelled nodes.

    After a warm-up, the share α of the training half of the unlabelled nodes that scores highest is left out, as the
    positives among them. α is estimated every ten epochs by best bins, from hidden positives and the other half.
    """
    labelled, unlabelled, own = sample_rows(hidden)
    half, seen = len(unlabelled) // 2, (~own).float()
    weights = torch.zeros(labelled.shape[1] + 1, own.shape[1], requires_grad=True)
    optimizer, prior = Adam([([weights], 0.0)], RATE), 0.0
    for epoch in range(EPOCHS + 1):
        known, others = (some @ weights[:-1] + weights[-1] for some in (labelled, unlabelled))
        if epoch == EPOCHS or (epoch >= WARM_UP and epoch % EVERY == 0):
            apart = others[half:].detach()
            ranks = [float((apart[:, fold] > known[at, fold]).double().mean()) for at, fold in enumerate(hidden.folds)]
            prior = best_bin_of_ranks(np.array(ranks), len(apart))
        if epoch == EPOCHS:
            break
        negatives = others[:half].sort(dim=0).values[: max(1, round((1 - prior) * half))]
        positive_loss = (F.softplus(-known) * seen).sum(dim=0) / seen.sum(dim=0)
        optimizer.zero_grad()
        (positive_loss + F.softplus(negatives).mean(dim=0)).sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return prior


def sample_rows(hidden: RankedPositives) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of the known positives, of some unlabelled nodes, and which fold each positive is in, shape ``(n_L, k)``.

    The model of a fold must not see the positives in it.
    """
    rows, task = hidden.rows(), hidden.task
    sample = np.random.default_rng(0).permutation(task.unlabelled)[:SAMPLE]
    own = hidden.folds[:, None] == np.arange(hidden.folds.max() + 1)
    return rows[torch.from_numpy(task.labelled.copy())], rows[torch.from_numpy(sample)], torch.from_numpy(own)
