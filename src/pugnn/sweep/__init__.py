"""A search for good settings of a method, and where its trainings run."""

from pugnn.sweep.executors import Executor as Executor
from pugnn.sweep.executors import make_executor as make_executor
from pugnn.sweep.executors import run_all as run_all
from pugnn.sweep.space import parse_space as parse_space
from pugnn.sweep.sweep import Judgement as Judgement
from pugnn.sweep.sweep import Sweep as Sweep
from pugnn.sweep.sweep import Trial as Trial
from pugnn.sweep.sweep import judge as judge
from pugnn.sweep.sweep import run_sweep as run_sweep
