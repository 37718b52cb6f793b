"""Graphs: structure, hop distances and sampling; independent of any learning."""

from pugnn.graph.adjacency import Cleaning
from pugnn.graph.belief_propagation import propagate_beliefs
from pugnn.graph.graph import Graph
from pugnn.graph.measures import (
    NO_SOURCE,
    UNREACHABLE,
    GraphStatistics,
    edge_homophily,
    graph_statistics,
    hop_distances,
    nearest_sources,
)
from pugnn.graph.random import NO_NEGATIVE, Neighbourhood, sample_neighbours, sample_non_neighbours
from pugnn.graph.relations import Relation

__all__ = [
    "NO_NEGATIVE",
    "NO_SOURCE",
    "UNREACHABLE",
    "Cleaning",
    "Graph",
    "GraphStatistics",
    "Neighbourhood",
    "Relation",
    "edge_homophily",
    "graph_statistics",
    "hop_distances",
    "nearest_sources",
    "propagate_beliefs",
    "sample_neighbours",
    "sample_non_neighbours",
]
