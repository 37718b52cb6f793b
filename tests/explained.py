"""Models to explain, without any training, and graphs with a planted cause."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from pugnn.graph import Graph
from pugnn.task import PUTask
from pugnn.views import VIEWS, Attributes, LinearModel


def random_model(graph: Graph, *, views: int = len(VIEWS), seed: int = 0) -> LinearModel:
    """A model with random weights that reads a graph's attributes; all views have closeness beside them."""
    rng, attributes = np.random.default_rng(seed), Attributes.of(graph)
    direction = rng.normal(size=(views, attributes.rows(graph).shape[1]))
    known, others = np.split(np.arange(graph.num_nodes), [min(2, graph.num_nodes - 1)])
    return LinearModel.ranking(PUTask(graph, known, others), attributes, direction, 0.3, float(views > 1))


def words(nodes: int, columns: int, seed: int, each: int = 4) -> sp.csr_array:
    """Which words each node has, a few at random."""
    rng = np.random.default_rng(seed)
    places = np.repeat(np.arange(nodes), each), rng.integers(columns, size=each * nodes)
    return sp.csr_array(sp.csr_array((np.ones(each * nodes), places), shape=(nodes, columns)) > 0, dtype=np.float32)


def graphs() -> dict[str, Graph]:
    """Graphs with all kinds of attributes; some have nodes without a link or without an attribute."""
    rng = np.random.default_rng(0)
    ends = rng.integers(60, size=(2, 90))
    few = words(60, 12, seed=1).tolil()
    few[7] = 0
    return {
        "words": Graph.from_edges(*ends, num_nodes=60, features=few.tocsr()),
        "dense": Graph.from_edges(*ends, num_nodes=60, features=rng.normal(3, 2, size=(60, 4))),
        "wide": Graph.from_edges(*ends, num_nodes=60, features=words(60, 9000, seed=2, each=30)),
        "no attributes": Graph.from_edges(*ends, num_nodes=60),
        "weighted": Graph.from_edges(*ends, num_nodes=60, features=few.tocsr(), weights=rng.random(90) + 0.1),
    }


def planted(
    cause: str, *, nodes: int = 400, positive: int = 90, known: int = 25, seed: int = 0
) -> tuple[PUTask, np.ndarray]:
    """A task whose positives have a single cause, and for each node the position of what causes it, or −1.

    ``attribute``: positives have the word 0, and nothing else sets them apart. ``neighbour``: positives are linked to
    one of ten sources, which alone have the word 0; all else is random.
    """
    rng = np.random.default_rng(seed)
    x = words(nodes, 40, seed).tolil()
    x[:, 0] = 0
    ends = rng.integers(nodes, size=(2, 2 * nodes))
    chosen = rng.choice(nodes, positive + 10, replace=False)
    sources, positives = chosen[:10], chosen[10:]
    causes = np.full(nodes, -1)
    if cause == "attribute":
        x[positives, 0] = 1
        causes[positives] = 0
    else:
        x[sources] = 0
        x[sources, 0] = 1
        ends = ends[:, ~np.isin(ends, sources).any(axis=0)]
        causes[positives] = rng.choice(sources, len(positives))
        ends = np.hstack([ends, [positives, causes[positives]]])
    graph = Graph.from_edges(*ends, num_nodes=nodes, features=x.tocsr())
    return PUTask.from_positives(graph, np.sort(positives[:known])), causes


class LargestTensor(TorchDispatchMode):
    """Counts the numbers in the largest dense tensor of double precision that is made."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, function, _, arguments=(), keywords=None):
        made = function(*arguments, **(keywords or {}))
        if isinstance(made, torch.Tensor) and made.layout == torch.strided and made.dtype == torch.float64:
            self.numbers = max(self.numbers, made.numel())
        return made
