r"""Losses of a margin: :math:`\ell(g)` for a node treated as positive, :math:`\ell(-g)` as negative."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

#: ``sigmoid``: :math:`\sigma(-z)`, bounded and symmetric; ``logistic``: :math:`\log(1 + e^{-z})`, convex.
SURROGATES: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": lambda margin: torch.sigmoid(-margin),
    "logistic": lambda margin: F.softplus(-margin),
}
