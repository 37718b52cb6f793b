"""Evidence: what can be said of a ranking without negatives, from known positives that were hidden and from checks."""

from pugnn.evidence.bands import Audit, DecidedNodes, Estimate, HiddenRanks, Prior, TopK, estimate
from pugnn.evidence.degenerate import Reason, find_reasons
from pugnn.evidence.hidden_positives import RankedPositives
from pugnn.evidence.rank_model import Band, CheckedNodes, RankModel

__all__ = [
    "Audit",
    "Band",
    "CheckedNodes",
    "DecidedNodes",
    "Estimate",
    "HiddenRanks",
    "Prior",
    "RankModel",
    "RankedPositives",
    "Reason",
    "TopK",
    "estimate",
    "find_reasons",
]
