r"""The parts of a score of label propagation: the odds :math:`r_v / r_\pi` are a sum over the known positives.

With known negatives, all of them are multiplied by the share of what arrives from positives
(:class:`pugnn.models.Propagation`), so that they still add up.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pugnn.explain.parts import Parts
from pugnn.graph import Graph
from pugnn.models import Propagation, inputs_on

NO_COLUMNS = np.zeros(0)


def propagation_parts(model: Propagation, graph: Graph, nodes: NDArray[np.int64]) -> Iterator[Parts]:
    """The parts of the odds of some nodes, given by position."""
    inputs, known = inputs_on(graph, model.labelled.device), model.labelled.cpu().numpy()
    alone = copy.deepcopy(model)  # what would arrive without known negatives
    alone.negative = model.negative[:0]
    shares, arriving = (
        (each.spread(inputs, apart=True)[nodes] / model.middle).cpu().numpy() for each in (model, alone)
    )
    for share, spread in zip(shares, arriving, strict=True):
        by_node = np.zeros(graph.num_nodes)
        by_node[known] = share
        yield Parts(
            total=float(share.sum()),
            base=0.0,
            by_node=by_node,
            own=NO_COLUMNS,
            around=NO_COLUMNS,
            without=_Without(known, spread, float(share.sum())),
            unit="odds",
        )


@dataclass(frozen=True, eq=False)
class _Without:
    """The odds of one node if some positives were not known; known negatives stay."""

    known: NDArray[np.int64]
    spread: NDArray[np.float64]  # from each known positive, shape ``(n_L,)``
    total: float  # the odds, which known negatives have lowered

    def __call__(self, nodes: NDArray[np.int64], columns: NDArray[np.int64]) -> float:  # noqa: ARG002
        arriving, kept = self.spread.sum(), self.spread[~np.isin(self.known, nodes)].sum()
        if not self.total or not kept:
            return 0.0
        negative = arriving * (arriving / self.total - 1)  # the total is r₊² / (r₊ + r₋)
        return float(kept * kept / (kept + negative))
