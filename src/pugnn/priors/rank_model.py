"""The bound of the rank model."""

from __future__ import annotations

from pugnn.evidence.rank_model import RankModel
from pugnn.priors.base import PRIORS, Evidence


@PRIORS.register("rank-model")
def rank_model(evidence: Evidence) -> float:
    """The median bound of the prior, see :mod:`pugnn.evidence.rank_model`."""
    return RankModel.of(evidence.ranks, len(evidence.task.unlabelled), checked=evidence.checked).bound()
