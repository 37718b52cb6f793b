import numpy as np
import pytest

from pugnn.graph import Graph
from pugnn.views import FAR, RESTART, STEPS, closeness

RNG = np.random.default_rng(0)
ENDS = RNG.integers(0, 29, (2, 45))  # node 29 has no link


def by_plain_loops(graph: Graph, known: list[int]) -> list[float]:
    """As the formula says, with numbers alone."""
    n, adjacency = graph.num_nodes, graph.to_scipy().toarray().astype(float)
    degree = [1 + sum(adjacency[i]) for i in range(n)]
    start = [1.0 if i in known else 0.0 for i in range(n)]
    spread = start
    for _ in range(STEPS):
        spread = [
            RESTART * start[i]
            + (1 - RESTART)
            * sum((adjacency[i, j] + (i == j)) / (degree[i] * degree[j]) ** 0.5 * spread[j] for j in range(n))
            for i in range(n)
        ]
    walks = [spread[i] / degree[i] ** 0.5 for i in range(n)]
    others = [walks[i] for i in range(n) if i not in known]
    logs = [np.log(walk / (sum(others) / len(others)) + FAR) for walk in walks]
    return [each - sum(logs) / n for each in logs]


@pytest.mark.parametrize("weights", [None, RNG.random(45) + 0.1])
def test_closeness_by_plain_loops(weights):
    graph = Graph.from_edges(*ENDS, num_nodes=30, weights=weights, features=np.eye(30))
    known = np.zeros((30, 2), np.float32)
    known[[3, 7, 12], 0] = 1
    known[5, 1] = 1
    found = closeness(graph, known)
    assert found[:, 0] == pytest.approx(by_plain_loops(graph, [3, 7, 12]), abs=1e-4)
    assert found[:, 1] == pytest.approx(by_plain_loops(graph, [5]), abs=1e-4)
    assert found[29, 0] == found[:, 0].min(), "no walk leads anywhere from there"


@pytest.mark.parametrize("known", [[], [29], list(range(30))])
def test_without_anybody_to_be_close_to_all_are_equally_close(known):
    graph = Graph.from_edges(*ENDS, num_nodes=30, features=np.eye(30))
    seeds = np.isin(np.arange(30), known).astype(np.float32)[:, None]
    found = closeness(graph, seeds)
    assert np.isfinite(found).all()
    assert found == pytest.approx(np.zeros((30, 1)), abs=1e-5)
