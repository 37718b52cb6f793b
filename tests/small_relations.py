"""Small graphs with several relations, made without tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pugnn.graph import Graph, Relation
from pugnn.graph.adjacency import symmetric_csr
from pugnn.graph.relations import IN, OUT, directed_rows, joined_rows

Ends = tuple[str, str]


def undirected(nodes: int, u, v, weights=None, ends: Ends = ("", "")) -> Relation:
    """The edges between ``u`` and ``v``."""
    w = None if weights is None else np.asarray(weights, np.float32)
    return Relation(*symmetric_csr(nodes, np.asarray(u), np.asarray(v), w)[:3], ends)


def directed(name: str, nodes: int, u, v, weights=None, ends: Ends = ("", "")) -> dict[str, Relation]:
    """The edges from ``u`` to ``v``, as two relations."""
    w = None if weights is None else np.asarray(weights, np.float32)
    forward, backward = directed_rows(nodes, np.asarray(u), np.asarray(v), w)
    out, back = name + OUT, name + IN
    return {out: Relation(*forward[:3], ends, back), back: Relation(*backward[:3], ends, out)}


def typed(relations: dict[str, Relation], features=None, kinds: dict[str, int] | None = None) -> Graph:
    """The graph of relations, as the reader of tables makes it."""
    indptr, indices, weights = joined_rows(relations.values())
    n = len(indptr) - 1
    x = np.zeros((n, 0), np.float32) if features is None else features
    ids = np.array([f"n{node}" for node in range(n)], dtype=object)
    return Graph(indptr, indices, x, ids, weights, relations=relations, kinds=kinds or {})


def matrix_of(part: Graph | Relation) -> np.ndarray:
    """The adjacency as a dense matrix, by plain loops."""
    n = len(part.indptr) - 1
    dense = np.zeros((n, n))
    for row in range(n):
        for entry in range(part.indptr[row], part.indptr[row + 1]):
            dense[row, part.indices[entry]] = 1 if part.weights is None else part.weights[entry]
    return dense


def shop(*, users: int = 30, items: int = 12, features: int = 3, seed: int = 0) -> Graph:
    """Users who know each other, buy items, and pay each other, at random; 0 ``features`` for none."""
    rng, n = np.random.default_rng(seed), users + items
    bought = rng.integers(0, users, 3 * users), users + rng.integers(0, items, 3 * users)
    relations = {
        "knows": undirected(n, *rng.integers(0, users, (2, 2 * users)), ends=("user", "user")),
        "buys": undirected(n, *bought, rng.uniform(0.5, 2, 3 * users), ends=("user", "item")),
        **directed("pays", n, *rng.integers(0, users, (2, 2 * users)), ends=("user", "user")),
    }
    x = rng.normal(size=(n, features)).astype(np.float32) if features else None
    return typed(relations, x, {"user": users, "item": items})


def planted_relations(
    seed: int, *, nodes: int = 400, positive: int = 100, inside: float = 0.5
) -> tuple[Graph, np.ndarray]:
    """A relation that links like to like, two that link at random, and who is positive."""
    rng = np.random.default_rng(seed)
    truth = np.zeros(nodes, bool)
    truth[rng.choice(nodes, positive, replace=False)] = True
    sources = np.repeat(np.arange(nodes), 4)
    same = rng.random(len(sources)) < inside
    likely = {label: np.flatnonzero(truth == label) for label in (True, False)}
    liked = np.array([rng.choice(likely[bool(truth[u])]) for u in sources])
    relations = {"signal": undirected(nodes, sources, np.where(same, liked, rng.integers(0, nodes, len(sources))))}
    for name in ("noise", "more noise"):
        relations[name] = undirected(nodes, sources, rng.integers(0, nodes, len(sources)))
    return typed(relations), truth


def of_one(graph: Graph, name: str) -> Graph:
    """The same nodes with one of their relations."""
    return replace(typed({name: graph.relations[name]}), ids=graph.ids)
