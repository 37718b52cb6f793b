"""Smoothed logistic regression: known positives against all other nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, require_number
from pugnn.evidence.hidden_positives import FoldedTask
from pugnn.methods.base import METHODS
from pugnn.methods.centroid import Centroid
from pugnn.methods.ranking.logistic import logistic_regression
from pugnn.views import ViewMatrix


@METHODS.register("smoothed-logistic")
@dataclass(frozen=True)
class SmoothedLogistic(Centroid):
    """Logistic regression on smoothed attributes, known positives against all other nodes.

    Attributes are smoothed over the neighbourhood, with rows of length 1 (:mod:`pugnn.views`). Unlabelled nodes
    count as negative, as in ``naive``; the ranking survives that. See
    :func:`pugnn.methods.ranking.logistic.logistic_regression`.

    Args:
        prior: positive share of the unlabelled nodes: a number, auto, a range like 0.02..0.1, or an estimator's name.
        inverse_penalty: C, weight of the data against the penalty on the coefficients.
    """

    inverse_penalty: float = 10.0

    def check(self) -> None:
        """Raise an error if a setting is out of bounds."""
        require_number("inverse_penalty", self.inverse_penalty, negative=False)
        if not self.inverse_penalty > 0:
            raise PugnnError(f"inverse_penalty must be positive, got {self.inverse_penalty}")

    def directions(self, views: ViewMatrix, folded: FoldedTask) -> NDArray[np.float32]:
        """Coefficients of the models of a folded task, shape ``(1, F, k)``."""
        return logistic_regression(views, folded, self.inverse_penalty)
