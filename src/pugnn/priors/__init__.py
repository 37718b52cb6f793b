"""How many positives there are: estimators of the prior, one file each, and their combination with an interval."""

from pugnn.evidence.bands import Prior
from pugnn.priors.auto import prior_bounds, prior_words, settle_prior
from pugnn.priors.base import PRIORS, Evidence, PriorEstimator

__all__ = [
    "PRIORS",
    "Evidence",
    "Prior",
    "PriorEstimator",
    "prior_bounds",
    "prior_words",
    "settle_prior",
]
