"""Prior matching with confident scores: the loss of the default method."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from pugnn.losses.sets import Sets


def confident_prior_matching(
    logits: Tensor, sets: Sets, seen: Tensor, prior: float, labelled_weight: float, confidence: float
) -> dict[str, Tensor]:
    """The terms of step 4 of :class:`pugnn.methods.Views`, means over the models; ``logits`` have a column for each.

    ``seen`` is 1 where a labelled node is a label for a model; where it is 0, the node takes no part in its training.
    """
    unlabelled = logits[sets.unlabelled]
    reached, scores = sets.mean(torch.sigmoid(logits[sets.labelled]), seen), torch.sigmoid(unlabelled)
    entropy = F.softplus(unlabelled) - scores * unlabelled
    return {
        "labelled": labelled_weight * (1 - reached).mean(),
        "unlabelled": (sets.mean(scores) - prior).abs().mean(),
        "entropy": confidence * sets.mean(entropy.flatten()),
        **sets.known_negatives(labelled_weight, torch.sigmoid(logits[sets.negative])),
    }
