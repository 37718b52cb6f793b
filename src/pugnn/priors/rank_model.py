"""The median prior of the rank model."""

from __future__ import annotations

from pugnn.metrics.rank_model import RankModel
from pugnn.priors.base import PRIORS, Evidence


@PRIORS.register("rank-model")
def rank_model(evidence: Evidence) -> float:
    """See :mod:`pugnn.metrics.rank_model`."""
    return RankModel.of(evidence.ranks, checked=evidence.checked).prior().value
