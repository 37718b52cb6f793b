r"""The parts of a score of label propagation: the odds :math:`r_v / r_\pi` are a sum over the known positives.

With known negatives, all of them are multiplied by the share of what arrives from positives
(:class:`pugnn.models.Propagation`), so that they still add up.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.explain.parts import MAX_NUMBERS, Parts
from pugnn.graph import Graph
from pugnn.models import Propagation, inputs_on

NOTHING = np.zeros(0, np.int64)


def propagation_parts(model: Propagation, graph: Graph, nodes: NDArray[np.int64]) -> Iterator[Parts]:
    """The parts of the odds of some nodes, given by position."""
    inputs = inputs_on(graph, model.labelled.device)
    at_once = max(1, MAX_NUMBERS // graph.num_nodes)
    for some in model.arriving(inputs, torch.from_numpy(nodes.copy()), at_once):
        yield from (_parts(model, arriving) for arriving in some.T)


def _parts(model: Propagation, arriving: Tensor) -> Parts:
    """The parts of one node, given what arrives there from each node."""
    labelled, positive = model.labelled.cpu().numpy(), arriving[model.labelled]
    negative = [arriving[model.negative].sum()] if len(model.negative) else []

    def without(nodes: NDArray[np.int64], columns: NDArray[np.int64]) -> float:  # noqa: ARG001 (no attribute counts)
        kept = positive[torch.from_numpy(~np.isin(labelled, nodes)).to(positive.device)].sum()
        return float(model.lowered(kept, *negative) / model.middle)  # known negatives stay

    total, by_node, none = without(NOTHING, NOTHING), np.zeros(len(arriving)), np.zeros(0)
    if total:
        by_node[labelled] = (positive * (total / positive.sum())).cpu().numpy()
    return Parts(total=total, base=0.0, by_node=by_node, own=none, around=none, without=without, unit="odds")
