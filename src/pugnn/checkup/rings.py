"""How many nodes lie at each distance from the known positives, and which δ of PU-GNN follows from that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pugnn.graph import UNREACHABLE
from pugnn.task import PUBenchmark, PUTask

#: δ is the largest whose near set holds no more than this share of the unlabelled nodes. With PU-GNN's fixed shares of
#: 0.6 near and 0.3 far, macro-F1 on Cora, Citeseer and Pubmed is highest where the near set holds 30 to 50 %.
NEAR_SHARE = 0.5

#: A near set with more than this share of the unlabelled nodes is nearly all of them, one with less than that almost
#: nothing.
NEARLY_ALL, TINY = 0.8, 0.02

#: Largest δ that is chosen for PU-GNN; larger ones were not measured.
MAX_DELTA = 5


@dataclass(frozen=True)
class Ring:
    """Unlabelled nodes at one distance.

    Args:
        distance: hops to the nearest known positive; ``None`` without a path to any.
        nodes: number of unlabelled nodes.
        share_within: share of the unlabelled nodes at this distance or nearer.
    """

    distance: int | None
    nodes: int
    share_within: float


@dataclass(frozen=True)
class Rings:
    """All rings, nearest first, and the δ that follows from them.

    Args:
        rings: one for each distance that occurs.
        delta: the δ for PU-GNN.
        near_share: share of the unlabelled nodes that this δ makes near.
        saturated_from: the smallest δ that makes nearly all of them near, ``None`` where there is none.
    """

    rings: tuple[Ring, ...]
    delta: int
    near_share: float
    saturated_from: int | None


def check_rings(task: PUTask) -> Rings:
    """Count unlabelled nodes by distance and choose δ."""
    rings = tuple(Ring(hops, len(members), share) for hops, members, share in _members(task))
    within = {ring.distance: ring.share_within for ring in rings if ring.distance is not None}
    near, share = {}, 0.0
    for delta in range(1, MAX_DELTA + 1):
        near[delta] = share = within.get(delta, share)
    delta = max((delta for delta, share in near.items() if share <= NEAR_SHARE), default=1)
    # Where a step adds nobody, the smaller δ means the same.
    delta = min(smaller for smaller, share in near.items() if share == near[delta])
    full = [distance for distance, share in within.items() if share > NEARLY_ALL]
    return Rings(rings, delta, near[delta], min(full, default=None))


def true_share_of_rings(benchmark: PUBenchmark) -> tuple[float, ...]:
    """Share of true positives in each ring of :func:`check_rings`, for data whose truth is known."""
    return tuple(float(benchmark.positive[members].mean()) for _, members, _ in _members(benchmark.task))


def _members(task: PUTask) -> list[tuple[int | None, NDArray[np.int64], float]]:
    """Distance, unlabelled nodes and share of these within the distance, ring by ring."""
    distance = task.distances[task.unlabelled]
    order = np.argsort(distance, kind="stable")
    different, first = np.unique(distance[order], return_index=True)
    ends = [*first[1:].tolist(), len(order)]
    return [
        (None if hops == UNREACHABLE else hops, task.unlabelled[order[start:end]], end / len(order))
        for hops, start, end in zip(different.tolist(), first.tolist(), ends, strict=True)
    ]
