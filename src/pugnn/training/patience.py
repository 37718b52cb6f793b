"""Stopping a training whose loss no longer falls."""

from __future__ import annotations

import math

from torch import nn

from pugnn.training.checkpoint import Log, Weights, copy_of_weights


class Patience:
    """Keeps the weights of the lowest training loss, and stops a training that finds no lower one.

    Args:
        model: the network in training.
        epochs: stop after this many epochs without a new lowest loss.
        log: of the earlier epochs of a resumed training.
        best: weights of its lowest loss.
    """

    def __init__(self, model: nn.Module, epochs: int, log: Log, best: Weights) -> None:
        self._model, self._epochs, self.best = model, epochs, best
        totals = [record["total"] for record in log]
        self._lowest = min(totals, default=math.inf)
        self._waited = len(totals) - 1 - totals.index(self._lowest) if totals else 0

    def before_step(self) -> None:
        """Keep the weights: the loss of the coming step belongs to these, not to those after it."""
        self._weights = copy_of_weights(self._model)

    def after_step(self, total: float) -> None:
        """Compare the loss with the lowest so far."""
        self._waited += 1
        if total < self._lowest:
            self._lowest, self.best, self._waited = total, self._weights, 0

    @property
    def exhausted(self) -> bool:
        """Whether the training should stop."""
        return self._waited >= self._epochs

    def restore_best(self) -> None:
        """Restore the weights of the lowest loss."""
        self._model.load_state_dict(self.best)
