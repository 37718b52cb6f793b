"""What a method may see of a PU problem."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import Displayed, PugnnError, counted, require_type, shorten
from pugnn.graph import Graph, nearest_sources
from pugnn.graph.arrays import positions_within
from pugnn.graph.digests import digest_of_texts, update

_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class PUTask(Displayed):
    """A graph with its known positives: all that a method may see.

    Distances and connected components are computed once, when first used.

    Args:
        graph: the whole graph.
        labelled: positions of the known positives, sorted, shape ``(n_L,)``.
        unlabelled: positions of the nodes that the loss treats as unlabelled, sorted, shape ``(n_U,)``.
        negative: positions of the known negatives, sorted; they are neither labelled nor unlabelled.
        confirmed: those of the labelled nodes that were found by a ranking and then checked, sorted. They rank higher
            than positives usually do, so they say little about a ranking or about how many positives there are.
        expected_left: positives among the unlabelled nodes at least, by an earlier estimate and the checks since; 0 if
            there was none.
    """

    graph: Graph
    labelled: NDArray[np.int64]
    unlabelled: NDArray[np.int64]
    negative: NDArray[np.int64] = field(default_factory=lambda: _NONE)
    confirmed: NDArray[np.int64] = field(default_factory=lambda: _NONE)
    expected_left: float = 0.0

    def __post_init__(self) -> None:
        require_type("graph", self.graph, Graph, "a pugnn.Graph")
        for name in ("labelled", "unlabelled", "negative", "confirmed"):
            object.__setattr__(self, name, target_positions(self.graph, getattr(self, name), name))

    @classmethod
    def from_positives(cls, graph: Graph, labelled: NDArray[np.int64], negative: NDArray[np.int64] = _NONE) -> PUTask:
        """The task where every node that is neither a known positive nor a known negative is unlabelled.

        With several kinds of nodes, those of the target are meant.
        """
        require_type("graph", graph, Graph, "a pugnn.Graph")
        task = cls(graph, _NONE, np.arange(graph.num_targets)).with_feedback(labelled, negative)
        return replace(task, confirmed=_NONE)

    def with_feedback(self, confirmed: NDArray[np.int64], rejected: NDArray[np.int64]) -> PUTask:
        """The same task with more known nodes, by position: confirmed ones are positive, rejected ones negative."""
        confirmed = target_positions(self.graph, confirmed, "positives")
        rejected = target_positions(self.graph, rejected, "negatives")
        labelled, negative = np.union1d(self.labelled, confirmed), np.union1d(self.negative, rejected)
        both = np.intersect1d(labelled, negative)
        if len(both):
            names = shorten(self.graph.ids[both].tolist())
            raise PugnnError(f"a node cannot be both a known positive and a known negative: {names}")
        known = np.zeros(self.graph.num_nodes, np.bool_)
        known[labelled] = known[negative] = True
        new = np.union1d(self.confirmed, np.setdiff1d(confirmed, self.labelled))
        return PUTask(self.graph, labelled, self.unlabelled[~known[self.unlabelled]], negative, new)

    @property
    def typical(self) -> NDArray[np.int64]:
        """Known positives that may stand for all positives, if labelled at random: those that no ranking has found."""
        return np.setdiff1d(self.labelled, self.confirmed)

    def _facts(self) -> list[str]:
        known = [counted(len(self.labelled), "known positive"), f"{len(self.unlabelled):,} unlabelled"]
        negative = [counted(len(self.negative), "known negative")] if len(self.negative) else []
        return [*self.graph._facts(), *known, *negative]

    @property
    def known(self) -> NDArray[np.int64]:
        """1 for each known positive, −1 for each known negative, and 0 for all other nodes, shape ``(N,)``."""
        known = np.zeros(self.graph.num_nodes, np.int64)
        known[self.labelled], known[self.negative] = 1, -1
        return known

    def ranks(self, scores: NDArray[np.float64], order: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """The rank of each node in all lists, from 1, among those that are not known; known nodes have none, but 0.

        There is one score per node; with several kinds of nodes, per target. ``order`` are their positions, best first,
        if they are sorted already.
        """
        order = np.argsort(-scores, kind="stable") if order is None else order
        order = order[self.known[order] == 0]
        ranks = np.zeros(len(scores), np.int64)
        ranks[order] = np.arange(1, len(order) + 1)
        return ranks

    @cached_property
    def _reached(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return nearest_sources(self.graph, self.labelled)

    @property
    def distances(self) -> NDArray[np.int32]:
        """Hops from each node to the nearest known positive, see :func:`pugnn.graph.nearest_sources`."""
        return self._reached[0]

    @property
    def nearest(self) -> NDArray[np.int32]:
        """Position of that known positive."""
        return self._reached[1]

    @cached_property
    def key(self) -> str:
        """A digest of the sets of nodes."""
        return self._hashed().hexdigest()

    def digest(self) -> hashlib._Hash:
        """A SHA-256 of the graph and the sets of nodes, to which more can be added."""
        stored = self.graph.stored
        graph = self.graph.digests.values() if stored is None else [stored.checksum]
        return self._hashed(digest_of_texts(graph).encode())

    def _hashed(self, before: bytes = b"") -> hashlib._Hash:
        hashed = hashlib.sha256(before)
        for nodes in (self.labelled, self.unlabelled, self.negative, self.confirmed):
            hashed.update(f"{nodes.dtype} {nodes.shape}".encode())  # so that it is clear where each array ends
            update(hashed, nodes)
        if self.expected_left:
            hashed.update(repr(self.expected_left).encode())
        return hashed

    @cached_property
    def digests(self) -> dict[str, str]:
        """A digest of each part of the data, by what it is called in messages: of the graph, and of known nodes."""

        def named(*nodes: NDArray[np.int64]) -> str:
            return digest_of_texts(digest_of_texts(sorted(map(str, self.graph.ids[each].tolist()))) for each in nodes)

        known = {"known positives": named(self.typical), "checked nodes": named(self.confirmed, self.negative)}
        return {**self.graph.digests, **known}


def target_positions(graph: Graph, nodes: Any, what: str) -> NDArray[np.int64]:
    """Positions of nodes that can be known or found; ``what`` they are is for messages."""
    positions = positions_within(nodes, graph.num_nodes, what)
    if len(positions) and positions.max() >= graph.num_targets:
        outside = int(positions.max())
        raise PugnnError(
            f"{what} must be nodes of the kind {next(iter(graph.kinds))!r}, which is looked for; "
            f"{graph.ids[outside]!r} is of the kind {graph.kind_of(outside)!r}"
        )
    return positions
