"""The two sets of nodes that every PU loss uses."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.errors import PugnnError
from pugnn.losses.distance_aware import NearFar


@dataclass(frozen=True)
class Sets:
    """Positions of the labelled and the unlabelled nodes."""

    labelled: Tensor
    unlabelled: Tensor

    @classmethod
    def of(cls, labelled: NDArray[np.int64], unlabelled: NDArray[np.int64], device: torch.device | str = "cpu") -> Sets:
        """The sets as tensors on a device."""
        return cls(*(torch.from_numpy(np.array(part)).to(device) for part in (labelled, unlabelled)))


#: Accepted by losses that need only labelled and unlabelled nodes.
AnySets = Sets | NearFar


def require_prior(prior: object) -> None:
    """Raise unless the prior lies strictly between 0 and 1."""
    if not isinstance(prior, Real) or not 0.0 < float(prior) < 1.0:
        raise PugnnError(f"prior is a share of the unlabelled nodes and must lie between 0 and 1; got {prior!r}")
