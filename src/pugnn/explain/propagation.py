r"""The parts of a score of label propagation: the odds :math:`r_v / r_\pi` are a sum over the known positives.

With known negatives, all of them are multiplied by the share of what arrives from positives
(:class:`pugnn.models.Propagation`), so that they still add up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.explain.parts import MAX_NUMBERS, Parts
from pugnn.graph import Graph
from pugnn.models import Propagation, inputs_on

NO_COLUMNS, NOTHING = np.zeros(0), np.zeros(0, np.int64)


def propagation_parts(model: Propagation, graph: Graph, nodes: NDArray[np.int64]) -> Iterator[Parts]:
    """The parts of the odds of some nodes, given by position."""
    inputs, known = inputs_on(graph, model.labelled.device), model.labelled.cpu().numpy()
    at_once = max(1, MAX_NUMBERS // graph.num_nodes)
    for some in model.arriving(inputs, torch.from_numpy(nodes.copy()), at_once):
        for arriving in some.T:
            without = _Without(model, known, arriving[model.labelled], arriving[model.negative].sum())
            total, by_node = without(NOTHING, NOTHING), np.zeros(graph.num_nodes)
            if total:
                by_node[known] = (without.positive * (total / without.positive.sum())).cpu().numpy()
            yield Parts(
                total=total,
                base=0.0,
                by_node=by_node,
                own=NO_COLUMNS,
                around=NO_COLUMNS,
                without=without,
                unit="odds",
            )


@dataclass(frozen=True, eq=False)
class _Without:
    """The odds of one node if nothing spread from some of the known positives; known negatives stay."""

    model: Propagation
    known: NDArray[np.int64]
    positive: Tensor  # what arrives from each known positive, shape ``(n_L,)``
    negative: Tensor  # and from all known negatives

    def __call__(self, nodes: NDArray[np.int64], columns: NDArray[np.int64]) -> float:  # noqa: ARG002
        kept = self.positive[torch.from_numpy(~np.isin(self.known, nodes)).to(self.positive.device)].sum()
        negative = [self.negative] if len(self.model.negative) else []
        return float(self.model.lowered(kept, *negative) / self.model.middle)
