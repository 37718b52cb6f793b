r"""Losses of a margin: :math:`\ell(g)` for a node treated as positive, :math:`\ell(-g)` as negative."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from pugnn.errors import PugnnError

#: ``sigmoid``: :math:`\sigma(-z)`, bounded and symmetric; ``logistic``: :math:`\log(1 + e^{-z})`, convex.
SURROGATES: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": lambda margin: torch.sigmoid(-margin),
    "logistic": lambda margin: F.softplus(-margin),
}


def require_surrogate(name: str) -> None:
    """Raise unless the surrogate is known."""
    if name not in SURROGATES:
        raise PugnnError(f"surrogate must be one of {', '.join(SURROGATES)}; got {name!r}")
