"""Views of a graph's nodes as plain matrices."""

import numpy as np
import torch

from pugnn.graph import Graph
from pugnn.models import GraphInputs
from pugnn.models.views import Attributes, make_views


def attribute_rows(graph: Graph, attributes: Attributes | None = None) -> torch.Tensor:
    """The attributes of all nodes, each row at length 1."""
    parts = (attributes or Attributes.of(graph)).rows(graph)
    return torch.from_numpy(np.concatenate(list(parts)))


def dense_view(name: str, graph: Graph) -> torch.Tensor:
    """A view of all nodes."""
    return make_views(Attributes.of(graph), GraphInputs(graph), [name])[name][:]
