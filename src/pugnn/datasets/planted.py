"""Graphs of any size with planted classes: as tables, written piece by piece, or in memory.

Nodes have *places* in a plan: positives first, then the negatives, community by community, and within a community from
the most to the least connected node. Whatever belongs to a row of a table, an edge or a feature, is a hash of the seed
and the number of the row, so no piece depends on another one and nothing is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numba import uint64
from numpy.typing import NDArray

from pugnn.datasets.shuffle import Shuffle
from pugnn.errors import PugnnError, require_number, require_share, require_whole
from pugnn.files import new_folder, require_new
from pugnn.graph import Graph
from pugnn.graph.compiling import kernel
from pugnn.graph.random import random_bits
from pugnn.waiting import status_line

#: Communities of negatives: one alone would make the unlabelled nodes two clean groups.
NEGATIVE_COMMUNITIES = 9
#: Length of a community's mean feature vector, in standard deviations of the noise: a node's own features say little.
SIGNAL = 1.0
#: Expected degrees fall with the place ``x`` in a community, from 0 to 1, as ``(x + OFFSET) ** (-2/3)``: a power law
#: with exponent 2.5, cut off at about a hundred times the mean.
OFFSET = 1 / 5000
#: Rows of a piece: tens of megabytes.
EDGES_AT_ONCE, NODES_AT_ONCE = 2**20, 2**18
#: The tables of :func:`write_planted`.
TABLES = ("edges.parquet", "nodes.parquet", "truth.parquet", "positives.parquet")


@dataclass(frozen=True)
class Planted:
    """A random graph whose positives are known: a community of its own among several communities of negatives.

    Args:
        nodes: number of nodes, N.
        mean_degree: twice the number of rows in the table of edges, per node.
        features: number of features: a weak signal of the community in noise.
        share: share of positives among all nodes.
        labels: number of known positives, a random sample.
        homophily: share of edges that are drawn inside a community; the others end anywhere.
        seed: of everything.
    """

    nodes: int
    mean_degree: float = 20.0
    features: int = 32
    share: float = 0.1
    labels: int = 100
    homophily: float = 0.6
    seed: int = 0

    def __post_init__(self) -> None:
        require_whole("nodes", self.nodes, 100, 2**31 - 1)
        require_whole("features", self.features, 1, 2**31 - 1)
        require_whole("seed", self.seed, 0)
        require_share("share", self.share)
        require_share("homophily", self.homophily)
        if self.positives < 1 or self.nodes - self.positives < NEGATIVE_COMMUNITIES:
            negatives = self.nodes - self.positives
            raise PugnnError(f"a share of {self.share} leaves {negatives:,} negatives and {self.positives:,} positives")
        require_whole("labels", self.labels, 1, self.positives)
        require_number("mean_degree", self.mean_degree)
        if not 0 < self.mean_degree < self.nodes:
            raise PugnnError(f"mean_degree must lie between 0 and the number of nodes, got {self.mean_degree}")

    @property
    def positives(self) -> int:
        """Number of positives."""
        return round(self.share * self.nodes)

    @property
    def edges(self) -> int:
        """Rows of the table of edges."""
        return round(self.nodes * self.mean_degree / 2)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First place of each community, and N."""
        return np.array([0, *np.linspace(self.positives, self.nodes, NEGATIVE_COMMUNITIES + 1).astype(np.int64)])

    def edge_ends(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions of the source and the target of each of these rows of the table of edges."""
        sources, targets = _edge_places(np.uint64(self._key(1)), start, stop, self.starts, self.homophily)
        return self._order.backwards(sources), self._order.backwards(targets)

    def places(self, start: int, stop: int) -> NDArray[np.int64]:
        """The places of the nodes at these positions; those below :attr:`positives` are positive."""
        return self._order.forwards(np.arange(start, stop))

    def columns(self, start: int, stop: int) -> NDArray[np.float32]:
        """Features of the nodes at these positions, shape ``(features, nodes)``."""
        communities = np.searchsorted(self.starts, self.places(start, stop), side="right") - 1
        return _columns(np.uint64(self._key(2)), start, communities, self._centres)  # type: ignore[no-any-return]

    def labelled(self) -> NDArray[np.int64]:
        """Positions of the known positives, sorted."""
        chosen = Shuffle(self.positives, self._key(3)).forwards(np.arange(self.labels))
        return np.sort(self._order.backwards(chosen))

    def ids(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The ids of the tables: distinct, in no order, and with gaps."""
        return Shuffle(4 * self.nodes, self._key(4)).forwards(positions)

    def graph(self) -> tuple[Graph, NDArray[np.bool_], NDArray[np.int64]]:
        """The graph in memory, the mask of its positives, and the positions of the known ones."""
        sources, targets = self.edge_ends(0, self.edges)
        rows = self.columns(0, self.nodes).T
        graph = Graph.from_edges(sources, targets, num_nodes=self.nodes, features=rows)
        return graph, self.places(0, self.nodes) < self.positives, self.labelled()

    @cached_property
    def _order(self) -> Shuffle:
        """Places of the positions."""
        return Shuffle(self.nodes, self._key(5))

    @cached_property
    def _centres(self) -> NDArray[np.float32]:
        """Mean features of each community: orthogonal if there are enough features, so that all differ as much."""
        communities = len(self.starts) - 1
        drawn = np.random.default_rng(self._key(6)).normal(size=(max(self.features, communities), communities))
        directions = np.linalg.qr(drawn)[0][: self.features].T
        return (SIGNAL * np.ascontiguousarray(directions)).astype(np.float32)

    def _key(self, purpose: int) -> int:
        """A seed of its own for each purpose."""
        return int(np.random.SeedSequence([self.seed, purpose]).generate_state(1, np.uint64)[0])


def write_planted(folder: Path, **settings: Any) -> Planted:
    """Write a planted graph as tables into a new folder, in memory that does not grow with it.

    ``edges.parquet`` has the columns ``source`` and ``target``, ``nodes.parquet`` has ``id``, ``x0``, ``x1``, …;
    ``truth.parquet`` has the ids of all positives, ``positives.parquet`` those of the known ones.

    Args:
        folder: must not exist.
        settings: the arguments of :class:`Planted`.
    """
    plan = Planted(**settings)
    require_new(folder)

    def edges(start: int, stop: int) -> pa.Table:
        sources, targets = plan.edge_ends(start, stop)
        return pa.table({"source": plan.ids(sources), "target": plan.ids(targets)})

    def nodes(start: int, stop: int) -> pa.Table:
        columns = {f"x{number}": column for number, column in enumerate(plan.columns(start, stop))}
        return pa.table({"id": plan.ids(np.arange(start, stop)), **columns})

    def truth(start: int, stop: int) -> pa.Table:
        return pa.table({"id": plan.ids(start + np.flatnonzero(plan.places(start, stop) < plan.positives))})

    tables = (plan.edges, EDGES_AT_ONCE, edges), (plan.nodes, NODES_AT_ONCE, nodes), (plan.nodes, NODES_AT_ONCE, truth)
    with new_folder(folder) as unfinished, status_line() as line:
        for name, (rows, at_once, piece) in zip(TABLES, tables, strict=False):
            line.say(f"writing {name}")
            # Random numbers repeat too rarely for a dictionary.
            with pq.ParquetWriter(unfinished / name, piece(0, 0).schema, use_dictionary=False) as writer:
                for start in range(0, rows, at_once):
                    stop = min(start + at_once, rows)
                    writer.write_table(piece(start, stop))
                    line.update(f"writing {name}: {stop / rows:.0%}")
        pq.write_table(pa.table({"id": plan.ids(plan.labelled())}), unfinished / TABLES[-1])
    return plan


@kernel(inline="always")
def _uniform(seed, counter):  # type: ignore[no-untyped-def]
    """A random number from 0 to 1, without 1."""
    return np.float64(random_bits(uint64(seed), uint64(counter)) >> uint64(11)) * 2.0**-53


@kernel(nogil=True)
def _edge_places(seed, start, stop, starts, homophily):  # type: ignore[no-untyped-def]
    # Each end is drawn in proportion to its expected degree. A number up to N that is uniform says which community, as
    # all have the same mean degree, and what is left of it is uniform again.
    ends = np.empty((2, stop - start), dtype=np.int64)
    low, high = OFFSET ** (1 / 3), (1 + OFFSET) ** (1 / 3)
    for edge in range(start, stop):
        community = 0
        for end in range(2):
            x = _uniform(seed, 3 * edge + end)
            if end == 0 or _uniform(seed, 3 * edge + 2) >= homophily:
                x *= starts[-1]
                community = 0
                while x >= starts[community + 1]:
                    community += 1
                x = (x - starts[community]) / (starts[community + 1] - starts[community])
            # The integral of (x + OFFSET) ** (-2/3), inverted.
            place = (low + x * (high - low)) ** 3 - OFFSET
            size = starts[community + 1] - starts[community]
            ends[end, edge - start] = starts[community] + min(max(np.int64(place * size), 0), size - 1)
    return ends


@kernel(nogil=True)
def _columns(seed, start, communities, centres):  # type: ignore[no-untyped-def]
    features = centres.shape[1]
    pairs = (features + 1) // 2
    columns = np.empty((features, len(communities)), dtype=np.float32)
    for at in range(len(communities)):
        for pair in range(pairs):
            # Box and Muller: two uniform numbers make two normal ones.
            counter = 2 * ((start + at) * pairs + pair)
            radius = math.sqrt(-2.0 * math.log(1.0 - _uniform(seed, counter)))
            angle = 2.0 * math.pi * _uniform(seed, counter + 1)
            columns[2 * pair, at] = centres[communities[at], 2 * pair] + radius * math.cos(angle)
            if 2 * pair + 1 < features:
                columns[2 * pair + 1, at] = centres[communities[at], 2 * pair + 1] + radius * math.sin(angle)
    return columns
