"""Linear models of the nodes' rows, one per hidden fold and setting, trained side by side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from pugnn.evidence import RankedPositives
from pugnn.training import Adam

#: Unlabelled nodes that they are trained on, at most.
SAMPLE = 2048
EPOCHS, RATE = 150, 0.05


class LinearModels:
    """Weights of ``settings`` models for each fold, which see the known positives of the other folds."""

    def __init__(self, hidden: RankedPositives, settings: int) -> None:
        task, rows = hidden.task, hidden.rows()
        self.folds, self.settings = int(hidden.folds.max()) + 1, settings
        sample = np.random.default_rng(0).permutation(task.unlabelled)[:SAMPLE]
        self.labelled, self.unlabelled = rows[torch.from_numpy(task.labelled.copy())], rows[torch.from_numpy(sample)]
        seen = hidden.folds[:, None] != np.repeat(np.arange(self.folds), settings)
        self.seen = torch.from_numpy(seen.astype(np.float32))
        self._weights = torch.zeros(rows.shape[1] + 1, self.seen.shape[1], requires_grad=True)

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
            total = loss(epoch, self.logits(self.labelled), self.logits(self.unlabelled)).sum()
            total.backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    @torch.no_grad()
    def hidden(self, values: Tensor) -> Tensor:
        """Of values of the known positives, shape ``(n_L, models)``, those under the models that did not see them,
        shape ``(n_L, settings)``.
        """
        unseen = (self.seen == 0).view(len(values), self.folds, self.settings)
        return (values.view(len(values), self.folds, self.settings) * unseen).sum(dim=1)
