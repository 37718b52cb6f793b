"""Training: the loop, its settings, checkpoints and progress."""

from pugnn.training.adam import Adam
from pugnn.training.batches import Batch, FullGraph, Loader, SampledGraph, require_one_process
from pugnn.training.checkpoint import Checkpoint
from pugnn.training.loop import RunOptions, Trained, make_network, train
from pugnn.training.planning import Plan, plan_as_before, plan_training
from pugnn.training.scoring import fix_scoring, log_odds, score, scores_of
from pugnn.training.sealed import load_sealed, save_sealed
from pugnn.training.settings import TrainingSettings, derive_seed, resolve_device
from pugnn.training.steps import Seed

__all__ = [
    "Adam",
    "Batch",
    "Checkpoint",
    "FullGraph",
    "Loader",
    "Plan",
    "RunOptions",
    "SampledGraph",
    "Seed",
    "Trained",
    "TrainingSettings",
    "derive_seed",
    "fix_scoring",
    "load_sealed",
    "log_odds",
    "make_network",
    "plan_as_before",
    "plan_training",
    "require_one_process",
    "resolve_device",
    "save_sealed",
    "score",
    "scores_of",
    "train",
]
