import numpy as np

from pugnn.explain.paths import distances_around, nearest_paths
from pugnn.graph import UNREACHABLE, Graph

PATH = Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], num_nodes=8)


def paths(node, labelled, farthest):
    return nearest_paths(PATH, node, np.array(labelled), distances_around(PATH, node, farthest))


def test_paths_lead_to_all_of_the_nearest_known_positives():
    assert paths(2, [0, 4, 5], 2) == [[2, 1, 0], [2, 3, 4]]


def test_a_known_positive_is_not_its_own_nearest():
    assert paths(2, [2, 3], 0) == [[2, 3]]


def test_a_far_one_is_found_as_far_as_it_is():
    assert paths(0, [5], 5) == [[0, 1, 2, 3, 4, 5]]


def test_there_may_be_no_path():
    assert paths(7, [0], UNREACHABLE) == []
