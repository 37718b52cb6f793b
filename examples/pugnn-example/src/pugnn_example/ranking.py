"""A method: known positives should score higher than unlabelled nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch.nn.functional as F
from torch import Tensor

from pugnn.losses import Sets
from pugnn.methods import METHODS, LossMethod


@METHODS.register("ranking")
@dataclass(frozen=True)
class Ranking(LossMethod):
    """The mean known positive ranks above the unlabelled nodes by a margin.

    Args:
        margin: by how much the logit of a known positive should exceed that of an unlabelled node.
        penalty: what a smaller difference costs, ``hinge`` or ``squared``.
    """

    margin: float = 1.0
    penalty: Literal["hinge", "squared"] = "hinge"

    def loss(self) -> Callable[[Tensor, Sets], dict[str, Tensor]]:
        """The loss that the network is trained on."""

        def ranking(logits: Tensor, sets: Sets) -> dict[str, Tensor]:
            known = sets.mean(logits[sets.labelled])
            shortfall = F.relu(self.margin - known + logits[sets.unlabelled])
            cost = shortfall if self.penalty == "hinge" else shortfall.square()
            return {"ranking": sets.mean(cost), "centre": 0.01 * known.square()}

        return ranking
