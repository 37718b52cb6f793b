"""Settings of backbone and optimiser, shared by Python, the command line and run files."""

from __future__ import annotations

from dataclasses import dataclass

from pugnn.errors import PugnnError


@dataclass(frozen=True)
class TrainingSettings:
    """How any method trains its network.

    The paper gives the backbone (a two-layer GCN with 16 hidden units) and nothing else; the other defaults
    are those of Kipf & Welling's GCN.

    Args:
        backbone: ``gcn``, ``gcn-linear``, ``gat``, ``gin``, ``sage`` or ``appnp``. Paper: GCN.
        hidden: size of the hidden layer. Paper: 16.
        dropout: share of inputs dropped before each layer.
        epochs: full passes; the last one's weights are kept, since there is no validation set to choose by.
        learning_rate: of Adam.
        weight_decay: on the first layer.
        seed: decides weights, dropout and sampling.
        device: ``cpu``, ``cuda``, ``cuda:1``, …
    """

    backbone: str = "gcn"
    hidden: int = 16
    dropout: float = 0.5
    epochs: int = 200
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise PugnnError(f"epochs must be at least 1, got {self.epochs}")
        if not self.learning_rate > 0:
            raise PugnnError(f"learning_rate must be positive, got {self.learning_rate}")
        if not self.weight_decay >= 0:
            raise PugnnError(f"weight_decay must not be negative, got {self.weight_decay}")
        if self.seed < 0:
            raise PugnnError(f"seed must not be negative, got {self.seed}")
