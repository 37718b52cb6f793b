"""Why a node has its score."""

from pugnn.explain.explaining import explain
from pugnn.explain.explanation import Explanation

__all__ = ["Explanation", "explain"]
