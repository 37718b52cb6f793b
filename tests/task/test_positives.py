import numpy as np
import pytest

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.task import resolve_positives


def path(ids) -> Graph:
    return Graph.from_edges(ids[:-1], ids[1:], ids=ids)


TEXT = path(["ann", "bob", "cleo", "dan", "eve"])
NUMBERS = path([10, 30, 20, 50, 40])
PLAIN = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("graph", "given", "expected"),
    [
        # ids
        (TEXT, ["cleo", "ann"], [0, 2]),
        (TEXT, ("cleo", "ann"), [0, 2]),
        (TEXT, {"eve", "bob"}, [1, 4]),
        (TEXT, frozenset({"eve"}), [4]),
        (TEXT, np.array(["eve", "eve", "bob"]), [1, 4]),
        (TEXT, np.array(["eve", "bob"], dtype=object), [1, 4]),
        (NUMBERS, [20, 10], [0, 2]),
        (NUMBERS, np.array([40, 40]), [4]),
        (NUMBERS, np.array([40], dtype=np.uint8), [4]),
        (NUMBERS, np.array([40, 20], dtype=object), [2, 4]),
        (NUMBERS, {50}, [3]),
        (PLAIN, [4, 2], [2, 4]),
        (PLAIN, range(2, 4), [2, 3]),
        # a mask
        (TEXT, [True, False, False, False, True], [0, 4]),
        (NUMBERS, np.array([False, True, False, False, False]), [1]),
        (NUMBERS, np.array([False, True, False, False, False], dtype=object), [1]),
        # 1 and 0
        (TEXT, [0, 1, 0, 0, 1], [1, 4]),
        (NUMBERS, np.array([0, 1, 0, 0, 1]), [1, 4]),
        (NUMBERS, np.array([0, 1, 0, 0, 1], dtype=object), [1, 4]),
        (PLAIN, np.array([1, 0, 0, 0, 0], dtype=np.uint8), [0]),
        # 1 and −1
        (TEXT, [-1, 1, -1, -1, 1], [1, 4]),
        (PLAIN, np.array([1, -1, -1, -1, -1]), [0]),
        # the same as floats
        (NUMBERS, np.array([0.0, 1.0, 0.0, 0.0, 0.0]), [1]),
        (PLAIN, [-1.0, 1.0, -1.0, 1.0, -1.0], [1, 3]),
        # positions, where no id is a number
        (TEXT, [3, 0], [0, 3]),
        (TEXT, np.array([3, 3, 1]), [1, 3]),
    ],
)
def test_accepted_forms(graph, given, expected):
    found = resolve_positives(graph, given)
    assert found.tolist() == expected
    assert found.dtype == np.int64


def test_ids_of_mixed_types():
    graph = path(["a", 1, "1", 2, ("b", 3)])
    assert resolve_positives(graph, ["a", 1]).tolist() == [0, 1]
    assert resolve_positives(graph, {"1", 2}).tolist() == [2, 3]
    assert resolve_positives(graph, [1, 2]).tolist() == [1, 3], "numbers among the ids are ids"
    assert resolve_positives(graph, np.array(["1", 2], dtype=object)).tolist() == [2, 3]


def test_ids_that_are_tuples():
    graph = path([(0, 0), (0, 1), (1, 1), (1, 1, 1)])
    assert resolve_positives(graph, [(1, 1), (0, 0)]).tolist() == [0, 2]
    assert resolve_positives(graph, {(1, 1, 1)}).tolist() == [3]
    with pytest.raises(PugnnError, match=r"1 of 2 ids are not in the graph: \(5, 5\)"):
        resolve_positives(graph, [(0, 0), (5, 5)])


def test_ids_that_are_numpy_numbers():
    graph = path(list(np.array([10, 30, 20])))
    assert resolve_positives(graph, [20]).tolist() == [2]


@pytest.mark.parametrize("given", [[1, 0, -1, 0, 0], np.array([1.0, 0.0, -1.0, -1.0, 1.0])])
@pytest.mark.parametrize("graph", [TEXT, NUMBERS, PLAIN])
def test_one_zero_and_minus_one_are_refused_with_an_explanation(graph, given):
    with pytest.raises(PugnnError, match=r"1, 0 and −1.*use 1 and 0, or 1 and −1.*negatives=labels == -1"):
        resolve_positives(graph, given)


@pytest.mark.parametrize(
    ("graph", "given", "words"),
    [
        (TEXT, ["ann", "zoe"], "1 of 2 ids are not in the graph: 'zoe'.*look like 'ann', 'bob', 'cleo'"),
        (TEXT, ["Ann"], "'Ann'"),
        (NUMBERS, [10, 11, 12], "2 of 3 ids are not in the graph: 11, 12"),
        (NUMBERS, ["10"], "'10'"),
        (NUMBERS, np.array([10.5]), "10.5"),
        (NUMBERS, np.array([0.5, 1, 0, 0, 0]), "0.5"),
        (NUMBERS, [2], "1 of 1 ids are not in the graph: 2"),
        (PLAIN, [5], "ids are not in the graph: 5"),
        (TEXT, [0, 5], "positives: node 5 is not in the graph; positions run from 0 to 4"),
        (TEXT, [-1], "positives: node -1 is not in the graph"),
        # none
        (TEXT, [], "no known positives; at least one"),
        (NUMBERS, set(), "no known positives"),
        (NUMBERS, np.zeros(5, dtype=bool), "no known positives"),
        (PLAIN, [0, 0, 0, 0, 0], "no known positives"),
        (PLAIN, [-1, -1, -1, -1, -1], "no known positives"),
        # all
        (TEXT, ["ann", "bob", "cleo", "dan", "eve"], "all nodes are known positives"),
        (NUMBERS, np.ones(5, dtype=bool), "all nodes are known positives"),
        (PLAIN, [1, 1, 1, 1, 1], "all nodes are known positives"),
        (PLAIN, [4, 3, 2, 1, 0], "all nodes are known positives"),
        # wrong length or shape
        (TEXT, [True, False], "mask of positives has 2 entries, but the graph has 5 nodes"),
        (TEXT, [True] * 6, "mask of positives has 6 entries, but the graph has 5 nodes"),
        (TEXT, np.ones((5, 1), dtype=bool), r"got shape \(5, 1\)"),
        (NUMBERS, [[10], [20]], r"got shape \(2, 1\)"),
        (NUMBERS, [[10], [20, 30]], "different lengths"),
        (TEXT, "ann", r"got shape \(\)"),
        (NUMBERS, 10, r"got shape \(\)"),
        (TEXT, None, r"got shape \(\)"),
        # classes
        (PLAIN, [0, 1, 2, 2, 1], "look like a vector of classes, one entry per node: 0, 1, 2, 2, 1.*`classes == 1`"),
        (TEXT, np.array([0.0, 3.0, 3.0, 0.0, 1.0]), "look like a vector of classes"),
        # masked
        (PLAIN, np.ma.array([0, 2], mask=[False, True]), "positives hold masked entries"),
        (PLAIN, np.ma.array([True] * 5, mask=[True] + [False] * 4), "positives hold masked entries"),
    ],
)
def test_refused(graph, given, words):
    with pytest.raises(PugnnError, match=words):
        resolve_positives(graph, given)


@pytest.mark.parametrize("length", [9, 11])
@pytest.mark.parametrize("other", [0, -1])
def test_a_vector_of_the_wrong_length_is_not_read_as_ids(length, other):
    graph = Graph.from_edges(range(9), range(1, 10))
    with pytest.raises(PugnnError, match=f"one entry per node: got {length} for 10 nodes"):
        resolve_positives(graph, [1, 1] + [other] * (length - 2))


@pytest.mark.parametrize(
    ("ids", "given"),
    [([0, 1], [0, 1]), ([0, 1], [1.0, 0.0]), (["a", "b"], [1, 0]), ([-1, 1], [1, -1]), ([7, 1], [1, 7])],
)
def test_what_can_be_read_in_two_ways_is_refused(ids, given):
    graph = Graph.from_edges([ids[0]], [ids[1]], ids=ids)
    words = (
        "all nodes are known" if 7 in ids else "they may be a vector with one entry per node, or a list of the nodes"
    )
    with pytest.raises(PugnnError, match=words):
        resolve_positives(graph, given)


@pytest.mark.parametrize(
    ("ids", "given"), [([5, 6], [1, 0]), ([0, 6], [1, 0]), (["a", "b"], [1, -1]), ([0, 1], [1, -1])]
)
def test_a_vector_that_cannot_be_a_list_of_nodes(ids, given):
    graph = Graph.from_edges([ids[0]], [ids[1]], ids=ids)
    assert resolve_positives(graph, given).tolist() == [0]


def test_a_mask_of_truth_values_that_may_be_missing_is_a_mask():
    pandas = pytest.importorskip("pandas")
    mask = pandas.Series([True, False, False, False, True], dtype="boolean")
    assert resolve_positives(PLAIN, mask).tolist() == [0, 4]


def test_numbers_for_ids_that_are_text_are_refused():
    graph = Graph.from_edges(["1", "0"], ["0", "2"], ids=["2", "1", "0"])
    with pytest.raises(PugnnError, match="ids are text such as '2': give them as text"):
        resolve_positives(graph, [2])
