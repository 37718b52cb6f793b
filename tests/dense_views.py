"""Views of a graph's nodes as plain matrices."""

import numpy as np

from pugnn.graph import Graph
from pugnn.views import WEIGHTS, Attributes, NodeViews
from pugnn.views.attributes import dense


def attribute_rows(graph: Graph, attributes: Attributes | None = None) -> np.ndarray:
    """The attributes of all nodes, each row at length 1."""
    return dense((attributes or Attributes.of(graph)).rows(graph))


def dense_view(name: str, graph: Graph, attributes: Attributes | None = None) -> np.ndarray:
    """A view of all nodes, with rows of length 1."""
    views = NodeViews(graph, attributes or Attributes.of(graph), [name])
    return views.images(name, dense(views.rows)) * (views.scales[name] / WEIGHTS[name])[:, None]


def side_by_side(graph: Graph, names=tuple(WEIGHTS)) -> np.ndarray:
    """The weighted views of all nodes in one matrix, in double precision."""
    return np.hstack([WEIGHTS[name] * dense_view(name, graph).astype(np.float64) for name in names])
