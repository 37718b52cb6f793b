"""Saving the state of a training, and going on from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pugnn.errors import PugnnError
from pugnn.training.sealed import load_sealed, save_sealed

Log = list[dict[str, float]]


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often the state is saved.

    Args:
        path: the file.
        identity: names the problem and its settings; a file with another identity is refused.
        every: save after this many epochs.
    """

    path: Path
    identity: str
    every: int = 20

    def save(self, model: nn.Module, optimizer: torch.optim.Optimizer, log: Log) -> None:
        """Write weights, optimiser state and log in place of the older file."""
        tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
        for index, state in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{name}": torch.as_tensor(value) for name, value in state.items()}
        save_sealed(self.path, tensors, {"identity": self.identity, "log": log})

    def restore(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> Log:
        """Load the state into model and optimiser if the file exists; return the log of the epochs behind it."""
        if not self.path.exists():
            return []
        tensors, metadata = load_sealed(self.path)
        if metadata.get("identity") != self.identity:
            raise PugnnError(
                f"{self.path} belongs to a run with other data or settings. Repeat that run's options to go on "
                "with it, or remove the file to start anew."
            )
        model.load_state_dict(_with_prefix(tensors, "model."))
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in _with_prefix(tensors, "optimizer.").items():
            index, key = name.split(".", 1)
            state.setdefault(int(index), {})[key] = tensor
        whole: dict[str, Any] = optimizer.state_dict()
        optimizer.load_state_dict({**whole, "state": state})
        log: Log = metadata["log"]
        return log


def _with_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
