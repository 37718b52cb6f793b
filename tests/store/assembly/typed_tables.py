"""A tiny graph of users, items and shops with everything that relations may hold, and its rows by plain loops."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd

ORDERS = pd.DataFrame(
    {
        "user": ["u1", "u2", "u9", "u1", "u2"],
        "item": ["u1", "i2", "i3", "u1", "u1"],
        "weight": [1.0, 2.0, 3.0, 4.0, 0.5],
    }
)
KNOWS = pd.DataFrame({"source": ["u1", "u3", "u3", "u2", "u2"], "target": ["u3", "u1", "u1", "u2", "u9"]})
SOLD = pd.DataFrame({"source": ["i2", "i3"], "target": ["s", "s"]})
USERS = pd.DataFrame({"id": ["u3", "u1", "u2"], "age": [30.0, 50.0, 80.0]})
ITEMS = pd.DataFrame({"item": ["i2", "u1"], "price": [1.0, 9.0]})

EDGES = {"user:bought:item": ORDERS, ("user", "knows", "user"): KNOWS, "item:sold:shop": SOLD}
NODES = {"user": USERS, "item": ITEMS}
IDS = ["u3", "u1", "u2", "u9", "item:i2", "item:u1", "item:i3", "shop:s"]
POSITION = {name: at for at, name in enumerate(IDS)}


def rows(
    pairs: list[tuple[str, str]], weights: list[float] | None = None, *, both: bool = True
) -> list[dict[int, Any]]:
    """Neighbours of each node with the sum of weights, or 1; in both directions, or from the first end alone."""
    found: list[dict[int, Any]] = [defaultdict(float) for _ in IDS]
    for at, (one, other) in enumerate(pairs):
        u, v = POSITION[one], POSITION[other]
        if u != v:
            for here, there in ((u, v), (v, u))[: 1 + both]:
                found[here][there] += 1 if weights is None else weights[at]
    return [dict(sorted(row.items())) for row in found]


def bought() -> list[dict[int, Any]]:
    """Rows of who bought what."""
    pairs = [(user, f"item:{item}") for user, item in zip(ORDERS.user, ORDERS.item, strict=True)]
    return rows(pairs, ORDERS.weight.tolist())


def knows(*, out: bool | None = None) -> list[dict[int, Any]]:
    """Rows of who knows whom, or of one direction."""
    pairs = list(zip(KNOWS.source, KNOWS.target, strict=True))
    if out is None:
        return rows(pairs)
    return rows([pair if out else pair[::-1] for pair in pairs], both=False)


def sold() -> list[dict[int, Any]]:
    """Rows of what is sold where."""
    return rows([(f"item:{item}", f"shop:{shop}") for item, shop in zip(SOLD.source, SOLD.target, strict=True)])


def assert_rows(graph: Any, expected: list[dict[int, Any]]) -> None:
    """That a graph, or a relation, has these rows."""
    for node, row in enumerate(expected):
        inside = slice(graph.indptr[node], graph.indptr[node + 1])
        assert graph.indices[inside].tolist() == list(row), node
        if graph.weights is not None:
            np.testing.assert_allclose(graph.weights[inside], list(row.values()))
