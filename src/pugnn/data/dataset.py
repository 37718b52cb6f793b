"""A graph whose classes are known, and which of them count as positive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pugnn.graph import Graph


@dataclass(frozen=True, eq=False)
class Dataset:
    """A named graph with the true class of every node: the raw material of a benchmark.

    Args:
        name: the name it is loaded by.
        graph: nodes, edges and features, N nodes.
        labels: class index of each node, shape ``(N,)``.
        class_names: index -> name; ``"0"``, ``"1"``, … where the source gives no names.
        positive_classes: indices of the classes that count as positive.
        train_size: number of nodes in the paper's training split, one in ten.
        missing: nodes that have no true label, shape ``(N,)``. They carry class 0, as in every usual loader,
            and should be left out of an evaluation. Only citeseer has any (15).

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

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Which nodes are of a positive class, shape ``(N,)``."""
        return np.isin(self.labels, sorted(self.positive_classes))

    def __repr__(self) -> str:
        graph = self.graph
        return (
            f"Dataset({self.name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, "
            f"{graph.num_features:,} features, {int(self.positive.sum()):,} positive)"
        )
