"""uPU (du Plessis, Niu & Sugiyama, NIPS 2014 and ICML 2015): the unbiased PU risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pugnn.data.protocol import PUTask
from pugnn.losses import UnbiasedLoss
from pugnn.methods.base import FittedMethod, Method
from pugnn.training import Checkpoint, TrainingSettings


@dataclass(frozen=True)
class UPU(Method):
    r"""Minimise the risk of :mod:`pugnn.losses.upu`.

    It is unbiased, and a flexible network can drive it far below zero by learning the labelled nodes by heart; nnPU
    mends that.

    Args:
        prior: positive share of the unlabelled nodes; must be known.
        surrogate: loss of a margin, ``sigmoid`` or ``logistic``.
    """

    name: ClassVar[str] = "upu"

    prior: float
    surrogate: Literal["sigmoid", "logistic"] = "sigmoid"

    def fit(
        self,
        task: PUTask,
        settings: TrainingSettings,
        *,
        checkpoint: Checkpoint | None = None,
        progress: bool = False,
    ) -> FittedMethod:
        """Train on what the task shows."""
        loss = UnbiasedLoss(self.prior, self.surrogate)
        return self.minimise(loss, self.prior, task, settings, checkpoint, progress)
