"""Estimators of the prior by name, one file each."""

from __future__ import annotations

from collections.abc import Callable

from pugnn.evidence import RankedPositives
from pugnn.registry import Registry

#: The prior where nothing can be known.
UNKNOWN_PRIOR = 0.1
#: Estimates are at most this: training on an overestimate is far worse than on an underestimate.
MAX_ESTIMATE = 0.5

#: Estimates the positive share of the unlabelled nodes, from two hidden positives or more.
PriorEstimator = Callable[[RankedPositives], float]

#: Every estimator by its name.
PRIORS: Registry[PriorEstimator] = Registry("estimator of the prior", "pugnn.priors", "pugnn.priors")
