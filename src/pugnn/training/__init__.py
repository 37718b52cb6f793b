"""Training: the loop, its settings, checkpoints and progress."""

from pugnn.training.adam import Adam
from pugnn.training.batches import Batch, FullGraph, Loader
from pugnn.training.checkpoint import Checkpoint
from pugnn.training.device import resolve_device
from pugnn.training.loop import RunOptions, Trained, fix_scoring, log_odds, make_network, score, scores_of, train
from pugnn.training.planning import Plan, plan_as_before, plan_training
from pugnn.training.sampled import SampledGraph
from pugnn.training.sealed import load_sealed, require_fitting, save_sealed
from pugnn.training.seeds import derive_seed
from pugnn.training.settings import TrainingSettings
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
    "require_fitting",
    "resolve_device",
    "save_sealed",
    "score",
    "scores_of",
    "train",
]
