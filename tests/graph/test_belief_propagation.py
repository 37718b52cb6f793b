from itertools import product

import numpy as np
import pytest

from conftest import random_graph
from pugnn.errors import PugnnError
from pugnn.graph import Graph, propagate_beliefs


def random_tree(nodes: int, seed: int) -> Graph:
    rng = np.random.default_rng(seed)
    parents = [int(rng.integers(0, child)) for child in range(1, nodes)]
    return Graph.from_edges(range(1, nodes), parents, num_nodes=nodes)


def random_potentials(nodes: int, seed: int, *, sure: bool = True) -> np.ndarray:
    """Some of them exactly 0 or 1."""
    rng = np.random.default_rng(seed)
    potentials = rng.random(nodes)
    if sure:
        potentials[rng.choice(nodes, max(1, nodes // 3), replace=False)] = rng.integers(0, 2, max(1, nodes // 3))
    return potentials


def undirected(graph: Graph) -> list[tuple[int, int]]:
    return [(i, int(j)) for i in range(graph.num_nodes) for j in graph.neighbours(i) if i < j]


def exact_marginals(graph: Graph, potentials: np.ndarray, homophily: float) -> np.ndarray:
    """The share of all assignments, by weight, in which a node is positive."""
    edges = undirected(graph)
    positive, total = np.zeros(graph.num_nodes), 0.0
    for states in product((0, 1), repeat=graph.num_nodes):
        weight = 1.0
        for node, state in enumerate(states):
            weight *= potentials[node] if state else 1 - potentials[node]
        if weight:
            for i, j in edges:
                weight *= homophily if states[i] == states[j] else 1 - homophily
            positive += weight * np.array(states)
            total += weight
    return positive / total


def textbook(
    graph: Graph, potentials: np.ndarray, homophily: float, tolerance: float = 1e-6, most: int = 100
) -> np.ndarray:
    """Two-state messages with loops, in log space with a floor."""
    floor = 1e-300
    phi = [[1 - p, p] for p in potentials.tolist()]
    messages = {(i, int(j)): [0.5, 0.5] for i in range(graph.num_nodes) for j in graph.neighbours(i)}
    beliefs = [list(each) for each in phi]
    for _ in range(most):
        new = {}
        for i, j in messages:
            out = [0.0, 0.0]
            for v in (0, 1):
                for u in (0, 1):
                    psi = homophily if u == v else 1 - homophily
                    out[v] += beliefs[i][u] / messages[j, i][u] * psi / 2
            new[i, j] = [value / sum(out) for value in out]
        messages = new
        before = beliefs
        beliefs = []
        for i in range(graph.num_nodes):
            logs = [np.log(max(phi[i][u], floor)) for u in (0, 1)]
            for k in graph.neighbours(i):
                for u in (0, 1):
                    logs[u] += np.log(max(messages[int(k), i][u], floor))
            weights = [np.exp(value - max(logs)) for value in logs]
            beliefs.append([weight / sum(weights) for weight in weights])
        if max(abs(beliefs[i][1] - before[i][1]) for i in range(graph.num_nodes)) < tolerance:
            break
    return np.array([belief[1] for belief in beliefs])


@pytest.mark.parametrize("homophily", [0.9, 0.6, 0.2, 0.999])
@pytest.mark.parametrize(("nodes", "seed"), [(2, 0), (5, 1), (8, 2), (9, 3), (9, 4)])
def test_exact_on_trees(nodes, seed, homophily):
    tree, potentials = random_tree(nodes, seed), random_potentials(nodes, seed)
    found = propagate_beliefs(tree, potentials, homophily=homophily, tolerance=0.0)
    assert found == pytest.approx(exact_marginals(tree, potentials, homophily), abs=1e-12)


def test_exact_on_a_forest_with_lone_nodes():
    forest = Graph.from_edges([0, 1, 4], [1, 2, 5], num_nodes=8)
    potentials = np.array([1.0, 0.3, 0.6, 0.2, 0.5, 0.0, 0.7, 1.0])
    found = propagate_beliefs(forest, potentials, homophily=0.8)
    assert found == pytest.approx(exact_marginals(forest, potentials, 0.8), abs=1e-12)
    assert found[[3, 6, 7]].tolist() == pytest.approx([0.2, 0.7, 1.0], abs=1e-15)


def test_two_nodes_by_hand():
    pair = Graph.from_edges([0], [1])
    # P(both +) : P(first + second -) = 0.3 · 0.9 : 0.7 · 0.1
    found = propagate_beliefs(pair, np.array([1.0, 0.3]), homophily=0.9)
    assert found.tolist() == pytest.approx([1.0, 0.27 / 0.34])


@pytest.mark.parametrize("homophily", [0.9, 0.55, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_equals_the_textbook_on_graphs_with_loops(seed, homophily):
    graph = random_graph(40, 0.08, seed)
    potentials = random_potentials(40, seed)
    expected = textbook(graph, potentials, homophily)
    assert propagate_beliefs(graph, potentials, homophily=homophily) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("iterations", [1, 2, 7])
def test_equals_the_textbook_in_every_iteration(iterations):
    """Also where messages swing and never come to rest."""
    graph = random_graph(12, 0.5, seed=5)
    for homophily in (0.95, 0.05):
        potentials = random_potentials(12, 5)
        expected = textbook(graph, potentials, homophily, 0.0, iterations)
        found = propagate_beliefs(graph, potentials, homophily=homophily, tolerance=0.0, max_iterations=iterations)
        assert found == pytest.approx(expected, abs=1e-9)


def test_equals_the_textbook_on_special_graphs(special_graph):
    potentials = random_potentials(special_graph.num_nodes, 0)
    expected = textbook(special_graph, potentials, 0.9, most=3)
    found = propagate_beliefs(special_graph, potentials, max_iterations=3)
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_a_hub_hears_all_its_neighbours_without_overflow(share):
    spokes = 3000
    star = Graph.from_edges(np.zeros(spokes, dtype=int), np.arange(1, spokes + 1))
    potentials = np.concatenate([[0.5], np.arange(spokes) < share * spokes])
    found = propagate_beliefs(star, potentials, homophily=0.9)
    assert np.isfinite(found).all()
    assert found[1:].tolist() == potentials[1:].tolist(), "sure nodes stay sure"
    assert found[0] == pytest.approx({0.0: 0.0, 0.3: 0.0, 0.5: 0.5, 1.0: 1.0}[share], abs=1e-12)


def test_sure_nodes_stay_sure_even_against_each_other():
    graph = random_graph(20, 0.3, seed=0)
    potentials = (np.arange(20) % 2).astype(float)
    for homophily in (0.9, 0.1):
        assert propagate_beliefs(graph, potentials, homophily=homophily).tolist() == potentials.tolist()


def test_neighbours_of_a_positive_follow_the_homophily():
    path = Graph.from_edges([0, 1], [1, 2])
    potentials = np.array([1.0, 0.5, 0.5])
    assert propagate_beliefs(path, potentials, homophily=0.8).tolist() == pytest.approx([1.0, 0.8, 0.68])
    assert propagate_beliefs(path, potentials, homophily=0.2).tolist() == pytest.approx([1.0, 0.2, 0.68])
    assert propagate_beliefs(path, potentials, homophily=0.5).tolist() == pytest.approx([1.0, 0.5, 0.5])


def test_components_do_not_hear_of_each_other():
    pair = Graph.from_edges([0, 2], [1, 3])
    one = propagate_beliefs(pair, np.array([1.0, 0.2, 0.4, 0.4]))
    two = propagate_beliefs(pair, np.array([0.0, 0.9, 0.4, 0.4]))
    assert one[2:].tolist() == two[2:].tolist()


def test_weights_play_no_part():
    plain = Graph.from_edges([0, 1], [1, 2])
    weighted = Graph.from_edges([0, 1], [1, 2], weights=[3.0, 0.1])
    potentials = np.array([1.0, 0.3, 0.6])
    assert propagate_beliefs(plain, potentials).tolist() == propagate_beliefs(weighted, potentials).tolist()


def test_it_stops_at_the_tolerance_and_at_the_most_iterations():
    """On a path with one sure end the news travels one node per iteration, and fades by 2ε - 1 with each."""
    nodes = 30
    path = Graph.from_edges(np.arange(nodes - 1), np.arange(1, nodes))
    potentials = np.full(nodes, 0.5)
    potentials[0] = 1.0

    def reached(**options) -> int:
        return int(np.flatnonzero(propagate_beliefs(path, potentials, homophily=0.75, **options) > 0.5)[-1])

    assert [reached(max_iterations=most) for most in (1, 2, 5)] == [1, 2, 5]
    # The change of iteration k is 0.5^(k + 1): the first below 1/1000 is that of iteration 9.
    assert reached(tolerance=1e-3) == 9
    assert reached(tolerance=1e-6) == 19
    assert reached(tolerance=0.0) == nodes - 1


def test_potentials_are_left_as_they_were():
    graph, potentials = random_graph(10, 0.3, 0), random_potentials(10, 0)
    before = potentials.copy()
    propagate_beliefs(graph, potentials)
    assert np.array_equal(potentials, before)
    assert propagate_beliefs(graph, potentials, max_iterations=0).tolist() == before.tolist()


@pytest.mark.parametrize("homophily", [0.0, 1.0, -0.2, 1.5, float("nan")])
def test_homophily_out_of_range_is_explained(homophily):
    with pytest.raises(PugnnError, match=f"homophily must lie between 0 and 1, got {homophily}"):
        propagate_beliefs(Graph.from_edges([0], [1]), np.array([1.0, 0.5]), homophily=homophily)
