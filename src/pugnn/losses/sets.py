"""The sets of nodes that a PU loss compares, and means over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.errors import PugnnError


class SetMeans:
    """Means over sets of nodes of which one step sees a batch: the one home for what batches have in common.

    A mean has the value over all batches of the epoch so far and the gradient of the current batch alone, an unbiased
    estimate of the gradient of the whole mean. With a single batch that is the plain mean. Sums over several processes
    would be reduced here, too.

    Args:
        batches: number of batches per epoch.

    Example:
        >>> means = SetMeans(batches=2)
        >>> [float(means("labelled", torch.tensor(batch))) for batch in ([1.0, 3.0], [8.0])]
        [2.0, 4.0]
    """

    def __init__(self, batches: int = 1) -> None:
        self._single = batches == 1
        self._so_far: dict[str, tuple[Tensor, int]] = {}

    def __call__(self, key: str, values: Tensor) -> Tensor:
        """The mean of a set; ``key`` names set and quantity, ``values`` are those of this batch."""
        if self._single:
            return values.mean()
        before, count = self._so_far.get(key, (values.new_zeros(()), 0))
        total, count = before + values.detach().sum(), count + len(values)
        self._so_far[key] = total, count
        here = values.mean() if len(values) else values.sum()  # 0 where the batch has no node of the set
        return here + (total / max(count, 1) - here).detach()


@dataclass(frozen=True)
class Sets:
    """The sets of a batch, as rows of the network's output.

    Args:
        labelled: the known positives.
        unlabelled: the unlabelled nodes.
        negative: the known negatives, see :meth:`known_negatives`.
        near: unlabelled nodes near a known positive, where a loss asks for them, and
        far: all others.
        means: takes means over the sets.
        sizes: number of nodes of each set in the whole graph, by name, where the batch is a part of it.
    """

    labelled: Tensor
    unlabelled: Tensor
    negative: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.int64))
    near: Tensor | None = None
    far: Tensor | None = None
    means: SetMeans = field(default_factory=SetMeans)
    sizes: Mapping[str, int] | None = None

    @classmethod
    def of(
        cls, labelled: NDArray[np.int64], unlabelled: NDArray[np.int64], negative: NDArray[np.int64] | None = None
    ) -> Sets:
        """Sets of nodes, by position."""
        given = (labelled, unlabelled, np.zeros(0, np.int64) if negative is None else negative)
        known, free, rejected = (torch.from_numpy(np.array(nodes)) for nodes in given)
        return cls(known, free, rejected)

    @classmethod
    def split(cls, labelled: Tensor, near: Tensor, far: Tensor) -> Sets:
        """Known positives, and unlabelled nodes that are near and far."""
        return cls(labelled, torch.cat([near, far]), near=near, far=far)

    def to(self, device: torch.device | str) -> Sets:
        """The same sets on another device."""
        moved = {name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor)}
        return replace(self, **moved)  # type: ignore[arg-type]

    def mean(self, key: str, values: Tensor) -> Tensor:
        """The mean of a set, see :class:`SetMeans`."""
        return self.means(key, values)

    def sum(self, name: str, values: Tensor) -> Tensor:
        """The sum over all nodes of a set, ``values`` being those of its nodes in the batch."""
        return values.sum() if self.sizes is None else self.sizes[name] * self.mean(name, values)

    def size(self, name: str) -> int:
        """How many nodes a set has, in all batches together."""
        return len(getattr(self, name)) if self.sizes is None else self.sizes[name]

    @property
    def negative_share(self) -> float:
        r""":math:`\eta = \tfrac12 \min(1, n_N / n_L)`, what known negatives count against known positives.

        One counts half as much as a known positive, and all of them half as much as all known positives. Users check
        nodes that look positive, so known negatives are no random sample of all negatives: they speak for those among
        the likely nodes, of which there are about as many as positives.
        """
        return 0.5 * min(1.0, self.size("negative") / max(1, self.size("labelled")))

    def known_negatives(self, labelled_weight: float, losses: Tensor) -> dict[str, Tensor]:
        r"""The term of the known negatives, :math:`\eta\, w_L \operatorname{mean}_N \ell`, by name, if there are any.

        :math:`\eta` is :attr:`negative_share`.

        Args:
            labelled_weight: :math:`w_L`, weight of the mean over the known positives.
            losses: :math:`\ell` of the known negatives, 0 for one that is certainly classified as negative.
        """
        if not self.size("negative"):
            return {}
        weight = labelled_weight * self.negative_share
        return {"known_negative": weight * self.mean("known_negative", losses)}


def require_prior(prior: object) -> None:
    """A prior is a share of nodes, neither none nor all of them."""
    if not isinstance(prior, Real) or not 0.0 < float(prior) < 1.0:
        raise PugnnError(f"prior is a share of the unlabelled nodes and must lie between 0 and 1; got {prior!r}")
