"""Evidence: what can be said of a ranking without negatives, from known positives that were hidden and from checks."""

from pugnn.evidence.audit import Audit
from pugnn.evidence.bands import DecidedNodes, Estimate, TopK, estimate
from pugnn.evidence.degenerate import Reason, find_reasons
from pugnn.evidence.hidden_positives import RankedPositives
from pugnn.evidence.measured import Measurement
from pugnn.evidence.prior import Prior
from pugnn.evidence.rank_model import Band, RankModel
from pugnn.evidence.signal import HiddenRanks

__all__ = [
    "Audit",
    "Band",
    "DecidedNodes",
    "Estimate",
    "HiddenRanks",
    "Measurement",
    "Prior",
    "RankModel",
    "RankedPositives",
    "Reason",
    "TopK",
    "estimate",
    "find_reasons",
]
