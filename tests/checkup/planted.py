"""Graphs whose answer is known, because they were made so."""

from __future__ import annotations

import numpy as np

from pugnn.graph import Graph


def planted(same: float, other: float, *, seed: int = 0, nodes: int = 400, features: int = 20) -> Graph:
    """A stochastic block model: the first half of the nodes is positive, and its features lean to one side.

    Args:
        same: probability of a link between nodes of the same kind.
        other: probability of a link between nodes of different kinds.
        seed: decides everything.
        nodes: number of nodes.
        features: number of features; 0 for none.
    """
    rng = np.random.default_rng(seed)
    positive = np.arange(nodes) < nodes // 2
    chance = np.where(positive[:, None] == positive, same, other)
    source, target = np.nonzero(np.triu(rng.random((nodes, nodes)) < chance, 1))
    x = rng.normal(size=(nodes, features)) + 0.5 * np.where(positive, 1, -1)[:, None] * np.sign(
        np.arange(features) % 2 - 0.5
    )
    return Graph.from_edges(source, target, num_nodes=nodes, features=x.astype(np.float32))


def with_hubs(*, seed: int = 0, nodes: int = 600) -> Graph:
    """Two kinds that cluster, with very unequal numbers of links in both."""
    rng = np.random.default_rng(seed)
    positive = np.arange(nodes) < nodes // 2
    weight = rng.pareto(1.5, nodes) + 1
    chance = np.outer(weight, weight) * np.where(positive[:, None] == positive, 1.8, 0.2) * 4 / weight.sum()
    source, target = np.nonzero(np.triu(rng.random((nodes, nodes)) < chance, 1))
    return Graph.from_edges(source, target, num_nodes=nodes)
