"""A search for good settings of a method."""

from pugnn.sweep.space import Range, Space, parse_space
from pugnn.sweep.sweep import Judgement, Settings, Sweep, Trial, judge, run_sweep

__all__ = ["Judgement", "Range", "Settings", "Space", "Sweep", "Trial", "judge", "parse_space", "run_sweep"]
