"""Why a node has its score, and which nodes to check next."""

from pugnn.explain.explaining import explain, explain_best
from pugnn.explain.explanation import Explanation

__all__ = ["Explanation", "explain", "explain_best"]
