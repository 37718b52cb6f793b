import numpy as np
import pytest

from conftest import random_graph
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.models import attention
from pugnn.models.attention import hop_graphs


def members(graph: Graph, number: int) -> list[list[list[int]]]:
    return [
        [found[starts[i] : starts[i + 1]].tolist() for i in range(graph.num_nodes)]
        for starts, found in hop_graphs(graph, number)
    ]


def by_dense_powers(graph: Graph, number: int) -> list[list[list[int]]]:
    adjacency = (graph.to_scipy().toarray() > 0).astype(object)  # Python's integers: walks are counted without limit
    power, structures = np.eye(graph.num_nodes, dtype=int).astype(object), []
    for _ in range(number):
        power = power.dot(adjacency)
        structures.append([sorted({i, *np.flatnonzero(row != 0).tolist()}) for i, row in enumerate(power)])
    return structures


@pytest.mark.parametrize("seed", range(6))
def test_equals_dense_powers(seed):
    graph = random_graph(30, (0.03, 0.08, 0.2)[seed % 3], seed)
    assert members(graph, 4) == by_dense_powers(graph, 4)


def test_special_graphs(special_graph):
    if special_graph.num_nodes > 500:
        special_graph = Graph.from_edges(*np.array([(0, other) for other in range(1, 80, 2)]).T, num_nodes=200)
    assert members(special_graph, 3) == by_dense_powers(special_graph, 3)


def test_isolated_nodes_have_themselves_only():
    graph = Graph.from_edges([0], [1], num_nodes=4)
    for structure in members(graph, 3):
        assert structure[2:] == [[2], [3]]


def test_graph_without_edges():
    assert members(Graph.from_edges([], [], num_nodes=3), 2) == [[[0], [1], [2]]] * 2


def test_walks_do_not_leave_their_component():
    path = [(0, 1), (1, 2), (2, 3)]
    graph = Graph.from_edges(*np.array(path + [(a + 4, b + 4) for a, b in path]).T)
    for structure in members(graph, 5):
        assert [[j + 4 for j in row] for row in structure[:4]] == structure[4:]


def test_types_order_and_symmetry(special_graph):
    for starts, found in hop_graphs(special_graph, 3):
        assert (starts.dtype, found.dtype) == (np.int64, np.int32)
        i = np.repeat(np.arange(special_graph.num_nodes), np.diff(starts))
        pairs = i * special_graph.num_nodes + found
        assert (np.diff(pairs) > 0).all()  # sorted, each pair once
        assert np.array_equal(pairs, np.sort(found.astype(np.int64) * special_graph.num_nodes + i))


def test_weights_play_no_part():
    graph = random_graph(20, 0.15, seed=1)
    weighted = Graph.from_edges(
        graph.sources, graph.indices, num_nodes=20, weights=np.random.default_rng(0).random(len(graph.indices)) + 0.1
    )
    assert members(weighted, 3) == members(graph, 3)


def test_too_many_pairs_are_refused_before_they_are_made(monkeypatch):
    star = Graph.from_edges(np.zeros(99, dtype=int), np.arange(1, 100))
    monkeypatch.setattr(attention, "MAX_ENTRIES", 9_000)
    assert len(hop_graphs(star, 1)) == 1
    # From the hub to itself, and between any two others: 1 + 99 · 99 pairs.
    with pytest.raises(PugnnError, match=r"walks of 2 steps join up to 9,\d* pairs .* Lower hops to 1"):
        hop_graphs(star, 2)
