import math

import networkx as nx
import numpy as np

from conftest import random_graph
from pugnn.graph import Graph, edge_homophily, graph_statistics


def test_statistics_equal_networkx():
    graph = random_graph(50, 0.03, 4)
    other = nx.Graph(graph.to_scipy())
    parts = [len(part) for part in nx.connected_components(other)]
    found = graph_statistics(graph)
    assert (found.nodes, found.edges, found.features) == (50, other.number_of_edges(), 3)
    assert (found.components, found.largest_component) == (len(parts), max(parts))
    assert found.isolated == nx.number_of_isolates(other) > 0
    assert found.max_degree == max(dict(other.degree).values())
    assert math.isclose(found.mean_degree, 2 * other.number_of_edges() / 50)


def test_homophily_is_counted_edge_by_edge():
    graph = random_graph(30, 0.2, 1)
    labels = np.random.default_rng(0).integers(0, 2, 30)
    same = [labels[u] == labels[v] for u, v in nx.Graph(graph.to_scipy()).edges]
    assert math.isclose(edge_homophily(graph, labels), sum(same) / len(same))
    assert math.isnan(edge_homophily(Graph.from_edges([], [], num_nodes=2), labels[:2]))


def test_an_empty_graph_has_statistics():
    assert graph_statistics(Graph.from_edges([], [], num_nodes=0)).largest_component == 0
