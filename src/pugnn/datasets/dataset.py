"""A graph with known classes, some of which count as positive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import Displayed, PugnnError, given, require_type, require_whole
from pugnn.graph import Graph


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Displayed):
    """A named graph with the true class of every node, from which benchmarks are drawn.

    Args:
        name: the name it is loaded by.
        graph: N nodes with edges and features.
        labels: class index of each node, shape ``(N,)``.
        class_names: index -> name; ``"0"``, ``"1"``, … if the source has no names.
        positive_classes: indices of the classes that count as positive.
        train_size: size of the paper's training split, 10 % of the nodes.
        missing: mask of nodes without a true label, shape ``(N,)``: class 0, as in other loaders, but to be excluded
            from evaluation. Only citeseer has any (15).

    Example:
        >>> from pugnn import load_dataset
        >>> cora = load_dataset("cora")
        >>> cora
        Dataset(cora: 2,708 nodes, 5,278 edges, 1,433 features, 1,244 positive)
        >>> sorted(cora.class_names[i] for i in cora.positive_classes)
        ['Neural_Networks', 'Probabilistic_Methods']
    """

    name: str
    graph: Graph
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]
    positive_classes: frozenset[int]
    train_size: int
    missing: NDArray[np.bool_]

    def __post_init__(self) -> None:
        require_type("name", self.name, str, "text")
        require_type("class_names", self.class_names, tuple, "a tuple of names")
        require_type("graph", self.graph, Graph, "a pugnn.Graph")
        n = self.graph.num_nodes
        require_whole("train_size", self.train_size, 0, n)
        for name, kind in (("labels", "iu"), ("missing", "b")):
            array = getattr(self, name)
            require_type(name, array, np.ndarray, "an array")
            if array.shape != (n,) or array.dtype.kind not in kind:
                raise PugnnError(f"{name} must have one entry per node, shape ({n},); got {given(array)}")
        require_type("positive_classes", self.positive_classes, frozenset, "a frozenset of class indices")

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Mask of the nodes of positive classes, shape ``(N,)``."""
        return np.isin(self.labels, sorted(self.positive_classes))

    def _facts(self) -> list[str]:
        nodes, *others = self.graph._facts()
        return [f"{self.name}: {nodes}", *others, f"{int(self.positive.sum()):,} positive"]
