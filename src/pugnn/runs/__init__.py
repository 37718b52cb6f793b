"""Runs: a folder with everything one training produced. What needs torch is imported from its module."""

from pugnn.runs.folder import RunFolder, next_free
from pugnn.runs.run import Evidence, InputData, Results, Run, Settings
from pugnn.runs.writers import require_ending, score_table, write_scores

__all__ = [
    "Evidence",
    "InputData",
    "Results",
    "Run",
    "RunFolder",
    "Settings",
    "next_free",
    "require_ending",
    "score_table",
    "write_scores",
]
