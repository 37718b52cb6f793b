"""Settings of backbone and optimiser, shared by Python, the command line and run files."""

from __future__ import annotations

from dataclasses import dataclass

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
        size = self.batch_size
        if isinstance(size, str) and size.isdecimal():  # from a command line
            size = int(size)
            object.__setattr__(self, "batch_size", size)
        if isinstance(size, str) and size != "auto":
            raise PugnnError(f"batch_size must be a whole number, or 'auto'; got {size!r}")
        if not isinstance(size, str):
            require_whole("batch_size", size, 1)
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
