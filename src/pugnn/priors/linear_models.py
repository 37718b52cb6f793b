"""Linear models on the rows of the evidence, one per hidden fold and setting, trained side by side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from pugnn.priors.base import Evidence
from pugnn.training import Adam

#: Unlabelled nodes that they are trained on, at most.
SAMPLE = 2048
EPOCHS, RATE = 150, 0.05


class LinearModels:
    """Weights of ``settings`` models for each fold, which see the known positives of the other folds.

    Args:
        evidence: rows and folds.
        settings: models for each fold.
    """

    def __init__(self, evidence: Evidence, settings: int) -> None:
        task, rows = evidence.task, evidence.rows
        self.folds, self.settings = int(evidence.folds.max()) + 1, settings
        sample = np.random.default_rng(0).permutation(task.unlabelled)[:SAMPLE]
        self.known, self.free = rows[torch.from_numpy(task.labelled.copy())], rows[torch.from_numpy(sample)]
        seen = evidence.folds[:, None] != np.repeat(np.arange(self.folds), settings)
        self.seen = torch.from_numpy(seen.astype(np.float32)).to(rows.device)
        self._weights = torch.zeros(rows.shape[1] + 1, self.seen.shape[1], device=rows.device, requires_grad=True)

    def logits(self, rows: Tensor) -> Tensor:
        """Of rows, one column per model: the settings of fold 0, of fold 1, …"""
        return rows @ self._weights[:-1] + self._weights[-1]

    def labelled_mean(self, values: Tensor) -> Tensor:
        """Mean over the known positives that each model sees."""
        return (values * self.seen).sum(dim=0) / self.seen.sum(dim=0)

    def train(self, loss: Callable[[int, Tensor, Tensor], Tensor]) -> None:
        """Minimise the sum of a loss of (epoch, logits of known positives, logits of unlabelled nodes)."""
        optimizer = Adam([([self._weights], 0.0)], RATE)
        for epoch in range(EPOCHS):
            optimizer.zero_grad()
            loss(epoch, self.logits(self.known), self.logits(self.free)).sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    @torch.no_grad()
    def hidden(self, values: Tensor) -> Tensor:
        """Of values of the known positives, shape ``(n_L, models)``, those under the models that did not see them,
        shape ``(n_L, settings)``.
        """
        unseen = (self.seen == 0).view(len(values), self.folds, self.settings)
        return (values.view(len(values), self.folds, self.settings) * unseen).sum(dim=1)
