"""The bound of the rank model."""

from __future__ import annotations

from pugnn.evidence import RankedPositives, RankModel
from pugnn.priors.base import PRIORS


@PRIORS.register("rank-model")
def rank_model(hidden: RankedPositives) -> float:
    """The median bound of the prior, see :mod:`pugnn.evidence.rank_model`."""
    return RankModel.of(hidden.ranks, hidden.unlabelled).bound()
