"""How many positives there are: estimators of the prior, one file each, and their combination with an interval."""

from pugnn.evidence import Prior, RankedPositives
from pugnn.priors.base import PRIORS
from pugnn.priors.settling import prior_bounds, prior_words, settle_prior

__all__ = ["PRIORS", "Prior", "RankedPositives", "prior_bounds", "prior_words", "settle_prior"]
