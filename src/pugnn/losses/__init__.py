"""Losses: logits and sets of nodes in, named terms out."""

from pugnn.losses.confident import confident_prior_matching
from pugnn.losses.cross_entropy import UnlabelledAsNegativeLoss
from pugnn.losses.dist_pu import DistPULoss, mean_entropy
from pugnn.losses.distance_aware import DistanceAwareLoss, split_near_far
from pugnn.losses.nnpu import NonNegativeLoss
from pugnn.losses.sets import Sets
from pugnn.losses.soft_labels import SoftLabelLoss
from pugnn.losses.upu import UnbiasedLoss

__all__ = [
    "DistPULoss",
    "DistanceAwareLoss",
    "NonNegativeLoss",
    "Sets",
    "SoftLabelLoss",
    "UnbiasedLoss",
    "UnlabelledAsNegativeLoss",
    "confident_prior_matching",
    "mean_entropy",
    "split_near_far",
]
