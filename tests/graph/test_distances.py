import networkx as nx
import numpy as np
import pytest

from conftest import random_graph
from pugnn.errors import PugnnError
from pugnn.graph import NO_SOURCE, UNREACHABLE, Graph, hop_distances, nearest_sources


def by_networkx(graph: Graph, sources: list[int], cap: int | None = None) -> list[int]:
    """Shortest path to each source by NetworkX, then the smallest."""
    other = nx.Graph(graph.to_scipy())
    nearest = np.full(graph.num_nodes, UNREACHABLE)
    for source in sources:
        for node, distance in nx.single_source_shortest_path_length(other, source, cutoff=cap).items():
            nearest[node] = min(nearest[node], distance)
    return nearest.tolist()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cap", [None, 0, 1, 3])
def test_distances_equal_networkx(seed, cap):
    graph = random_graph(60, 0.03, seed)
    sources = np.random.default_rng(seed).choice(60, size=1 + seed, replace=False).tolist()
    assert hop_distances(graph, sources, cap=cap).tolist() == by_networkx(graph, sources, cap)


def test_special_graphs_equal_networkx(special_graph):
    assert hop_distances(special_graph, [0]).tolist() == by_networkx(special_graph, [0])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cap", [None, 2])
def test_the_nearest_source_is_the_lowest_of_the_nearest(seed, cap):
    graph = random_graph(60, 0.04, seed)
    sources = np.random.default_rng(seed).choice(60, size=6, replace=False).tolist()
    apart = {source: by_networkx(graph, [source], cap) for source in sources}
    expected = []
    for node in range(60):
        nearest = min(apart[source][node] for source in sources)
        at_it = [source for source in sources if apart[source][node] == nearest]
        expected.append(NO_SOURCE if nearest == UNREACHABLE else min(at_it))
    distances, found = nearest_sources(graph, sources, cap=cap)
    assert found.tolist() == expected
    assert distances.tolist() == by_networkx(graph, sources, cap)


def test_repeated_sources_change_nothing():
    graph = random_graph(20, 0.1, 0)
    assert hop_distances(graph, [3, 3, 5]).tolist() == hop_distances(graph, [5, 3]).tolist()


def test_without_sources_nothing_is_reached():
    assert (hop_distances(random_graph(5, 0.5, 0), []) == UNREACHABLE).all()


@pytest.mark.parametrize("outside", [-1, 5])
def test_sources_must_be_nodes(outside):
    with pytest.raises(PugnnError, match=f"node {outside} is not in the graph; positions run from 0 to 4"):
        hop_distances(random_graph(5, 0.5, 0), [0, outside])


def test_cap_must_not_be_negative():
    with pytest.raises(PugnnError, match=r"cap must be a whole number, .*; got -2"):
        hop_distances(random_graph(5, 0.5, 0), [0], cap=-2)
