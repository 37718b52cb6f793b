"""Runs: a folder with everything one training produced."""

from pugnn.runs.changes import EarlierRun, changes_since
from pugnn.runs.folder import RunFolder, next_free
from pugnn.runs.training_run import Run, evaluate, train_into_folder
from pugnn.runs.writers import require_ending, score_table, write_scores

__all__ = [
    "EarlierRun",
    "Run",
    "RunFolder",
    "changes_since",
    "evaluate",
    "next_free",
    "require_ending",
    "score_table",
    "train_into_folder",
    "write_scores",
]
