from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from conftest import random_graph, special_graphs
from pugnn.features.structure import Structure, hash_ids
from pugnn.graph import Graph


def by_plain_loops(graph, signs, hops):
    x = [list(map(float, row)) for row in signs]
    width, nodes = len(x[0]), range(graph.num_nodes)
    mean = [0.0] * width
    for _ in range(hops):
        made = []
        for node in nodes:
            members = [node, *graph.neighbours(node)]
            row = [sum(x[m][place] for m in members) / len(members) - mean[place] for place in range(width)]
            length = sum(value**2 for value in row) ** 0.5
            made.append([value / length for value in row] if len(members) > 1 and length else [0.0] * width)
        x = made
        total = sum(graph.degrees[node] + 1 for node in nodes)
        mean = [sum((graph.degrees[node] + 1) * x[node][place] for node in nodes) / total for place in range(width)]
    return np.array(x)


@pytest.mark.parametrize("hops", [1, 2, 5])
def test_smoothing_by_plain_loops(hops):
    graph = random_graph(30, 0.08, seed=1)
    signs = Structure(width=6, hops=0).encode(graph)
    assert set(np.unique(signs)) == {-1, 1}
    np.testing.assert_allclose(
        Structure(width=6, hops=hops).encode(graph), by_plain_loops(graph, signs, hops), atol=1e-5
    )


@pytest.mark.parametrize("name", special_graphs())
def test_rows_have_length_one_and_isolated_nodes_zeros(name):
    graph = special_graphs()[name]
    features = Structure().encode(graph)
    lengths = np.linalg.norm(features, axis=1)
    assert features.dtype == np.float32
    assert not lengths[graph.degrees == 0].any()
    some = lengths[graph.degrees > 0]
    assert (np.isclose(some, 1, atol=1e-5) | (some == 0)).all()


def test_the_number_of_threads_makes_no_difference(monkeypatch):
    graph = random_graph(200, 0.05, seed=2)
    several = Structure().encode(graph)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    np.testing.assert_array_equal(Structure().encode(graph), several)


def test_signs_belong_to_ids_and_not_to_positions():
    graph = random_graph(60, 0.1, seed=3)
    order = np.random.default_rng(0).permutation(60)
    turned = Graph.from_scipy(graph.to_scipy()[order][:, order], ids=graph.ids[order].tolist())
    np.testing.assert_allclose(Structure().encode(turned), Structure().encode(graph)[order], atol=1e-4)


def test_ids_are_hashed_by_their_text():
    hashes = hash_ids(np.array([7, "7", "ann", "\ud800", ("a", 1)], dtype=object))
    assert hashes[0] == hashes[1]
    assert len(set(hashes.tolist())) == 4


def two_regions(inside, joined):
    """Two copies of a graph of 20 nodes, joined by an edge."""
    pairs = [(i, j) for i, j in product(range(20), repeat=2) if i < j and inside(i, j)]
    pairs += [(i + 20, j + 20) for i, j in pairs]
    return Graph.from_edges(*np.array([*pairs, joined]).T)


@pytest.mark.parametrize("inside", [lambda i, j: True, lambda i, j: (i + j) % 2 == 1], ids=["dense", "bipartite"])
def test_regions_are_told_apart(inside):
    features = Structure().encode(two_regions(inside, (0, 39)))
    alike = features @ features.T
    assert alike[:20, :20].min() > 0.9
    assert alike[:20, 20:].max() < -0.9


def test_a_small_change_of_the_graph_changes_little():
    graph = two_regions(lambda i, j: j - i <= 6, (0, 39))
    ends = np.stack([graph.sources, graph.indices])[:, graph.sources < graph.indices]
    grown = Graph.from_edges(*np.hstack([ends, [[40, 40], [0, 5]]]))  # a new node, joined to two of the first region
    before, after = Structure().encode(graph), Structure().encode(grown)
    assert (before * after[:40]).sum(axis=1).min() > 0.9
    assert after[40] @ after[3] > 0.9


def test_weights_and_features_of_the_graph_play_no_part():
    graph = random_graph(30, 0.2, seed=4)
    weighted = replace(graph, weights=np.full(len(graph.indices), 7, dtype=np.float32))
    np.testing.assert_array_equal(Structure().encode(weighted), Structure().encode(graph))


@pytest.mark.parametrize("nodes", [1, 12, 300])
def test_threads_change_nothing(monkeypatch, nodes):
    graph = random_graph(nodes, 0.1, seed=0)
    alone = Structure().encode(graph)
    monkeypatch.setattr("pugnn.graph.smoothing._ENTRIES", 8)
    assert np.array_equal(Structure().encode(graph), alone)
