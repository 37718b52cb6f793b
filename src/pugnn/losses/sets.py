"""The sets of nodes that a PU loss compares, and means over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from pugnn import processes
from pugnn.errors import PugnnError, given


@dataclass(frozen=True)
class Sets:
    """The sets of a batch, as rows of the network's output.

    Args:
        labelled: the known positives.
        unlabelled: the unlabelled nodes.
        negative: the known negatives, see :meth:`known_negatives`.
        near: unlabelled nodes near a known positive, where a loss asks for them, and
        far: all others.
        sizes: how many nodes the sets have in all, by name, where a batch, or this process, holds only some of them.
    """

    labelled: Tensor
    unlabelled: Tensor
    negative: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.int64))
    near: Tensor | None = None
    far: Tensor | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, labelled: ArrayLike, unlabelled: ArrayLike, negative: ArrayLike = ()) -> Sets:
        """Sets of nodes, by position."""
        tensors = [torch.from_numpy(np.array(nodes, np.int64)) for nodes in (labelled, unlabelled, negative)]
        return cls(tensors[0], tensors[1], tensors[2])

    @classmethod
    def split(cls, labelled: Tensor, near: Tensor, far: Tensor) -> Sets:
        """Known positives, and unlabelled nodes that are near and far."""
        return cls(labelled, torch.cat([near, far]), near=near, far=far)

    def to(self, device: torch.device | str) -> Sets:
        """The same sets on another device."""
        moved = {name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor)}
        return replace(self, **moved)  # type: ignore[arg-type]

    def size(self, name: str) -> int:
        """How many nodes a set has in all."""
        return self.sizes[name] if name in self.sizes else len(getattr(self, name))

    @staticmethod
    def mean(values: Tensor, weights: Tensor | None = None) -> Tensor:
        """The mean over a set, along the first dimension; 0 without any node.

        Where several processes share a batch, values and counts are sums over all of them, and gradients those of each
        one's own share: they add up to the gradient of the batch.

        Args:
            values: those of the batch, one per node, or one row.
            weights: how much each value counts; by default all the same.
        """
        if processes.count() == 1 and len(values):
            return values.mean(dim=0) if weights is None else (values * weights).sum(dim=0) / weights.sum(dim=0)
        if weights is None:
            total, number = values.sum(dim=0), torch.full_like(values[:1].sum(dim=0), len(values))
        else:
            total, number = (values * weights).sum(dim=0), weights.sum(dim=0)
        # Added up in double precision, which counts to any number and hardly depends on how a batch is shared.
        whole = processes.sum_over_processes(torch.stack([total, number]).double()).to(values.dtype)
        return whole[0] / whole[1].where(whole[1] > 0, 1.0)

    def sum(self, name: str, values: Tensor) -> Tensor:
        """The sum over all nodes of a set, ``values`` being those of its nodes in the batch."""
        return self.sizes[name] * self.mean(values) if name in self.sizes else values.sum()

    @property
    def negative_weight(self) -> float:
        r""":math:`\eta = \tfrac12 \min(1, n_N / n_L)`, what known negatives count against known positives in a loss.

        (Their share in what rankings compare known positives with is another one:
        :attr:`pugnn.evidence.hidden_positives.FoldedTask.negative_share`.)

        One counts half as much as a known positive, and all of them half as much as all known positives. Users check
        nodes that look positive, so known negatives are no random sample of all negatives: they speak for those among
        the likely nodes, of which there are about as many as positives.
        """
        return 0.5 * min(1.0, self.size("negative") / max(1, self.size("labelled")))

    def known_negatives(self, labelled_weight: float, losses: Tensor) -> dict[str, Tensor]:
        r"""The term of the known negatives, :math:`\eta\, w_L \operatorname{mean}_N \ell`, by name, if there are any.

        :math:`\eta` is :attr:`negative_weight`.

        Args:
            labelled_weight: :math:`w_L`, weight of the mean over the known positives.
            losses: :math:`\ell` of the known negatives, 0 for one that is certainly classified as negative.
        """
        if not self.size("negative"):
            return {}
        weight = labelled_weight * self.negative_weight
        return {"known_negative": weight * self.mean(losses.flatten())}


def require_prior(prior: object, typed: object = None) -> None:
    """Raise unless a prior is a share of nodes, neither none nor all of them; ``typed`` is how the user wrote it."""
    if not isinstance(prior, Real) or not 0.0 < float(prior) < 1.0:
        written = given(prior if typed is None else typed)
        raise PugnnError(f"prior is a share of the unlabelled nodes and must lie between 0 and 1; got {written}")
