import numpy as np
import pytest

from conftest import random_graph
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.task import PUTask

GRAPH = random_graph(10, 0.3, seed=0)


def positions(*nodes: int) -> np.ndarray:
    return np.array(nodes, dtype=np.int64)


def test_known_negatives_leave_the_unlabelled_nodes():
    task = PUTask.from_positives(GRAPH, positions(4, 1), positions(7, 2))
    assert task.labelled.tolist() == [1, 4]
    assert task.negative.tolist() == [2, 7]
    assert task.unlabelled.tolist() == [0, 3, 5, 6, 8, 9]
    assert task.confirmed.tolist() == []


def test_feedback_adds_to_what_is_known():
    first = PUTask.from_positives(GRAPH, positions(1))
    second = first.with_feedback(positions(3, 1), positions(5)).with_feedback(positions(8), positions())
    assert second.labelled.tolist() == [1, 3, 8]
    assert second.confirmed.tolist() == [3, 8]  # 1 was known before
    assert second.typical.tolist() == [1]
    assert second.negative.tolist() == [5]
    assert second.unlabelled.tolist() == [0, 2, 4, 6, 7, 9]
    assert first.unlabelled.tolist() == [0, 2, 3, 4, 5, 6, 7, 8, 9]


def test_nodes_that_do_not_count_as_unlabelled_stay_out():
    task = PUTask(GRAPH, positions(1), positions(2, 3, 4)).with_feedback(positions(3), positions(9))
    assert task.unlabelled.tolist() == [2, 4]


def test_distances_are_those_to_known_positives():
    path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    task = PUTask.from_positives(path, positions(0), positions(4))
    assert task.distances.tolist() == [0, 1, 2, 3, 4]


def test_a_node_is_not_both():
    with pytest.raises(PugnnError, match="cannot be both a known positive and a known negative: 4"):
        PUTask.from_positives(GRAPH, positions(1, 4), positions(4))


def test_the_digest_depends_on_feedback():
    first = PUTask.from_positives(GRAPH, positions(1, 2))
    others = (
        PUTask.from_positives(GRAPH, positions(1, 2), positions(5)),
        PUTask.from_positives(GRAPH, positions(1)).with_feedback(positions(2), positions()),
    )
    assert len({task.digest().hexdigest() for task in (first, *others)}) == 3


def test_ranks_count_the_nodes_that_are_not_known():
    graph = random_graph(30, 0.2, seed=0)
    scores = np.random.default_rng(0).integers(0, 10, 30) / 10
    task = PUTask.from_positives(graph, np.array([3, 4, 11]), np.array([0, 29]))
    ranks, known = task.ranks(scores), task.known
    free = [node for node in range(30) if node not in (3, 4, 11, 0, 29)]
    assert known[[3, 4, 11, 0, 29]].tolist() == [1, 1, 1, -1, -1]
    assert not known[free].any()
    assert not ranks[[3, 4, 11, 0, 29]].any()
    for node in free:
        above = [other for other in free if (-scores[other], other) < (-scores[node], node)]
        assert ranks[node] == 1 + len(above)
