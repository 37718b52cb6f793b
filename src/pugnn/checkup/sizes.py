"""How links are distributed over the nodes, and what the known positives can reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.graph import Graph
from pugnn.task import PUTask

#: Quantiles of the degrees that are reported.
QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)

#: Number of best-linked nodes that are named.
HUBS = 5


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
    if not len(degrees):
        return Degrees((), (), 0.0)
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
