"""PyG's ``HeteroData`` as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pugnn.errors import PugnnError, shorten
from pugnn.graph.foreign import pyg_edges, pyg_features

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData


def hetero_tables(data: HeteroData, target: str | None) -> tuple[dict[Any, Any], dict[str, Any], dict[str, Any], str]:
    """Edges by relation, nodes and attributes by kind, and the target: the one given, or the only kind with labels.

    The id of a node is its position among those of its kind.
    """
    kinds = [str(kind) for kind in data.node_types]
    if target is None:
        labelled = [kind for kind in kinds if data[kind].get("y") is not None]
        if len(labelled) != 1:
            raise PugnnError(
                f"the PyG data has nodes of several kinds: {shorten(kinds, 20)}. Say which of them is looked for: "
                "read_graph(data, target=…)"
            )
        (target,) = labelled
    if not data.edge_types:
        raise PugnnError("the PyG data has no edges: it has no relation with an edge_index")
    edges: dict[Any, Any] = {}
    for one, name, other in data.edge_types:
        sizes = data[one].num_nodes, data[other].num_nodes
        source, to, weights = pyg_edges(data[one, name, other], *sizes)
        columns = {"source": source, "target": to}
        edges[one, name, other] = columns if weights is None else {**columns, "weight": weights}
    linked = {kind for one, _, other in data.edge_types for kind in (one, other)}
    nodes = {kind: {"id": np.arange(data[kind].num_nodes)} for kind in kinds if kind in linked}
    features = {kind: pyg_features(data[kind]) for kind in nodes}
    return edges, nodes, {kind: x for kind, x in features.items() if x is not None}, target
