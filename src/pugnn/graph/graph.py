"""The graph structure used throughout the package."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pugnn.errors import Displayed, PugnnError, counted, require_type, require_whole, shorten
from pugnn.graph import arrays
from pugnn.graph.adjacency import Cleaning, symmetric_csr
from pugnn.graph.digests import graph_digests
from pugnn.graph.foreign import adjacency_matrix, networkx_parts, pyg_adjacency, pyg_data, pyg_features
from pugnn.graph.relations import Relation, require_relations
from pugnn.graph.stored import Stored

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Displayed):
    """An immutable, undirected, simple graph with features and the user's own node ids.

    Build one with :meth:`from_edges`, :meth:`from_scipy`, :meth:`from_networkx` or :meth:`from_pyg`, which clean the
    edges and record the changes in :attr:`cleaning`.

    Args:
        indptr: row starts of the symmetric adjacency in CSR form, shape ``(N + 1,)``.
        indices: neighbours of each node, sorted, without the node itself, shape ``(2E,)``.
        features: ``(N, F)``, float32, dense or ``scipy.sparse.csr_array``.
        ids: one unique id per node, any hashable type, shape ``(N,)``.
        weights: one positive weight per entry of ``indices``, or ``None``.
        feature_names: one per column of ``features``, or ``None``; a model rejects a graph with different names.
        cleaning: how the given edges were cleaned.
        recipe: how features were made from tables (a serialised :class:`pugnn.features.Recipe`), or ``None``.
        stored: the store that all arrays are memory-mapped from, or ``None``.
        relations: kinds of edges by name, if there are several; the arrays above are of all together.
        kinds: number of nodes of each kind by name, in their order, if there are several. The first is the target: only
            its nodes are labelled, unlabelled and ranked.

    Example:
        >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cleo"], ids=["ann", "bob", "cleo"])
        >>> graph
        Graph(3 nodes, 2 edges, 0 features)
        >>> graph.neighbours(1)
        array([0, 2], dtype=int32)
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    features: arrays.Features
    ids: NDArray[Any]
    weights: NDArray[np.float32] | None = None
    feature_names: tuple[str, ...] | None = None
    cleaning: Cleaning = field(default_factory=Cleaning)
    recipe: Mapping[str, Any] | None = None
    stored: Stored | None = None
    relations: Mapping[str, Relation] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.stored is None:
            arrays.require_adjacency(self.indptr, self.indices, self.weights)
        arrays.require_graph_parts(self.features, self.ids, self.feature_names)
        n = self.num_nodes
        parts = (self.indptr, self.indices, self.features, self.ids, self.weights, self.relations)
        if self.stored is not None and any(one is not own for one, own in zip(parts, self.stored.parts, strict=True)):
            object.__setattr__(self, "stored", None)  # one of them was replaced
        if self.features.ndim != 2 or self.features.shape[0] != n:
            raise PugnnError(f"features have shape {self.features.shape}, expected ({n}, number of features)")
        if len(self.ids) != n:
            raise PugnnError(f"{len(self.ids)} ids were given for {n} nodes")
        if self.feature_names is not None and len(self.feature_names) != self.num_features:
            raise PugnnError(f"{len(self.feature_names)} feature names for {self.num_features} features")
        require_relations(self.relations, self.kinds, n, sound=self.stored is not None)
        if self.stored is not None:  # the rest was checked before it was stored, and the arrays are not read here
            return
        if not isinstance(self.features, np.ndarray):
            arrays.sound_matrix(self.features, "the matrix of features")
            for part in (self.features.data, self.features.indices, self.features.indptr):
                part.flags.writeable = False
        arrays.reject_infinite(self.features, self.ids)
        for name in ("indptr", "indices", "features", "ids", "weights"):
            array = getattr(self, name)
            if isinstance(array, np.ndarray):
                view = array.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    # ------------------------------------------------------------------ sizes and look-ups

    @property
    def num_nodes(self) -> int:
        """Number of nodes, N."""
        return len(self.indptr) - 1

    @property
    def num_targets(self) -> int:
        """Number of nodes of the target kind, which come first; all nodes if there is one kind."""
        return next(iter(self.kinds.values()), self.num_nodes)

    def kind_of(self, node: int) -> str:
        """The kind of the node at position ``node``; empty if there is one kind."""
        for kind, size in self.kinds.items():
            if node < size:
                return kind
            node -= size
        return ""

    @property
    def num_edges(self) -> int:
        """Number of undirected edges, E."""
        return len(self.indices) // 2

    @property
    def num_features(self) -> int:
        """Number of features, F."""
        return int(self.features.shape[1])

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbours of each node, shape ``(N,)``."""
        return np.diff(self.indptr)

    @cached_property
    def sources(self) -> NDArray[np.int32]:
        """The node that each entry of ``indices`` is a neighbour of, shape ``(2E,)``."""
        return np.repeat(np.arange(self.num_nodes, dtype=np.int32), self.degrees)

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """Number of the connected component that each node is in, from 0, shape ``(N,)``."""
        from pugnn.graph.measures import connected_components

        found: NDArray[np.int32] = connected_components(self.indptr, self.indices)
        return found

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """A digest of each part: of edges, weights, ids and features; see :func:`pugnn.graph.digests.graph_digests`."""
        return graph_digests(self)

    def neighbours(self, node: int) -> NDArray[np.int32]:
        """Sorted positions of the neighbours of the node at position ``node``."""
        require_whole("node", node, 0, self.num_nodes - 1)
        return self.indices[self.indptr[node] : self.indptr[node + 1]]

    @cached_property
    def _position_of_id(self) -> dict[Hashable, int]:
        return {node_id: position for position, node_id in enumerate(self.ids.tolist())}

    def find(self, ids: Sequence[Any] | NDArray[Any]) -> NDArray[np.int64]:
        """Positions of the nodes with these ids; −1 for ids that are not in the graph."""
        wanted = arrays.listed(ids, "ids")
        if self.stored is not None:
            return self.stored.find(wanted)
        try:
            return np.array([self._position_of_id.get(node_id, -1) for node_id in wanted], dtype=np.int64)
        except TypeError as error:
            raise PugnnError(f"these cannot be node ids: {shorten(wanted)} ({error})") from None

    def positions(self, ids: Sequence[Any] | NDArray[Any]) -> NDArray[np.int64]:
        """Positions of the nodes with these ids; unknown ids raise an error."""
        wanted = arrays.listed(ids, "ids")
        found = self.find(wanted)
        if (found < 0).any():
            unknown = [wanted[at] for at in np.flatnonzero(found < 0)]
            raise PugnnError(
                f"{len(unknown):,} of {len(found):,} ids are not in the graph: {shorten(unknown)}. "
                f"The graph's ids look like {shorten(self.ids[:3])}; type and white space must agree."
            )
        return found

    def _facts(self) -> list[str]:
        of_kinds = [f"{counted(size, 'node')} of the kind {kind}" for kind, size in self.kinds.items()]
        nodes = of_kinds or [f"{self.num_nodes:,} nodes"]
        relations = [f"{len(self.relations):,} relations"] if self.relations else []
        return [*nodes, f"{self.num_edges:,} edges", *relations, f"{self.num_features:,} features"]

    # ------------------------------------------------------------------ construction

    @classmethod
    def from_edges(
        cls,
        source: ArrayLike,
        target: ArrayLike,
        *,
        ids: Sequence[Any] | NDArray[Any] | None = None,
        num_nodes: int | None = None,
        features: ArrayLike | sp.sparray | sp.spmatrix | None = None,
        weights: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> Graph:
        """Build a graph from two arrays of edge ends.

        The ends are node ids if ``ids`` is given, otherwise positions ``0 … N-1``. Direction and self loops are
        dropped; repeats are merged and their weights added. ``num_nodes`` is needed only if there are neither ids
        nor features and the last nodes have no edge.
        """
        if num_nodes is not None:
            num_nodes = arrays.require_num_nodes(num_nodes)
        matrix = None if features is None else arrays.as_features(features)
        if ids is not None:
            node_ids = arrays.as_ids(ids)
            n = len(node_ids)
            if num_nodes not in (None, n):
                raise PugnnError(f"{n:,} ids were given for num_nodes={num_nodes:,}")
            lookup = {node_id: position for position, node_id in enumerate(node_ids.tolist())}
            u, v = (arrays.ends_from_ids(end, lookup) for end in (source, target))
        else:
            known = num_nodes if num_nodes is not None or matrix is None else matrix.shape[0]
            limit, hint = arrays.MAX_NODES if known is None else known, "if they are ids, pass `ids`"
            u, v = (arrays.positions_within(end, limit, "edge ends", hint) for end in (source, target))
            n = int(max(u.max(initial=-1), v.max(initial=-1))) + 1 if known is None else known
            node_ids = np.arange(arrays.require_num_nodes(n))
        if len(u) != len(v):
            raise PugnnError(f"{len(u)} edge sources but {len(v)} edge targets")
        edge_weights = None if weights is None else arrays.as_weights(weights, len(u))
        indptr, indices, merged, cleaning = symmetric_csr(n, u, v, edge_weights)
        names = None if feature_names is None else tuple(arrays.listed(feature_names, "feature_names"))
        for name in names or ():
            require_type("a feature name", name, str, "text")
        matrix = np.zeros((n, 0), dtype=np.float32) if matrix is None else matrix
        return cls(indptr, indices, matrix, node_ids, merged, names, cleaning)

    @classmethod
    def from_scipy(
        cls,
        adjacency: sp.sparray | sp.spmatrix,
        *,
        ids: Sequence[Any] | NDArray[Any] | None = None,
        features: ArrayLike | sp.sparray | sp.spmatrix | None = None,
        weighted: bool = False,
    ) -> Graph:
        """Build a graph from a square adjacency matrix, symmetric or not.

        Entries count as edges of weight one unless ``weighted`` is set. A symmetric matrix gives each edge once;
        otherwise direction is dropped and the weights of both directions are added.
        """
        coo = adjacency_matrix(adjacency)
        require_type("weighted", weighted, bool, "True or False")
        arrays.require_num_nodes(coo.shape[0])
        coo.eliminate_zeros()
        if (abs(coo - coo.T)).nnz == 0:
            coo = sp.coo_array(sp.triu(coo))
        graph = cls.from_edges(
            coo.row, coo.col, num_nodes=coo.shape[0], features=features, weights=coo.data if weighted else None
        )
        return graph if ids is None else replace(graph, ids=arrays.as_ids(ids))

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph[Any],
        *,
        features: str | ArrayLike | sp.sparray | sp.spmatrix | None = None,
        weight: str | None = "weight",
    ) -> Graph:
        """Build a graph from any NetworkX graph, directed and multigraphs included; its nodes become the ids.

        ``features`` is a matrix in the order of ``graph.nodes``, or the name of a node attribute that holds a vector;
        ``()`` leaves all attributes out. Attributes of other kinds become features by :func:`pugnn.read_graph`.
        ``weight`` names an edge attribute; ``None`` leaves weights out.
        """
        nodes, ends, matrix, weights = networkx_parts(graph, features, weight)
        built = cls.from_edges(*ends.T, num_nodes=len(nodes), features=matrix, weights=weights)
        return replace(built, ids=arrays.as_ids(nodes))

    @classmethod
    def from_pyg(cls, data: Data, *, ids: Sequence[Any] | NDArray[Any] | None = None) -> Graph:
        """Build a graph from a PyG ``Data`` object: ``edge_index``, ``x`` and one-dimensional ``edge_weight``."""
        weighted = getattr(data, "edge_weight", None) is not None
        return cls.from_scipy(pyg_adjacency(data), ids=ids, features=pyg_features(data), weighted=weighted)

    # ------------------------------------------------------------------ conversion

    def to_scipy(self) -> sp.csr_array:
        """The symmetric adjacency matrix, float32, with weights if there are any."""
        values = np.ones(len(self.indices), dtype=np.float32) if self.weights is None else self.weights
        return sp.csr_array((values, self.indices, self.indptr), shape=(self.num_nodes, self.num_nodes))

    def to_pyg(self) -> Data:
        """A PyG ``Data`` object with ``edge_index``, ``x`` (sparse CSR stays sparse) and ``edge_weight``."""
        return pyg_data(self)
