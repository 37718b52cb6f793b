from dataclasses import replace

import numpy as np
import pytest

from conftest import random_graph
from graph.test_stored import stored_graph, text_ids
from pugnn.task import KnownIds, PUTask

GRAPH = random_graph(8, 0.4, seed=0, features=2)
NAMES = [f"n{i}" for i in range(8)]


def with_ids(ids, graph=GRAPH):
    return replace(graph, ids=np.array(ids, dtype=object))


def known(graph, **more) -> KnownIds:
    task = PUTask.from_positives(graph, np.array([0, 1])).with_feedback(np.array([4]), np.array([2, 6]))
    return KnownIds.of(replace(task, **more))


def found(given: KnownIds, graph) -> dict[str, list[int]]:
    return {name: nodes.tolist() for name, nodes in given.find(graph).items()}


NONE = {"positives": [], "confirmed": [], "rejected": []}


def test_nodes_are_found_by_their_ids_in_any_graph():
    given = known(with_ids(NAMES))
    assert given == KnownIds(("n0", "n1"), ("n4",), ("n2", "n6"))
    assert found(given, with_ids(NAMES)) == {"positives": [0, 1], "confirmed": [4], "rejected": [2, 6]}
    later = with_ids(["new", "n6", "n5", "n1", "n3", "n7", "n4", "other"])
    assert found(given, later) == {"positives": [3], "confirmed": [6], "rejected": [1]}
    assert found(KnownIds(), later) == NONE


def test_ids_are_compared_as_text():
    given = known(with_ids(range(10, 18)))
    assert given.rejected == ("12", "16")
    assert found(given, with_ids([str(i) for i in range(10, 18)]))["rejected"] == [2, 6]


def test_positions_name_the_nodes_of_the_same_graph_only():
    given = known(GRAPH)
    same = random_graph(8, 0.4, seed=0, features=2)
    assert found(given, same) == {"positives": [0, 1], "confirmed": [4], "rejected": [2, 6]}
    assert found(given, random_graph(8, 0.4, seed=1, features=2)) == NONE
    assert found(given, replace(GRAPH, features=2 * GRAPH.features)) == NONE
    assert found(known(with_ids([str(i) for i in range(8)])), GRAPH) == NONE


def test_numbers_in_a_table_are_ids_and_not_positions():
    graph = replace(GRAPH, recipe={"any": "recipe"})
    given = known(graph)
    assert given.graph is None
    later = replace(random_graph(9, 0.4, seed=1, features=2), recipe={"any": "recipe"})
    assert found(given, later)["rejected"] == [2, 6]


@pytest.mark.parametrize("ids", [text_ids(["17", "b", "5", "-3"]), np.array([17, 1, 5, -3])])
def test_nodes_of_a_store(ids):
    given = KnownIds(("17", "\udcff", "b c"), ("99999999999999999999", "5"), ("-3",))
    assert found(given, stored_graph(ids)) == {"positives": [0], "confirmed": [2], "rejected": [3]}


def test_too_many_positives_are_not_remembered(monkeypatch):
    monkeypatch.setattr("pugnn.task.known.MAX_POSITIVES", 1)
    assert known(with_ids(NAMES)) == KnownIds((), ("n4",), ("n2", "n6"))
