import numpy as np

from pugnn import PUNodeClassifier
from pugnn.explain import explain
from pugnn.graph import Graph
from pugnn.task import PUTask

PATH = Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], num_nodes=8, features=np.eye(8))


def paths(node, labelled):
    classifier = PUNodeClassifier("centroid", progress=False).fit(PATH, labelled)
    return explain(classifier, PUTask.from_positives(PATH, np.array(labelled)), [node])[0].nearest


def test_paths_lead_to_all_of_the_nearest_known_positives():
    assert paths(2, [0, 4, 5]) == [[2, 1, 0], [2, 3, 4]]


def test_a_known_positive_is_not_its_own_nearest():
    assert paths(2, [2, 3]) == [[2, 3]]


def test_a_far_one_is_found_as_far_as_it_is():
    assert paths(0, [5]) == [[0, 1, 2, 3, 4, 5]]


def test_there_may_be_no_path():
    assert paths(7, [0]) == []
