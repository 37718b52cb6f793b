r"""The parts of a score of label propagation: the odds :math:`r_v / r_\pi` are a sum over the known positives."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pugnn.explain.parts import Parts
from pugnn.graph import Graph
from pugnn.models import Propagation, inputs_on

NO_COLUMNS = np.zeros(0)


def propagation_parts(model: Propagation, graph: Graph, nodes: NDArray[np.int64]) -> Iterator[Parts]:
    """The parts of the odds of some nodes, given by position."""
    inputs, known = inputs_on(graph, model.labelled.device), model.labelled.cpu().numpy()
    shares = (model.spread(inputs, apart=True) / model.middle).cpu().numpy()
    for node in nodes.tolist():
        by_node = np.zeros(graph.num_nodes)
        by_node[known] = shares[node]
        yield Parts(
            total=float(by_node.sum()),
            base=0.0,
            by_node=by_node,
            own=NO_COLUMNS,
            around=NO_COLUMNS,
            without=partial(_without, by_node),
            unit="odds",
        )


def _without(by_node: NDArray[np.float64], nodes: NDArray[np.int64], columns: NDArray[np.int64]) -> float:  # noqa: ARG001
    return float(by_node.sum() - by_node[nodes].sum())
