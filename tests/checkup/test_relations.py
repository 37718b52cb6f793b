import numpy as np
import pytest

from conftest import random_graph
from pugnn.checkup import check_up
from pugnn.checkup.findings import _about_relation
from pugnn.checkup.relations import RelationCheck, _meetings, check_relations
from pugnn.checkup.sizes import Reach
from pugnn.graph import Graph
from pugnn.graph.layers import layers_of
from pugnn.task import PUTask
from small_relations import directed, planted_relations, typed, undirected


def checks(task: PUTask, seed: int = 0):
    return {each.name: each for each in check_relations(task, np.random.default_rng(seed))}


@pytest.mark.parametrize("seed", range(3))
def test_known_positives_agree_along_the_planted_relation_only(seed):
    graph, truth = planted_relations(seed, inside=0.9)
    found = checks(PUTask.from_positives(graph, np.flatnonzero(truth)[:40]))
    assert list(found) == ["signal", "noise", "more noise"]
    assert found["signal"].agrees
    assert found["signal"].lift > 1.5
    for name in ("noise", "more noise"):
        assert 0.7 < found[name].lift < 1.4
        assert found[name].p_value > found["signal"].p_value


def test_random_nodes_agree_along_a_relation_no_more_often_than_by_chance():
    values = []
    for seed in range(10):
        graph, _ = planted_relations(seed, nodes=200, positive=50, inside=0.9)
        drawn = np.random.default_rng(1000 + seed).choice(200, 20, replace=False)
        values += [each.p_value for each in checks(PUTask.from_positives(graph, np.sort(drawn)), seed).values()]
    assert len(values) == 30
    assert 0.25 < np.mean(values) < 0.75
    assert sum(value <= 0.05 for value in values) <= 6


def test_sizes_are_those_of_each_relation():
    # Users 0 to 4, items 5 to 7; two users know nobody.
    kinds, n = {"user": 5, "item": 3}, 8
    relations = {
        "knows": undirected(n, [0, 1, 1], [1, 2, 0], ends=("user", "user")),
        "buys": undirected(n, [0, 0, 1, 3], [5, 6, 6, 7], ends=("user", "item")),
        **directed("pays", n, [0, 1, 0, 4], [1, 0, 2, 2], ends=("user", "user")),
    }
    found = checks(PUTask.from_positives(typed(relations, None, kinds), np.array([0, 3])))
    sizes = {name: (each.edges, each.reached, each.known) for name, each in found.items()}
    assert sizes == {
        "knows": (2, 3, 1),
        "buys": (4, 3, 2),
        "pays out": (4, 3, 1),
        "pays in": (4, 3, 1),
    }
    assert found["knows"].lift is None
    assert found["knows"].p_value == 1.0, "one known positive meets nobody"
    assert not found["knows"].agrees


def test_what_leads_to_a_relation_is_part_of_it():
    # Authors 0 to 3 write papers 4 to 7, of which two appear in venue 8.
    relations = {
        "writes": undirected(9, [0, 1, 2, 3], [4, 5, 6, 7], ends=("author", "paper")),
        "appears": undirected(9, [4, 5], [8, 8], ends=("paper", "venue")),
        "knows": undirected(9, [2], [3], ends=("author", "author")),
    }
    graph = typed(relations, None, {"author": 4, "paper": 4, "venue": 1})
    assert [each.reached for each in checks(PUTask.from_positives(graph, np.array([0, 1]))).values()] == [4, 4, 2]
    met = _meetings(layers_of(graph)["appears"], np.arange(4), np.random.default_rng(0))
    assert met[0, 1] > 0, "by the venue that their papers share"
    assert not met[0, 2:].any()
    assert not met[2, 3]


def test_walks_meet_to_the_degree_of_the_formula():
    # From a leaf of a star, walks of four steps go to the hub, a leaf, the hub, a leaf.
    graph = Graph.from_edges([0, 0, 0], [1, 2, 3])
    met = _meetings(graph, np.array([1, 2]), np.random.default_rng(0))
    by_hub = 0.5 * 0.5 / np.sqrt(3)  # half of the visits are to the hub, which has three neighbours
    by_leaves = 3 * (0.5 / 3) ** 2  # the others to three leaves, evenly but for chance
    assert met[0, 1] == pytest.approx(by_hub + by_leaves, abs=0.03)
    assert np.allclose(met, met.T)


def test_a_plain_graph_has_no_relations_to_check():
    task = PUTask.from_positives(random_graph(30, 0.1, seed=0), np.arange(5))
    assert check_relations(task, np.random.default_rng(0)) == ()
    assert check_up(task).relations == ()


def test_the_check_up_has_the_relations():
    graph, truth = planted_relations(0, nodes=200, positive=60, inside=0.9)
    found = check_up(PUTask.from_positives(graph, np.flatnonzero(truth)[:25])).relations
    assert [each.name for each in found if each.agrees][:1] == ["signal"]


@pytest.mark.parametrize(("p_value", "advised"), [(0.1, False), (0.5, True)])
def test_a_relation_is_only_advised_against_where_chance_explains_it(p_value, advised):
    found = RelationCheck("calls", 10, 5, 2, None, p_value)
    told = _about_relation(found, Reach(2, 8, 0, 1, 0))
    assert "how many links nodes have along it, which may be a signal" in told.text
    assert told.remedy.startswith("Leave it out?") == advised
