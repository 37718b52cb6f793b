"""How links are distributed over the nodes, and how far the known positives reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.graph import UNREACHABLE, Graph
from pugnn.task import PUBenchmark, PUTask

#: Quantiles of the degrees that are reported.
QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)

#: Number of best-linked nodes that are named.
HUBS = 5

#: δ is the largest whose near set holds no more than this share of the unlabelled nodes. With PU-GNN's fixed shares of
#: 0.6 near and 0.3 far, macro-F1 on Cora, Citeseer and Pubmed is highest where the near set holds 30 to 50 %.
MAX_NEAR_SHARE = 0.5

#: Largest δ that is chosen for PU-GNN; larger ones were not measured.
MAX_DELTA = 5


@dataclass(frozen=True)
class Hub:
    """A node with many links; ``id`` is the user's own."""

    id: Any
    degree: int


@dataclass(frozen=True)
class Degrees:
    """How many links nodes have.

    Args:
        quantiles: pairs (share of nodes, degree that this share does not exceed).
        hubs: nodes with most links, most first.
        top_share: share of all link ends held by the 1 % of nodes with most links.
    """

    quantiles: tuple[tuple[float, int], ...]
    hubs: tuple[Hub, ...]
    top_share: float


@dataclass(frozen=True)
class Reach:
    """Where the known positives lie.

    Args:
        labelled: number of known positives.
        unlabelled: number of unlabelled nodes.
        isolated_labelled: known positives without any link.
        components_with_labelled: connected components with a known positive.
        unreachable: unlabelled nodes in the other components; they have no distance.
    """

    labelled: int
    unlabelled: int
    isolated_labelled: int
    components_with_labelled: int
    unreachable: int


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
    """

    rings: tuple[Ring, ...]
    delta: int
    near_share: float


def links_of(graph: Graph, nodes: NDArray[np.int64]) -> sp.csr_array:
    """The links of some nodes, shape ``(n, N)``, each counting 1: nothing of the size of all links is made."""
    degrees = graph.degrees[nodes]
    ends = np.concatenate([[0], np.cumsum(degrees)])
    entries = np.repeat(graph.indptr[nodes] - ends[:-1], degrees) + np.arange(ends[-1])
    shape = (len(nodes), graph.num_nodes)
    return sp.csr_array((np.ones(len(entries), np.float32), graph.indices[entries], ends), shape=shape)


def degree_summary(graph: Graph) -> Degrees:
    """Quantiles and hubs."""
    degrees = graph.degrees
    values = np.quantile(degrees, QUANTILES, method="inverted_cdf")
    # By degree, then by position, so that ties have the same order everywhere.
    order = np.argsort(-degrees, kind="stable")
    named = order[:HUBS][degrees[order[:HUBS]] > 0]
    held = int(degrees[order[: max(1, len(degrees) // 100)]].sum())
    return Degrees(
        quantiles=tuple((share, int(value)) for share, value in zip(QUANTILES, values, strict=True)),
        hubs=tuple(map(Hub, graph.ids[named].tolist(), degrees[named].tolist())),
        top_share=held / max(int(degrees.sum()), 1),
    )


def count_reach(task: PUTask) -> Reach:
    """Count known positives without links, and unlabelled nodes without a path to any known positive."""
    component = task.graph.components
    held = np.unique(component[task.labelled])
    return Reach(
        labelled=len(task.labelled),
        unlabelled=len(task.unlabelled),
        isolated_labelled=int((task.graph.degrees[task.labelled] == 0).sum()),
        components_with_labelled=len(held),
        unreachable=int((~np.isin(component[task.unlabelled], held)).sum()),
    )


def check_rings(task: PUTask) -> Rings:
    """Count unlabelled nodes by distance and choose δ."""
    rings = tuple(Ring(hops, len(members), share) for hops, members, share in _members(task))
    near = {ring.distance: ring.share_within for ring in rings if ring.distance is not None}
    small = (hops for hops, share in near.items() if hops <= MAX_DELTA and share <= MAX_NEAR_SHARE)
    delta = max(small, default=1)
    return Rings(rings, delta, near.get(delta, 0.0))


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
