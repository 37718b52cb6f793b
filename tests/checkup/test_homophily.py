from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

from checkup.planted import planted
from conftest import random_graph
from pugnn.checkup.chance import draw_crowd
from pugnn.checkup.homophily import check_homophily, link_weights, resemblance_around, surroundings
from pugnn.checkup.resemblance import Directions
from pugnn.datasets import load_dataset
from pugnn.graph import Graph
from pugnn.task import draw_benchmark


def verdict(graph, labelled, seed=0):
    rng = np.random.default_rng(seed)
    directions = Directions.of(graph, rng) if graph.num_features else None
    return check_homophily(graph, np.sort(labelled), directions, rng).verdict


def verdicts(graph, pool, count, draws=10):
    rng = np.random.default_rng(1)
    return Counter(verdict(graph, rng.choice(pool, count, replace=False), seed) for seed in range(draws))


def test_links_and_shared_neighbours_by_plain_loops():
    graph = random_graph(30, 0.15, 3)
    nodes = np.array([1, 4, 9, 17, 22])
    found = link_weights(graph, nodes)
    joined = {(u, v) for u in range(30) for v in graph.neighbours(u).tolist()}
    for a, i in enumerate(nodes.tolist()):
        for b, k in enumerate(nodes.tolist()):
            if a != b:
                shared = sum(1 / graph.degrees[m] for m in range(30) if (i, m) in joined and (m, k) in joined)
                assert found[a, b] == pytest.approx(((i, k) in joined) + shared, rel=1e-5)


def test_surroundings_are_the_mean_of_what_is_met():
    """On a triangle with one leaf the leaf's walks meet its neighbour most, and never count the leaf itself."""
    x = np.eye(4, dtype=np.float32)
    graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], features=x)
    directions = Directions(graph, np.zeros(4, np.float32), np.ones(4, np.float32), np.zeros(4, np.float32))
    around = surroundings(graph, np.array([3, 0]), directions, np.random.default_rng(0))
    assert around.sum(axis=1) == pytest.approx([1, 1], rel=1e-5)
    assert around[0, 3] == 0
    assert around[0, 2] > 0.3
    assert around[1, 0] == 0


def test_nodes_without_links_have_no_surroundings():
    graph = Graph.from_edges([0], [1], num_nodes=3, features=np.eye(3))
    directions = Directions.of(graph, np.random.default_rng(0))
    assert (surroundings(graph, np.array([2]), directions, np.random.default_rng(0)) == 0).all()


def test_resemblance_leaves_the_node_itself_out():
    graph = random_graph(40, 0.2, 1, features=6)
    rng = np.random.default_rng(0)
    directions = Directions.of(graph, rng)
    crowd = draw_crowd(graph.degrees, np.array([1, 5, 8, 20]), rng)
    found = resemblance_around(graph, crowd, directions, np.random.default_rng(3))
    around = surroundings(graph, crowd.nodes, directions, np.random.default_rng(3))
    known = crowd.nodes[: crowd.known].tolist()
    for at, node in enumerate(crowd.nodes.tolist()):
        others = [directions(np.array([k]))[0] for k in known if k != node]
        assert found[at] == pytest.approx(around[at] @ np.mean(others, axis=0), abs=1e-5)


def test_directions_have_length_one_before_the_mean_is_taken():
    graph = random_graph(50, 0.1, 0, features=4)
    directions = Directions.of(graph, np.random.default_rng(0))
    units = directions.units(np.arange(50))
    assert np.linalg.norm(units, axis=1) == pytest.approx(np.ones(50), rel=1e-5)
    assert directions(np.arange(50)).mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-6)


def test_a_constant_column_and_an_empty_row_do_no_harm():
    x = np.array([[1, 0], [1, 0], [1, 2], [1, 3]], dtype=np.float32)
    graph = Graph.from_edges([0, 1], [1, 2], features=x)
    assert np.isfinite(Directions.of(graph, np.random.default_rng(0))(np.arange(4))).all()


def test_sparse_features_give_the_same_directions_as_dense_ones():
    cora = load_dataset("cora").graph
    directions = Directions.of(cora, np.random.default_rng(0))
    nodes = np.array([0, 5, 9])
    rows = cora.features[nodes].toarray() * directions.scale
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.allclose(directions(nodes), rows - directions.mean, atol=1e-6)
    weights = sp.csr_array(np.array([[1, 0, 2], [0, 0.5, 0]], dtype=np.float32))
    assert np.allclose(directions.mixed(weights, nodes), weights @ directions(nodes), atol=1e-6)
    assert np.allclose(
        directions.alike(directions(nodes[:2]), nodes), directions(nodes[:2]) @ directions(nodes).T, atol=1e-6
    )


@pytest.mark.parametrize("features", [0, 20])
def test_planted_homophily_is_seen(features):
    assert verdicts(planted(0.06, 0.006, features=features), np.arange(200), 40)["together"] >= 9


def test_planted_avoidance_is_seen():
    found = verdicts(planted(0.02, 0.2), np.arange(200), 60)
    assert found["apart"] + found["no sign"] == 10
    assert found["apart"] >= 8


def test_links_without_preference_are_seen_as_such():
    found = verdicts(planted(0.1, 0.1), np.arange(200), 60)
    assert found["no sign"] >= 8


def test_three_known_positives_tell_nothing():
    assert verdicts(planted(0.02, 0.02), np.arange(200), 3)["too few"] >= 9


def test_weights_of_edges_and_seed_do_not_change_the_shape_of_the_answer():
    graph = planted(0.06, 0.006)
    rng = np.random.default_rng(0)
    directions = Directions.of(graph, rng)
    labelled = np.arange(0, 200, 5)
    first, again = (check_homophily(graph, labelled, directions, np.random.default_rng(7)) for _ in range(2))
    assert first == again


def test_cora_keeps_together():
    cora = load_dataset("cora")
    found = Counter(verdict(cora.graph, draw_benchmark(cora, labels=27, seed=s).task.labelled) for s in range(15))
    assert found["together"] >= 12
    assert found["together"] + found["too few"] == 15


def test_random_nodes_of_cora_do_not():
    """Drawn at random or by degree: chance speaks up once in twenty times."""
    graph = load_dataset("cora").graph
    rng = np.random.default_rng(0)
    found = Counter()
    for seed in range(20):
        for chance in (None, graph.degrees / graph.degrees.sum()):
            found[verdict(graph, rng.choice(graph.num_nodes, 60, replace=False, p=chance), seed)] += 1
    assert found["together"] + found["weak"] <= 6


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "labels", "right"),
    [
        ("polblogs", 60, {"together"}),
        ("tolokers", 118, {"weak", "no sign"}),
        ("squirrel_filtered", 60, {"no sign", "apart", "too few"}),
    ],
)
def test_named_data_sets(name, labels, right):
    data = load_dataset(name)
    draws = 8
    found = Counter(
        verdict(data.graph, draw_benchmark(data, labels=labels, seed=s).task.labelled) for s in range(draws)
    )
    assert sum(found[one] for one in right) >= draws - 1, found


@pytest.mark.parametrize("labels", [1, 3, 5])
def test_a_handful_of_labels_is_never_a_sign_against_homophily(labels):
    cora = load_dataset("cora")
    found = verdicts(cora.graph, np.flatnonzero(cora.positive), labels)
    assert set(found) <= {"too few", "together"}


def test_hubs_that_have_no_like_among_the_others_say_nothing():
    hubs = 12
    clique = [(u, v) for u in range(hubs) for v in range(u)]
    # The degrees of the hubs differ so much that each is alone in its stratum.
    leaves = [(hub, 10_000 * (hub + 1) + leaf) for hub in range(hubs) for leaf in range(int(20 * 1.5**hub))]
    source, target = np.unique(np.array(clique + leaves), return_inverse=True)[1].reshape(-1, 2).T
    assert verdict(Graph.from_edges(source, target), np.arange(hubs)) == "too few"
