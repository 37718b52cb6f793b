"""Smoothed logistic regression: known positives against all other nodes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pugnn.errors import PugnnError, require_number
from pugnn.methods.base import METHODS
from pugnn.methods.centroid import Centroid
from pugnn.methods.evidence import KnownPositives
from pugnn.models.views.rows import Rows


@METHODS.register("smoothed-logistic")
@dataclass(frozen=True)
class SmoothedLogistic(Centroid):
    """Logistic regression on smoothed attributes, known positives against all other nodes.

    Attributes are smoothed over the neighbourhood, with rows of length 1 (:mod:`pugnn.models.views`). Unlabelled nodes
    count as negative, as in ``naive``, like known negatives; the ranking survives that. The share π of the unlabelled
    nodes that scores highest is decided positive.

    Args:
        prior: π, positive share of the unlabelled nodes; auto estimates it from the ranks of hidden positives, by the
            score of ``centroid``; a range such as 0.02..0.1 bounds the estimate.
        inverse_penalty: C, weight of the data against the penalty on the coefficients.
    """

    inverse_penalty: float = 10.0

    def check(self) -> None:
        """Raise an error if a setting is out of bounds."""
        require_number("inverse_penalty", self.inverse_penalty, negative=False)
        if not self.inverse_penalty > 0:
            raise PugnnError(f"inverse_penalty must be positive, got {self.inverse_penalty}")

    def directions(self, rows: Rows, known: KnownPositives) -> Tensor:
        """The coefficients of the regression, and of those that take a fold of known positives as unlabelled."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        self.check()
        nodes = torch.cat([known.labelled, known.unlabelled, known.negative])
        x, found = rows[nodes].cpu().numpy(), []
        # The usual tolerance stops before the first step where positives are rare.
        regression = LogisticRegression(C=self.inverse_penalty, max_iter=300, tol=1e-6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # further iterations hardly change the ranking
            for seen in known.memberships().cpu().numpy().T:
                is_label = np.zeros(len(nodes), dtype=bool)
                is_label[: len(seen)] = seen == 1
                found.append(regression.fit(x, is_label).coef_[0].astype(np.float32))
        return torch.from_numpy(np.stack(found, axis=1)).to(rows.device)
