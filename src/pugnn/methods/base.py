"""What every method offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from pugnn.data.protocol import PUTask
from pugnn.models import Backbone
from pugnn.training import Checkpoint, TrainingSettings
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


class Method(Protocol):
    """A recipe; a dataclass whose fields are its settings."""

    name: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def fit(
        self,
        task: PUTask,
        settings: TrainingSettings,
        *,
        checkpoint: Checkpoint | None = None,
        progress: bool = False,
    ) -> FittedMethod:
        """Train on what the task shows."""
        ...
