"""Settings of backbone and optimiser, shared by Python, the command line and run files; seeds and devices of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from pugnn import processes
from pugnn.errors import PugnnError, require_number, require_whole
from pugnn.models import BackboneLike
from pugnn.models.backbone import require_sizes

#: A larger decay would leave nothing of the weights.
MAX_DECAY = 1e6


@dataclass(frozen=True)
class TrainingSettings:
    """How any method trains its network.

    The paper only specifies the backbone (a two-layer GCN with 16 hidden units); the other defaults are those of
    Kipf & Welling's GCN.

    Args:
        backbone: name of the network. Paper: GCN.
        hidden: size of the hidden layer. Paper: 16.
        dropout: share of inputs dropped before each layer.
        epochs: passes over the graph; the weights of the last one are kept.
        learning_rate: of Adam.
        weight_decay: on the first layer.
        batch_size: unlabelled nodes per step, or ``auto``: all of them if they fit into memory, otherwise as many as
            do.
        seed: controls weights, dropout and sampling.
        device: ``cpu``, ``cuda``, ``cuda:1``, …
    """

    backbone: BackboneLike = "gcn"
    hidden: int = 16
    dropout: float = 0.5
    epochs: int = 200
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    batch_size: int | str = "auto"
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        require_sizes(self.hidden, self.dropout)
        require_whole("epochs", self.epochs, 1)
        require_whole("seed", self.seed, 0)
        if isinstance(self.batch_size, str) and self.batch_size.isdecimal():  # from a command line
            object.__setattr__(self, "batch_size", int(self.batch_size))
        if not isinstance(self.batch_size, str):
            require_whole("batch_size", self.batch_size, 1)
        elif self.batch_size != "auto":
            raise PugnnError(f"batch_size must be a whole number, or 'auto'; got {self.batch_size!r}")
        require_number("learning_rate", self.learning_rate)
        require_number("weight_decay", self.weight_decay, negative=False)
        if self.weight_decay > MAX_DECAY:
            raise PugnnError(f"weight_decay must be at most {MAX_DECAY:g}, got {self.weight_decay}")
        if not isinstance(self.device, str):
            raise PugnnError(f"device must be a name, got {self.device!r}")
        if not isinstance(self.backbone, str) and not callable(self.backbone):
            raise PugnnError(f"backbone must be a name, a factory or a network; got {self.backbone!r}")
        if not self.learning_rate > 0:
            raise PugnnError(f"learning_rate must be positive, got {self.learning_rate}")


def derive_seed(seed: int, *path: int) -> int:
    """A 63-bit seed that depends on ``seed`` and on every number of ``path``.

    All randomness of an epoch comes from ``derive_seed(seed, epoch, …)``, so a resumed run needs no state of a
    generator.

    Example:
        >>> derive_seed(0, 1) == derive_seed(0, 1), derive_seed(0, 1) == derive_seed(0, 2)
        (True, False)
    """
    # The length is included because a SeedSequence ignores trailing zeros.
    sequence = np.random.SeedSequence([len(path), seed, *path])
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


def resolve_device(name: str) -> torch.device:
    """The torch device of that name."""
    try:
        device = torch.device(name)
    except RuntimeError:
        device = torch.device("meta")
    if device.type not in ("cpu", "cuda"):
        raise PugnnError(f"there is no device {name!r}; use cpu, cuda or cuda:1")
    if device.type == "cpu":
        return device
    if not torch.cuda.is_available():
        raise PugnnError("device='cuda' was requested, but torch sees no CUDA device; use device='cpu'")
    index: int | None = device.index  # torch's types deny that there may be none
    if processes.count() > 1:
        if index is not None:
            raise PugnnError(f"each process takes its own device; use device='cuda' instead of {name!r}")
        index = processes.number_on_host()
    elif index is None:
        index = torch.cuda.current_device()
    if index >= torch.cuda.device_count():
        raise PugnnError(f"there is no device 'cuda:{index}'; torch sees {torch.cuda.device_count()} CUDA devices")
    return torch.device("cuda", index)  # numbered, so that one device has one name
