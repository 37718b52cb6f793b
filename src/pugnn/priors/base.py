"""Estimators of the prior by name, one file each."""

from __future__ import annotations

from typing import Protocol

from pugnn.evidence import RankedPositives
from pugnn.registry import Registry

#: The prior where nothing can be known.
UNKNOWN_PRIOR = 0.1
#: Estimates are at most this: training on an overestimate is far worse than on an underestimate.
MAX_ESTIMATE = 0.5


class PriorEstimator(Protocol):
    """Estimates the positive share of the unlabelled nodes, from two hidden positives or more."""

    def __call__(self, hidden: RankedPositives) -> float:
        """An estimate between 0 and 1."""


#: Every estimator by its name.
PRIORS: Registry[PriorEstimator] = Registry("estimator of the prior", "pugnn.priors", "pugnn.priors")
