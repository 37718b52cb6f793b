"""The picture of the graph around the best finds: its nodes and their layout."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import shown
from pugnn.graph import Graph
from pugnn.runs.run import Run

FINDS, MAX_NODES, NEIGHBOURS_EACH = 20, 90, 4

#: Longer paths from a find to its nearest known positive are not drawn.
MAX_PATH_LENGTH = 4

#: Sizes of the picture in pixels on a laptop and on a phone, and the radius kept free there around a node with a label
#: and around one without.
WIDE, WIDE_ROOMS = (920.0, 500.0), (26.0, 12.0)
TALL, TALL_ROOMS = (320.0, 430.0), (15.0, 8.0)

#: Pull towards the centre, with which nodes nearly fill the box, and a limit that keeps a few nodes from its corners.
GRAVITY, MAX_SCALE = 3.0, 1.4

#: Steps of the layout.
ROUNDS = 300


def picture(run: Run) -> tuple[list[dict[str, Any]], list[tuple[int, int]]]:
    """The best finds, their paths to the nearest known positives, and their best neighbours; and which are linked.

    Positions, ``wide`` on a laptop and ``tall`` on a phone, lie between 0 and 1; finds have a ``rank``.
    """
    others = run.task.graph.num_nodes - len(run.scores)  # nodes of other kinds than the target have no score, but −1
    scores = np.pad(run.scores, (0, others), constant_values=-1.0)
    nodes = _chosen(run, scores)
    lines = _lines(run.task.graph, nodes)
    finds = run.others[:FINDS].tolist()
    ranks = {node: rank for rank, node in enumerate(finds, 1)}
    kinds = ["known" if run.known[node] > 0 else "find" if node in ranks else "other" for node in nodes]
    labelled = np.array([kind != "other" for kind in kinds], dtype=bool)
    wide = layout(lines, WIDE, np.where(labelled, *WIDE_ROOMS))
    tall = layout(lines, TALL, np.where(labelled, *TALL_ROOMS))
    dots = [
        {
            "wide": wide[at],
            "tall": tall[at],
            "name": run.name(node),
            "label": shown(run.task.graph.ids[node], limit=14),
            "score": float(scores[node]),
            "kind": kinds[at],
            "rank": ranks.get(node),
        }
        for at, node in enumerate(nodes)
    ]
    return dots, lines


def _chosen(run: Run, scores: NDArray[np.float64]) -> list[int]:
    """Positions of the nodes in the picture: finds, then paths, then neighbours, as far as there is room."""
    graph, finds = run.task.graph, run.others[:FINDS].tolist()
    paths = [node for find in finds for node in _path(run, find)]
    neighbours = []
    for find in finds:
        around = graph.neighbours(find)
        best = np.argsort(-(scores[around] + (run.known[around] > 0)), kind="stable")  # known ones first
        neighbours += around[best[:NEIGHBOURS_EACH]].tolist()
    return list(dict.fromkeys([*finds, *paths, *neighbours]))[:MAX_NODES]


def _path(run: Run, node: int) -> list[int]:
    """One shortest path from a node to its nearest known positive, without the node itself."""
    distances, nearest = run.task.distances, run.task.nearest
    path: list[int] = []
    while 0 < distances[node] <= MAX_PATH_LENGTH:
        around = run.task.graph.neighbours(node)
        node = int(around[(distances[around] < distances[node]) & (nearest[around] == nearest[node])][0])
        path.append(node)
    return path


def _lines(graph: Graph, nodes: list[int]) -> list[tuple[int, int]]:
    place = {node: at for at, node in enumerate(nodes)}
    chosen = np.sort(nodes)
    return [
        (at, place[other])
        for at, node in enumerate(nodes)
        for other in np.intersect1d(graph.neighbours(node), chosen, assume_unique=True).tolist()
        if at < place[other]
    ]


def layout(
    lines: list[tuple[int, int]], size: tuple[float, float], rooms: NDArray[np.float64]
) -> list[tuple[float, float]]:
    """Positions between 0 and 1 in a box: linked nodes attract, all nodes repel, and none covers another.

    The forces are those of Fruchterman and Reingold, with a pull towards the centre that keeps separate parts close. It
    starts from a spiral, so the same graph always gives the same picture. ``lines`` are pairs of linked nodes, ``size``
    is that of the box, and ``rooms`` are the radii kept free around the nodes.
    """
    count, (width, height) = len(rooms), size
    turn = np.arange(count) * np.pi * (3 - 5**0.5)
    spiral = np.sqrt((np.arange(count) + 0.5) / count) * np.exp(1j * turn)
    places = spiral.real * width / 2 + 1j * spiral.imag * height / 2  # complex numbers: one array for both coordinates
    linked = np.zeros((count, count))
    for one, other in lines:
        linked[one, other] = linked[other, one] = 1
    ideal, shorter = 0.75 * (width * height / count) ** 0.5, min(size)
    for heat in np.linspace(max(size) / 10, 1.0, ROUNDS):
        apart, far = _differences(places)
        force = (apart * ((ideal / far) ** 2 - linked * far / ideal)).sum(axis=1)
        force -= GRAVITY * shorter * (places.real / width + 1j * places.imag / height)  # stronger where it is shorter
        places += force * np.minimum(1.0, heat / np.maximum(np.abs(force), 1e-9))
    across, down = _fitted(places.real, width), _fitted(places.imag, height)
    places = _spread(across + 1j * down, size, rooms)
    return [(round(place.real / width, 4), round(place.imag / height, 4)) for place in places.tolist()]


def _fitted(values: NDArray[np.float64], length: float) -> NDArray[np.float64]:
    """One coordinate of all nodes, centred and scaled so that it nearly fills its side of the box."""
    low, high = float(values.min()), float(values.max())
    return (values - (low + high) / 2) * min(length / max(high - low, 1.0), MAX_SCALE) + length / 2


def _spread(
    places: NDArray[np.complex128], size: tuple[float, float], rooms: NDArray[np.float64]
) -> NDArray[np.complex128]:
    """Push nodes apart until each has its room, inside the box."""
    needed = rooms[:, None] + rooms[None, :]
    for _ in range(100):
        apart, far = _differences(places)
        if (far >= needed).all():
            break
        places = places + (apart / far * np.maximum(needed - far, 0.0) / 2).sum(axis=1)
        places = np.clip(places.real, 0.0, size[0]) + 1j * np.clip(places.imag, 0.0, size[1])
    return places


def _differences(places: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], NDArray[np.float64]]:
    """Differences and distances of all pairs; a node is very far from itself."""
    apart = places[:, None] - places[None, :]
    far = np.maximum(np.abs(apart), 1e-3)
    np.fill_diagonal(far, 1e9)
    return apart, far
