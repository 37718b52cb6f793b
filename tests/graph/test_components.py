import numpy as np
from scipy.sparse.csgraph import connected_components as by_scipy

from conftest import random_graph
from pugnn.graph.measures import connected_components


def test_components_are_those_of_scipy():
    for share, seed in ((0.0, 0), (0.02, 1), (0.03, 2), (0.2, 3)):
        graph = random_graph(60, share, seed=seed)
        expected = by_scipy(graph.to_scipy(), directed=False)[1]
        assert np.array_equal(connected_components(graph.indptr, graph.indices), expected)
