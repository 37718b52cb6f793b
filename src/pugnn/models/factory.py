"""From a name, a factory or a module to a backbone."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from pugnn.errors import PugnnError, require_whole
from pugnn.models.backbone import BACKBONES, Backbone

#: A registered name, a factory such as the class of a network, or a network to start from.
BackboneLike = str | Callable[..., Backbone] | Backbone


def make_backbone(
    backbone: BackboneLike, num_features: int, *, hidden: int, dropout: float, **options: Any
) -> Backbone:
    """Build a backbone; weights come from torch's global generator.

    Args:
        backbone: a registered name; a factory, called with the arguments below; or a network, of which a copy is used.
        num_features: F.
        hidden: size of the hidden layer.
        dropout: share of inputs dropped before each layer.
        options: further ones of the backbone's own.
    """
    if num_features == 0:
        raise PugnnError(
            "the graph has no features, and a graph neural network needs some. Without attributes, "
            "give each node its own: features=scipy.sparse.eye_array(number_of_nodes, format='csr')"
        )
    require_whole("hidden", hidden, 1)
    if not 0.0 <= dropout < 1.0:
        raise PugnnError(f"dropout must lie in [0, 1), got {dropout}")
    if isinstance(backbone, Backbone):
        return copy.deepcopy(backbone)
    make = BACKBONES[backbone] if isinstance(backbone, str) else backbone
    made = make(num_features, hidden=hidden, dropout=dropout, **options)
    if not isinstance(made, Backbone):
        raise PugnnError(f"{backbone_name(backbone)} made a {type(made).__name__}, not a pugnn.models.Backbone")
    return made


def backbone_name(backbone: BackboneLike) -> str:
    """Its name in messages and records."""
    if isinstance(backbone, str):
        return backbone
    return getattr(backbone, "__qualname__", type(backbone).__qualname__)
