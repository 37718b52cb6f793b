"""Views of a graph's nodes as plain matrices."""

import numpy as np

from pugnn.graph import Graph
from pugnn.views import FAR, RESTART, STEPS, VIEWS, Attributes, ViewSource
from pugnn.views.attributes import dense


def attribute_rows(graph: Graph, attributes: Attributes | None = None) -> np.ndarray:
    """The attributes of all nodes, each row at length 1."""
    return dense((attributes or Attributes.of(graph)).rows(graph))


def dense_view(name: str, graph: Graph, attributes: Attributes | None = None) -> np.ndarray:
    """A view of all nodes, with rows of length 1."""
    source = ViewSource(graph, attributes or Attributes.of(graph))
    return source.image(name, dense(source.rows)) * (source.scale(name) / VIEWS[name].weight)[:, None]


def side_by_side(graph: Graph, names=tuple(VIEWS)) -> np.ndarray:
    """The weighted views of all nodes in one matrix, in double precision."""
    return np.hstack([VIEWS[name].weight * dense_view(name, graph).astype(np.float64) for name in names])


def matrices(graph):
    """What every node counts in each view of every node, before rows are scaled."""
    n = graph.num_nodes
    adjacency = graph.to_scipy().toarray().astype(float)
    looped = adjacency + np.eye(n)
    degree = looped.sum(axis=1)
    normalised = np.array([[looped[i, j] / (degree[i] * degree[j]) ** 0.5 for j in range(n)] for i in range(n)])
    smoothed = np.eye(n)
    for _ in range(STEPS):
        smoothed = (1 - RESTART) * normalised @ smoothed + RESTART * np.eye(n)
    around = np.array([(adjacency[i] > 0) / max((adjacency[i] > 0).sum(), 1) for i in range(n)])
    return [smoothed, np.eye(n), around, np.eye(n) - around, around @ around]


def relative(matrix, graph, known, counted=None):
    """For each node the walks that end at known positives, those that count, over their mean from other nodes."""
    root = 1 / np.sqrt(1 + graph.to_scipy().toarray().sum(axis=1))
    mean = np.delete(root * matrix[:, known].sum(axis=1), known).mean()
    return root * matrix[:, known if counted is None else counted].sum(axis=1) / mean


def near(graph, known, counted=None):
    """Closeness of all nodes to known positives, or to those of them that count."""
    smoothed = matrices(graph)[0]
    before, after = (relative(smoothed, graph, known, some) for some in (None, counted))
    return np.log(after + FAR) - np.log(before + FAR).mean()
