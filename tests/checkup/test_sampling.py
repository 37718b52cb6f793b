from collections import Counter

import numpy as np
import pytest

from checkup.planted import planted, with_hubs
from conftest import random_graph
from pugnn.checkup.resemblance import Directions
from pugnn.checkup.sampling import (
    check_features,
    check_links,
    check_sampling,
    more_links_than_neighbours,
)
from pugnn.datasets import load_dataset
from pugnn.graph import Graph
from pugnn.task import PUTask


def sampling(graph, labelled, *, together=True, seed=0):
    rng = np.random.default_rng(seed)
    directions = Directions.of(graph, rng) if graph.num_features else None
    task = PUTask.from_positives(graph, np.sort(labelled))
    return check_sampling(task, directions, rng, together=together)


def test_more_links_than_neighbours_by_plain_loops():
    graph = random_graph(40, 0.15, 2)
    known = np.array([node for node in (0, 3, 7, 11, 20, 31) if graph.degrees[node]])

    def chance(of):
        won = total = 0.0
        for i in of:
            for k in of:
                if i != k:
                    for j in graph.neighbours(k):
                        more = (graph.degrees[i] > graph.degrees[j]) + 0.5 * (graph.degrees[i] == graph.degrees[j])
                        won += more / graph.degrees[j]
                        total += 1 / graph.degrees[j]
        return won / total

    without = np.array([chance(np.delete(known, at)) for at in range(len(known))])
    error = np.sqrt((len(known) - 1) / len(known) * ((without - without.mean()) ** 2).sum())
    assert more_links_than_neighbours(graph, known) == pytest.approx((chance(known), error))


def test_known_neighbours_bound_the_number_of_positives():
    """Six in a ring, each linked to one node outside: two of three neighbours are known."""
    ring = [(i, (i + 1) % 6) for i in range(6)] + [(i, 6 + i) for i in range(6)]
    found = check_links(Graph.from_edges(*np.array(ring).T), np.arange(6))
    assert found is not None
    assert found.known_share == pytest.approx(2 / 3)
    assert found.implied_positives == pytest.approx(9)
    assert found.close


def test_a_few_links_tell_nothing():
    assert check_links(Graph.from_edges([0, 1, 2], [1, 2, 3]), np.array([0, 1, 2])) is None


def test_features_count_who_is_as_near_as_the_third_known_one():
    graph = planted(0.05, 0.05, features=5)
    labelled = np.arange(0, 200, 10)
    rng = np.random.default_rng(0)
    directions = Directions.of(graph, rng)
    task = PUTask.from_positives(graph, labelled)
    found = check_features(task, labelled, directions, rng)
    u = directions(np.arange(400)).astype(np.float64)
    shares = []
    for i in labelled:
        reach = sorted((u[i] @ u[k] for k in labelled if k != i), reverse=True)[2] - 1e-5
        near = [node for node in range(400) if node != i and u[i] @ u[node] >= reach]
        shares.append(np.isin(near, labelled).mean())
    assert found.known_share == pytest.approx(np.median(shares), rel=1e-3)


def test_nodes_that_are_all_the_same_are_no_corner():
    graph = Graph.from_edges(np.arange(299), np.arange(1, 300), features=np.ones((300, 3)))
    labelled = np.arange(0, 300, 20)
    rng = np.random.default_rng(0)
    found = check_features(PUTask.from_positives(graph, labelled), labelled, Directions.of(graph, rng), rng)
    assert not found.close


def test_random_positives_of_a_planted_graph_look_random():
    rng = np.random.default_rng(0)
    graph = with_hubs()
    found = Counter(sampling(graph, rng.choice(300, 40, replace=False)).verdict for _ in range(20))
    assert found["random"] >= 18


@pytest.mark.parametrize("together", [True, False])
def test_positives_drawn_by_degree_are_noticed(together):
    rng = np.random.default_rng(0)
    graph = with_hubs()
    weights = graph.degrees[:300] / graph.degrees[:300].sum()
    for _ in range(5):
        found = sampling(graph, rng.choice(300, 40, replace=False, p=weights), together=together)
        assert found.verdict == "not random"
        assert found.degree is not None
        assert found.degree.bias == "many"
        assert found.degree.compared_with == ("likely positives" if together else "all nodes")


def test_positives_with_few_links_are_noticed():
    graph = with_hubs()
    poorest = np.argsort(graph.degrees[:300] + 1000 * (graph.degrees[:300] == 0), kind="stable")[:40]
    found = sampling(graph, poorest)
    assert found.degree is not None
    assert found.degree.bias == "few"


def test_known_positives_in_one_of_two_components_are_noticed():
    half = planted(0.05, 0.05, nodes=200, features=0)
    graph = Graph.from_edges(
        np.concatenate([half.sources, half.sources + 200]),
        np.concatenate([half.indices, half.indices + 200]),
        num_nodes=400,
    )
    found = sampling(graph, np.arange(0, 200, 8))
    assert found.component is not None
    assert found.component.concentrated
    assert found.component.node_share == pytest.approx(0.5, abs=0.02)
    everywhere = sampling(graph, np.arange(0, 400, 16))
    assert everywhere.component is not None
    assert not everywhere.component.concentrated


def test_where_all_degrees_are_the_same_nothing_is_said_of_them():
    ring = Graph.from_edges(np.arange(60), (np.arange(60) + 1) % 60)
    found = sampling(ring, np.arange(0, 60, 4), together=False)
    assert found.degree is not None
    assert found.degree.bias is None


def test_fewer_than_ten_tell_nothing():
    assert sampling(planted(0.05, 0.05), np.arange(5)).verdict == "too few"


def test_cora():
    """Random labels pass; labels by squared degree, and those found by following links, are noticed."""
    cora = load_dataset("cora")
    graph, positive = cora.graph, np.flatnonzero(cora.positive)
    rng = np.random.default_rng(0)
    random = Counter(sampling(graph, rng.choice(positive, 27, replace=False)).verdict for _ in range(20))
    assert random["random"] >= 18
    weights = graph.degrees[positive].astype(float) ** 2
    for _ in range(5):
        hubs = rng.choice(positive, 27, replace=False, p=weights / weights.sum())
        assert sampling(graph, hubs).verdict == "not random"
    start = int(positive[np.argmax(graph.degrees[positive])])
    cluster = [start, *(node for node in graph.neighbours(start).tolist() if cora.positive[node])][:27]
    found = sampling(graph, np.array(cluster))
    assert found.links is not None
    assert found.links.close


@pytest.mark.data
@pytest.mark.parametrize("name", ["tolokers", "squirrel_filtered", "polblogs"])
def test_named_data_sets_by_degree(name):
    data = load_dataset(name)
    rng = np.random.default_rng(0)
    positive = np.flatnonzero(data.positive)
    weights = data.graph.degrees[positive] / data.graph.degrees[positive].sum()
    together = name == "polblogs"
    for _ in range(5):
        drawn = rng.choice(positive, 40, replace=False, p=weights)
        assert sampling(data.graph, drawn, together=together).verdict == "not random"
    random = Counter(
        sampling(data.graph, rng.choice(positive, 40, replace=False), together=together).verdict for _ in range(10)
    )
    assert random["random"] >= 9


def test_many_small_parts_are_no_sign_against_a_random_sample():
    nodes = np.arange(2000)
    rings = Graph.from_edges(nodes, nodes // 5 * 5 + (nodes + 1) % 5)
    for seed in range(10):
        labelled = np.random.default_rng(seed).choice(2000, 40, replace=False)
        found = sampling(rings, labelled).component
        assert found is not None
        assert found.p_value > 0.01
