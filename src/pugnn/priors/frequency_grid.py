"""Label frequency on a grid of priors."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from pugnn.evidence import RankedPositives
from pugnn.priors.base import PRIORS
from pugnn.priors.tedn import EPOCHS, RATE, sample_rows
from pugnn.training import Adam

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
    labelled, unlabelled, own = sample_rows(hidden)
    folds, priors = own.shape[1], torch.tensor(GRID).repeat(own.shape[1])
    own = own.repeat_interleave(len(GRID), dim=1)  # the models of fold 0, one for each prior, of fold 1, …
    seen = (~own).float()
    weights = torch.zeros(labelled.shape[1] + 1, len(priors), requires_grad=True)
    optimizer = Adam([([weights], 0.0)], RATE)
    for epoch in range(EPOCHS + 1):
        known, others = (some @ weights[:-1] + weights[-1] for some in (labelled, unlabelled))
        if epoch == EPOCHS:
            break
        scores = torch.sigmoid(others)
        missed = 1 - (torch.sigmoid(known) * seen).sum(dim=0) / seen.sum(dim=0)
        entropy = (F.softplus(others) - scores * others).mean(dim=0)
        matched = (2 * priors).clamp(min=1) * missed + (scores.mean(dim=0) - priors).abs()
        optimizer.zero_grad()
        (matched + min(1.0, 2 * epoch / EPOCHS) * entropy).sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    found = ((known >= 0) & own).view(len(known), folds, -1).sum(dim=1).float().mean(dim=0)
    decided = (others >= 0).float().mean(dim=0).view(folds, -1).mean(dim=0)
    shares, recalls = decided.numpy(), found.numpy()
    enough = (recalls >= MIN_RECALL) & (shares > 0)
    return float(min(np.min(shares[enough] / recalls[enough], initial=1.0), 1.0))
