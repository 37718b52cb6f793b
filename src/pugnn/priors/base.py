"""What estimators of the prior read, and where they are registered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.evidence.rank_model import CheckedNodes
from pugnn.registry import Registry
from pugnn.task import PUTask
from pugnn.views import Attributes, comparable_rows

#: The prior where nothing can be known.
UNKNOWN_PRIOR = 0.1
#: Estimates are at most this: training on an overestimate is far worse than on an underestimate.
MAX_ESTIMATE = 0.5


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of a task, cross-fitted: no known positive takes part in its own rank.

    Args:
        task: graph, known positives and unlabelled nodes.
        folds: the turn in which each known positive was hidden, shape ``(n_L,)``.
        ranks: share of the unlabelled nodes above it then, without those that were found by a ranking and checked;
            empty if nothing could be hidden.
        checked: nodes that were found by a ranking and checked, with their ranks; ``None`` if there are none.
    """

    task: PUTask
    folds: NDArray[np.int64]
    ranks: NDArray[np.float64]
    checked: CheckedNodes | None = None

    @cached_property
    def rows(self) -> Tensor:
        """What each node looks like, shape ``(N, d)``."""
        return torch.from_numpy(comparable_rows(self.task.graph, Attributes.of(self.task.graph)))


class PriorEstimator(Protocol):
    """Estimates the positive share of the unlabelled nodes, from two hidden positives or more."""

    def __call__(self, evidence: Evidence) -> float:
        """An estimate between 0 and 1."""


#: Every estimator by its name.
PRIORS: Registry[PriorEstimator] = Registry("estimator of the prior", "pugnn.priors", "pugnn.priors")
