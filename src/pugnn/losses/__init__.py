"""Losses: logits and sets of nodes in, named terms out."""

from pugnn.losses.cross_entropy import UnlabelledAsNegativeLoss
from pugnn.losses.distance_aware import DistanceAwareLoss, NearFar, split_near_far

__all__ = ["DistanceAwareLoss", "NearFar", "UnlabelledAsNegativeLoss", "split_near_far"]
