"""Backbones by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pugnn.errors import PugnnError, require_whole
from pugnn.models.appnp import APPNP
from pugnn.models.backbone import Backbone
from pugnn.models.gat import GAT
from pugnn.models.gcn import GCN
from pugnn.models.gin import GIN
from pugnn.models.lsdan import LSDAN
from pugnn.models.mlp import MLP
from pugnn.models.sage import GraphSAGE

#: Every backbone by its name on the command line.
BACKBONES: dict[str, Callable[..., Backbone]] = {
    "gcn": GCN,
    "gcn-linear": partial(GCN, linear_head=True),
    "gat": GAT,
    "gin": GIN,
    "sage": GraphSAGE,
    "appnp": APPNP,
    "lsdan": LSDAN,
    "mlp": MLP,
}


def make_backbone(name: str, num_features: int, *, hidden: int, dropout: float, **options: Any) -> Backbone:
    """Build a backbone by name, with its options if any; weights come from torch's global generator."""
    if name not in BACKBONES:
        raise PugnnError(f"there is no backbone {name!r}; choose one of {', '.join(BACKBONES)}")
    if num_features == 0:
        raise PugnnError(
            "the graph has no features, and a graph neural network needs some. Without attributes, "
            "give each node its own: features=scipy.sparse.eye_array(number_of_nodes, format='csr')"
        )
    require_whole("hidden", hidden, 1)
    if not 0.0 <= dropout < 1.0:
        raise PugnnError(f"dropout must lie in [0, 1), got {dropout}")
    return BACKBONES[name](num_features, hidden=hidden, dropout=dropout, **options)
