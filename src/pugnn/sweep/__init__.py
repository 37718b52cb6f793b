"""A search for good settings of a method, and where its trainings run."""

from pugnn.sweep.executors import Executor, make_executor, run_all
from pugnn.sweep.space import parse_space
from pugnn.sweep.sweep import Judgement, Sweep, Trial, judge, run_sweep

__all__ = ["Executor", "Judgement", "Sweep", "Trial", "judge", "make_executor", "parse_space", "run_all", "run_sweep"]
