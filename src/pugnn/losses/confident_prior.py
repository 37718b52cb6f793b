r"""The loss of ``views``: labelled nodes are positive, unlabelled ones match the prior, and scores are confident.

With scores :math:`s = \sigma(g)`, the prior :math:`\pi`, the binary entropy :math:`H` and weights :math:`w_L` and
:math:`\lambda`,

.. math:: w_L \Big| \operatorname{mean}_L s - 1 \Big| + \Big| \operatorname{mean}_U s - \pi \Big|
    + \lambda \operatorname{mean}_U H(s)

Known negatives add :math:`|\operatorname{mean}_N s - 0|` with the weight of :meth:`pugnn.losses.Sets.known_negatives`.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from pugnn.losses.sets import Sets


def confident_prior_matching(
    logits: Tensor, sets: Sets, seen: Tensor, prior: float, labelled_weight: float, confidence: float
) -> dict[str, Tensor]:
    """The terms of the loss, means over the models.

    Args:
        logits: of the nodes of a batch, one column for each model.
        sets: the labelled and the unlabelled nodes of the batch, and the known negatives.
        seen: 1 where a labelled node is a label for a model; where not, it takes no part in its training.
        prior: π.
        labelled_weight: weight of the labelled term.
        confidence: weight of the entropy.
    """
    known, free = logits[sets.labelled], logits[sets.unlabelled]
    reached = sets.mean(torch.sigmoid(known), seen)
    scores = torch.sigmoid(free)
    entropy = F.softplus(free) - scores * free
    return {
        "labelled": labelled_weight * (1 - reached).mean(),
        "unlabelled": (sets.mean(scores) - prior).abs().mean(),
        "entropy": confidence * sets.mean(entropy.flatten()),
        **sets.known_negatives(labelled_weight, torch.sigmoid(logits[sets.negative])),
    }
