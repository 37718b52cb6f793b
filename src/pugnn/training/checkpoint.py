"""The saved state of a training."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor, nn

from pugnn import processes
from pugnn.errors import PugnnError
from pugnn.training.sealed import load_sealed, save_sealed

Log = list[dict[str, float]]
Weights = dict[str, Tensor]

_KINDS = ("weights", "optimizer", "best")


@dataclass(frozen=True)
class Part:
    """The state of one training of a method: weights, optimiser and log so far.

    ``best`` are the weights of the lowest loss so far, where a training keeps those.
    """

    weights: Weights
    optimizer: Weights
    best: Weights
    log: Log
    finished: bool


class Checkpoint:
    """One file with the state of a method's trainings: those that are finished, and the one in progress.

    Of several processes, the first one reads and writes it; the others get its content from that one.

    Args:
        path: the file.
        identity: names the problem and its settings; a file with another identity is rejected.
        every: save after this many epochs,
        seconds: and after an epoch that ends so long after the last time.
    """

    def __init__(self, path: Path, identity: str, every: int = 20, seconds: float = 180.0) -> None:
        self.path = path
        self.identity = identity
        self.every, self.seconds = every, seconds
        self._parts: list[Part] | None = None
        self._batch_size: int | None = None
        self._saved = time.monotonic()

    def due(self, epochs: int) -> bool:
        """Whether to save after so many epochs."""
        return epochs % self.every == 0 or time.monotonic() - self._saved >= self.seconds

    def same_batch_size(self, chosen: int | None) -> int | None:
        """The batch size that a training which continues has had so far; otherwise the one that is chosen now.

        ``None`` is the whole graph. What is chosen depends on the memory that is available.
        """
        if not self._read():
            self._batch_size = chosen
        return self._batch_size

    def load(self, number: int) -> Part | None:
        """The state of the training with this number, if there is one in the file."""
        parts = self._read()
        return parts[number] if number < len(parts) else None

    def save(self, number: int, part: Part) -> None:
        """Write a training's state, after those of the trainings before it, in place of the older file."""
        parts = self._parts = [*self._read()[:number], part]
        if processes.rank():
            return
        tensors = {
            f"{i}.{kind}.{name}": tensor
            for i, each in enumerate(parts)
            for kind in _KINDS
            for name, tensor in getattr(each, kind).items()
        }
        records = [{"log": each.log, "finished": each.finished} for each in parts]
        save_sealed(self.path, tensors, {"identity": self.identity, "parts": records, "batch_size": self._batch_size})
        self._saved = time.monotonic()

    def _read(self) -> list[Part]:
        if self._parts is not None:
            return self._parts
        self._parts = []
        if processes.value_of_first(self.identity) != self.identity:
            raise PugnnError(
                f"process {processes.rank()} has different data or settings from the first one. Give all of them the "
                "same files and options."
            )
        own = load_sealed(self.path) if processes.rank() == 0 and self.path.exists() else None
        found = processes.value_of_first(own)
        if found is None:
            return self._parts
        tensors, metadata = found
        if metadata.get("identity") != self.identity:
            raise PugnnError(
                f"{self.path} belongs to a run with other data or settings. Repeat that run's options to "
                "continue it, or remove the file to start again."
            )
        self._batch_size = metadata.get("batch_size")
        try:
            for i, record in enumerate(metadata["parts"]):
                weights, optimizer, best = (_with_prefix(tensors, f"{i}.{kind}.") for kind in _KINDS)
                self._parts.append(Part(weights, optimizer, best, record["log"], record["finished"]))
        except (LookupError, TypeError) as error:
            raise PugnnError(f"{self.path} is not a checkpoint: {error!r}. Remove it to start again.") from None
        return self._parts


def copy_of_weights(model: nn.Module) -> Weights:
    """A copy of the current weights."""
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


def _with_prefix(tensors: Weights, prefix: str) -> Weights:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
