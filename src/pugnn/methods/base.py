"""What every method offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from pugnn.data.protocol import PUTask
from pugnn.losses import Sets
from pugnn.models import Backbone, Output
from pugnn.training import Checkpoint, Seed, TrainingSettings, make_network, resolve_device, train
from pugnn.training.checkpoint import Log


@dataclass(frozen=True)
class FittedMethod:
    """What a method leaves behind.

    Args:
        model: the trained network.
        log: every term of the loss at every epoch.
        prior: positive share of the unlabelled nodes that the method assumed or found.
    """

    model: Backbone
    log: Log
    prior: float


@dataclass(frozen=True)
class Method(ABC):
    """A recipe: a dataclass whose fields are its settings."""

    name: ClassVar[str]
    #: It trains a network, for which the settings of the training are.
    trains: ClassVar[bool] = True

    @property
    def training(self) -> dict[str, Any]:
        """Settings of the training that the method's authors use and that differ from the general ones."""
        return {}

    def build(self, num_features: int, settings: TrainingSettings) -> Backbone:
        """The network that the method trains, with new weights."""
        return make_network(num_features, settings)

    @abstractmethod
    def fit(
        self,
        task: PUTask,
        settings: TrainingSettings,
        *,
        checkpoint: Checkpoint | None = None,
        progress: bool = False,
    ) -> FittedMethod:
        """Train on what the task shows."""


@dataclass(frozen=True)
class LossMethod(Method):
    """A method that is all in its loss of the logits."""

    @abstractmethod
    def loss(self) -> Callable[[Tensor, Sets], dict[str, Tensor]]:
        """The loss that the network is trained on."""

    def fit(
        self,
        task: PUTask,
        settings: TrainingSettings,
        *,
        checkpoint: Checkpoint | None = None,
        progress: bool = False,
    ) -> FittedMethod:
        """Train on what the task shows."""
        loss, sets = self.loss(), Sets.of(task.labelled, task.unlabelled, resolve_device(settings.device))

        def objective(output: Output, seed: Seed) -> dict[str, Tensor]:  # noqa: ARG001
            return loss(output.logit, sets)

        trained = train(task.graph, objective, settings, build=self.build, checkpoint=checkpoint, progress=progress)
        known: float | None = getattr(self, "prior", None)
        return FittedMethod(trained.model, trained.log, known or 0.0)


def join_logs(logs: list[Log]) -> Log:
    """Several trainings as one: epochs and seconds go on, a term that one of them does not have is 0 there."""
    names = list(dict.fromkeys(name for log in logs for name in log[0]))
    names = [*(name for name in names if name not in ("total", "seconds")), "total", "seconds"]
    joined: Log = []
    for log in logs:
        seconds = joined[-1]["seconds"] if joined else 0.0
        for record in log:
            whole = {name: record.get(name, 0.0) for name in names}
            joined.append({**whole, "epoch": len(joined) + 1, "seconds": seconds + record["seconds"]})
    return joined
