"""A search for good settings of a method."""

from pugnn.sweep.space import Range, Space, parse_space
from pugnn.sweep.sweep import Sweep, run_sweep

__all__ = ["Range", "Space", "Sweep", "parse_space", "run_sweep"]
