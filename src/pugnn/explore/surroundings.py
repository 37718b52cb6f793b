"""What lies around a node: neighbours, most relevant first, hubs folded, and ways to the nearest known positives."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.explore.room import Room
from pugnn.graph import UNREACHABLE, Graph, hop_distances
from pugnn.graph.relations import OUT, Relation

Nodes = NDArray[np.int64]
By = Literal["score", "weight", "known"]
ORDERS: tuple[By, ...] = get_args(By)

#: A reply has at most so many nodes and edges.
MAX_NODES, MAX_EDGES = 2_000, 5_000
#: Neighbours of a node that are drawn before anybody asks for more.
FIRST = 30
#: Hops around a node that can be asked for.
MAX_HOPS = 3
#: Ways to known positives that are shown.
MAX_PATHS = 3


@dataclass(frozen=True)
class Link:
    """A kind of edge, by its name without a direction; ``back`` are the same edges the other way, if they have one."""

    name: str
    edges: Graph | Relation
    back: Relation | None = None

    @property
    def degrees(self) -> Nodes:
        """How many neighbours each node has along it."""
        both = [self.edges] if self.back is None else [self.edges, self.back]
        found: Nodes = np.sum([np.diff(each.indptr) for each in both], axis=0)
        return found

    def neighbours(self, node: int) -> tuple[Nodes, NDArray[np.float64]]:
        """The neighbours of a node in either direction, and the weight of each."""
        found, weights = _row(self.edges, node)
        if self.back is not None:
            more, of_more = _row(self.back, node)
            found, weights = np.concatenate([found, more]), np.concatenate([weights, of_more])
        return found, weights


def links_of(graph: Graph, name: str = "") -> list[Link]:
    """The kinds of edges of a graph, or the one with a name; a graph with one kind has one without a name."""
    if not graph.relations:
        links = [Link("", graph)]
    else:
        links, reverses = [], set[str]()
        for key, relation in graph.relations.items():
            if key not in reverses:
                back = graph.relations[relation.reverse] if relation.reverse else None
                links.append(Link(key.removesuffix(OUT) if back is not None else key, relation, back))
                reverses.add(relation.reverse)
    if name and not (links := [link for link in links if link.name == name]):
        raise PugnnError(f"there is no relation {name!r}")
    return links


class Surroundings:
    """Parts of the graph of a room, small enough to draw."""

    def __init__(self, room: Room) -> None:
        self._room, self._graph = room, room.graph
        self._links = links_of(room.graph)

    def around(self, nodes: Iterable[int], hops: int) -> dict[str, Any]:
        """The nodes so many hops around some, of each node the most relevant neighbours."""
        places: dict[int, tuple[float, float]] = {}
        for at, node in enumerate(dict.fromkeys(nodes)):
            self._room.require_node(node)
            places[node] = 4.0 * at, 0.0
        rim, cut = list(places), False
        for depth in range(hops):
            reached: list[int] = []
            for node in rim:
                found = self._best(self._graph.neighbours(node).astype(np.int64), "known", FIRST).tolist()
                new = [each for each in found if each not in places][: MAX_NODES - len(places)]
                cut |= len(new) < len([each for each in found if each not in places])
                places |= _circle(places[node], new, 0.5**depth)
                reached += new
            rim = reached
        return self._drawn(list(places), places, cut)

    def expand(self, node: int, have: Iterable[int], relation: str, by: By, count: int) -> dict[str, Any]:
        """The next neighbours of a node, besides those that are drawn already."""
        drawn = list(dict.fromkeys([node, *have]))
        for each in drawn:
            self._room.require_node(each)
        around = [link.neighbours(node) for link in links_of(self._graph, relation)]
        neighbours, weights = (np.concatenate(each) for each in zip(*around, strict=True))
        free = ~np.isin(neighbours, drawn)
        weight: dict[int, float] = {}
        for each, amount in zip(neighbours[free].tolist(), weights[free].tolist(), strict=True):
            weight[each] = weight.get(each, 0.0) + amount
        candidates = np.array(list(weight), np.int64)
        amounts = np.array(list(weight.values()))
        new = self._best(candidates, by, min(count, max(MAX_NODES - len(drawn), 0)), amounts).tolist()
        places = {node: (0.0, 0.0), **_circle((0.0, 0.0), new, 1.0)}
        reply = self._drawn([*drawn, *new], places, len(new) < min(count, len(candidates)))
        left = ((link.name, ~np.isin(link.neighbours(node)[0], [*drawn, *new])) for link in self._links)
        return {**reply, "left": [{"relation": name, "count": int(rest.sum())} for name, rest in left]}

    def path(self, node: int) -> list[int]:
        """A shortest path to the nearest known or confirmed positive; empty without one."""
        self._room.require_node(node)
        return next(iter(self.paths(node, 1)), [])

    def paths(self, node: int, most: int = MAX_PATHS) -> list[list[int]]:
        """Shortest paths from a node to the nearest known or confirmed positives, itself apart."""
        positives = self._room.positives.copy()
        positives[node] = False
        ends = np.flatnonzero(positives)
        farthest = int(self._room.run.task.distances[node])
        # Known positives are no farther than this, so nobody looks beyond; around one of them, near others count.
        cap = farthest if farthest == UNREACHABLE else max(farthest, MAX_HOPS)
        hops = np.zeros(self._graph.num_nodes, np.int32)
        # Hop by hop at first: around a hub, one more may be the whole graph.
        for depth in (*range(1, MAX_HOPS), cap) if len(ends) else ():
            hops = hop_distances(self._graph, [node], cap=depth)
            if (hops[ends] != UNREACHABLE).sum() >= most:
                break
        ends = ends[hops[ends] != UNREACHABLE]
        found = []
        for end in ends[np.argsort(hops[ends], kind="stable")][:most].tolist():
            path = [end]
            while path[-1] != node:
                around = self._graph.neighbours(path[-1])
                path.append(int(around[hops[around] == hops[path[-1]] - 1][0]))
            found.append(path[::-1])
        return found

    def _best(self, nodes: Nodes, by: By, count: int, weights: NDArray[np.float64] | None = None) -> Nodes:
        """The most relevant of some nodes, best first."""
        score = -self._room.log_odds[nodes]
        if by == "weight" and weights is not None:
            keys = score, -weights
        elif by == "known":
            keys = score, -self._room.positives[nodes].astype(np.float64)
        else:
            keys = nodes.astype(np.float64), score
        return nodes[np.lexsort(keys)[:count]]

    def _drawn(self, nodes: list[int], places: dict[int, tuple[float, float]], cut: bool) -> dict[str, Any]:
        """The reply: nodes that have a place, and the edges among all of them that end at one of these."""
        nodes = nodes[:MAX_NODES]
        inside = np.unique(nodes).astype(np.int64)
        placed = [node for node in nodes if node in places]
        edges, all_edges = self._edges(inside, set(placed))
        rows = self._room.rows(placed)
        for row, node in zip(rows, placed, strict=True):
            around = self._graph.neighbours(node)
            x, y = places[node]
            row |= {"degree": len(around), "shown": len(_common(around, inside)), "x": x, "y": y}
        return {"nodes": rows, "edges": edges, "cut": cut or not all_edges}

    def _edges(self, inside: Nodes, new: set[int]) -> tuple[list[dict[str, Any]], bool]:
        """The edges among nodes that end at a new one, and whether these are all."""
        found: list[dict[str, Any]] = []
        for link in self._links:
            for node in inside.tolist():
                row, weights = _row(link.edges, node)
                ends = _common(row, inside)
                for end, weight in zip(ends.tolist(), weights[np.searchsorted(row, ends)].tolist(), strict=True):
                    once = link.back is not None or node < end
                    if once and (node in new or end in new):
                        if len(found) == MAX_EDGES:
                            return found, False
                        found.append({"source": node, "target": end, "relation": link.name, "weight": weight})
        return found, True


def _row(edges: Graph | Relation, node: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The neighbours of a node along some edges, sorted, and their weights."""
    inside = slice(edges.indptr[node], edges.indptr[node + 1])
    row = edges.indices[inside]
    return row, np.ones(len(row)) if edges.weights is None else edges.weights[inside].astype(np.float64)


def _common(row: NDArray[Any], nodes: Nodes) -> NDArray[Any]:
    """What two sorted lists have in common; the row may be that of a hub."""
    long, short = (row, nodes) if len(row) > len(nodes) else (nodes, row)
    if not len(long):
        return short[:0]
    at = np.minimum(np.searchsorted(long, short), len(long) - 1)
    common: NDArray[Any] = short[long[at] == short]
    return common


def _circle(centre: tuple[float, float], nodes: list[int], radius: float) -> dict[int, tuple[float, float]]:
    """Places on a circle around a node, where a layout may begin."""
    turn = 2 * math.pi / max(len(nodes), 1)
    x, y = centre
    return {node: (x + radius * math.cos(at * turn), y + radius * math.sin(at * turn)) for at, node in enumerate(nodes)}
