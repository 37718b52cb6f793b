"""NetworkX and PyG graphs as checked arrays."""

from __future__ import annotations

import sys
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError, require_type, shorten
from pugnn.graph import arrays

if TYPE_CHECKING:
    import networkx as nx
    from torch import Tensor
    from torch_geometric.data import Data

    from pugnn.graph.graph import Graph


def adjacency_matrix(given: Any) -> sp.coo_array:
    """A square matrix of numbers, sparse or dense, in COO form."""
    what = "the adjacency matrix"
    matrix = arrays.sound_matrix(given, what) if sp.issparse(given) else arrays.as_array(given, what)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf":
        raise PugnnError(f"{what} must be square and hold numbers; got shape {matrix.shape} of {matrix.dtype}")
    return sp.coo_array(matrix)


def networkx_parts(
    graph: nx.Graph[Any], features: Any, weight: str | None
) -> tuple[list[Any], NDArray[np.int64], Any, list[float] | None]:
    """Nodes, positions of both ends of each edge, features and weights of a NetworkX graph, as a user asks for them."""
    networkx = sys.modules.get("networkx")
    if networkx is None or not isinstance(graph, networkx.Graph):
        raise PugnnError(f"expected a NetworkX graph, got {type(graph).__name__}")
    require_type("weight", weight, str | None, "the name of an edge attribute")
    names = list(dict.fromkeys(name for _, attributes in graph.nodes(data=True) for name in attributes))
    if features is None and names:
        raise PugnnError(
            f"the nodes have attributes, which would be lost: {shorten(names)}. read_graph(graph).graph makes features "
            "of all of them; features='x' takes vectors from the attribute x; features=() leaves all out."
        )
    if isinstance(features, str):
        features = _networkx_features(graph, features)
    elif isinstance(features, tuple) and not features:
        features = None
    nodes = list(graph.nodes)
    position = {node: i for i, node in enumerate(nodes)}
    ends = np.asarray([(position[u], position[v]) for u, v in graph.edges()], dtype=np.int64).reshape(-1, 2)
    return nodes, ends, features, None if weight is None else _networkx_weights(graph, weight)


def _networkx_features(graph: nx.Graph[Any], name: str) -> NDArray[Any]:
    """A node attribute that holds vectors, as a matrix in node order."""
    vectors = dict(graph.nodes(data=name))
    bare = [node for node, vector in vectors.items() if vector is None]
    if bare:
        raise PugnnError(f"{len(bare):,} nodes have no attribute {name!r}: {shorten(bare)}")
    arrays.reject_masked(list(vectors.values()), f"attributes {name!r}")
    rows = [np.atleast_1d(vector) for vector in vectors.values()]
    shapes = {row.shape for row in rows}
    if len(shapes) > 1:
        raise PugnnError(f"the node attribute {name!r} has vectors of several shapes: {shorten(sorted(shapes))}")
    return np.asarray(rows)


def _networkx_weights(graph: nx.Graph[Any], name: str) -> list[float] | None:
    """An edge attribute as weights; edges without it weigh one, as in NetworkX. ``None`` if none has ``weight``."""
    if not any(name in attributes for _, _, attributes in graph.edges(data=True)):
        if name == "weight" or not graph.number_of_edges():
            return None
        raise PugnnError(f"no edge has an attribute {name!r} to use as weight")
    weights: list[Any] = []
    for u, v, weight in graph.edges(data=name, default=1.0):
        if not isinstance(weight, Real):
            raise PugnnError(f"the edge from {u!r} to {v!r} has the weight {weight!r}, which is not a number")
        weights.append(weight)
    return weights


def pyg_adjacency(data: Data) -> sp.coo_array:
    """The adjacency matrix of a PyG ``Data`` object; entries are one if it has no weights."""
    n = arrays.require_num_nodes(getattr(data, "num_nodes", 0))
    *ends, weights = pyg_edges(data, n, n)
    values = np.ones(len(ends[0]), dtype=np.float32) if weights is None else weights
    return sp.coo_array((values, tuple(ends)), shape=(n, n))


def pyg_edges(
    data: Any, num_sources: int, num_targets: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32] | None]:
    """Positions of sources and targets, and weights, in PyG's edges between so many nodes."""
    edge_index, weights = getattr(data, "edge_index", None), getattr(data, "edge_weight", None)
    if edge_index is None or edge_index.ndim != 2 or len(edge_index) != 2:
        raise PugnnError("the PyG data has no edges: edge_index must be a tensor of shape (2, number of edges)")
    sizes = (num_sources, num_targets)
    one, other = (
        arrays.positions_within(part, size, "edge_index")
        for part, size in zip(_array_of(edge_index), sizes, strict=True)
    )
    return one, other, None if weights is None else arrays.as_weights(_array_of(weights), len(one))


def pyg_features(data: Any) -> NDArray[Any] | sp.csr_array | None:
    """The features in PyG data, of all nodes or of one kind; sparse ones stay sparse."""
    import torch

    x = getattr(data, "x", None)
    if x is None or x.layout is torch.strided:
        return None if x is None else _array_of(x)
    what = "the matrix x of the PyG data"
    if x.layout is torch.sparse_csr:  # read by its parts: torch would follow whatever positions they hold
        parts = _array_of(x.values()), _array_of(x.col_indices()), _array_of(x.crow_indices())
    else:
        coo = x.to_sparse_coo()
        parts = _array_of(coo._values()), tuple(_array_of(coo._indices()))  # type: ignore[assignment]
    try:
        return sp.csr_array(arrays.sound_matrix(sp.csr_array(parts, shape=tuple(x.shape)), what))
    except ValueError as error:
        raise PugnnError(f"{what} cannot be read: {error}") from None


def pyg_data(graph: Graph) -> Data:
    """A PyG ``Data`` object of a graph."""
    import torch
    from torch_geometric.data import Data

    edge_index = torch.from_numpy(np.stack([graph.sources, graph.indices]).astype(np.int64))
    if isinstance(graph.features, np.ndarray):
        x = torch.from_numpy(graph.features.copy())
    else:
        csr = graph.features
        rows, columns = (torch.from_numpy(part.astype(np.int64)) for part in (csr.indptr, csr.indices))
        values = torch.from_numpy(csr.data.copy())
        x = torch.sparse_csr_tensor(rows, columns, values, size=csr.shape, check_invariants=True)
    data = Data(x=x, edge_index=edge_index, num_nodes=graph.num_nodes)
    if graph.weights is not None:
        data.edge_weight = torch.from_numpy(graph.weights.copy())
    return data


def _array_of(tensor: Tensor) -> NDArray[Any]:
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype.itemsize < 4 and tensor.is_floating_point() else tensor).numpy()
