import numpy as np
import pytest

from conftest import random_graph
from pugnn.checkup import Ring, true_share_of_rings
from pugnn.checkup.sizes import MAX_DELTA, check_rings
from pugnn.datasets import load_dataset
from pugnn.graph import Graph, hop_distances
from pugnn.task import PUTask, draw_benchmark


def path(nodes, alone=0):
    return Graph.from_edges(np.arange(nodes - 1), np.arange(1, nodes), num_nodes=nodes + alone)


def test_rings_of_a_path():
    found = check_rings(PUTask.from_positives(path(5, alone=1), np.array([0])))
    assert found.rings == (Ring(1, 1, 0.2), Ring(2, 1, 0.4), Ring(3, 1, 0.6), Ring(4, 1, 0.8), Ring(None, 1, 1.0))
    assert (found.delta, found.near_share) == (2, 0.4)


def test_shares_are_those_of_the_distances():
    graph = random_graph(80, 0.04, 5)
    task = PUTask.from_positives(graph, np.array([2, 40]))
    distance = hop_distances(graph, task.labelled)[task.unlabelled]
    found = check_rings(task)
    for ring in found.rings:
        if ring.distance is not None:
            assert ring.nodes == (distance == ring.distance).sum()
            assert ring.share_within == pytest.approx((distance <= ring.distance).mean())
    assert found.near_share == pytest.approx((distance <= found.delta).mean())
    assert found.near_share <= 0.5 < (distance <= found.delta + 1).mean()


def test_delta_is_one_where_the_first_ring_is_everyone():
    star = Graph.from_edges(np.zeros(9, dtype=int), np.arange(1, 10))
    found = check_rings(PUTask.from_positives(star, np.array([0])))
    assert (found.delta, found.near_share) == (1, 1.0)


def test_delta_has_an_end_and_does_not_grow_for_nothing():
    assert check_rings(PUTask.from_positives(path(100), np.array([0]))).delta == MAX_DELTA
    assert check_rings(PUTask.from_positives(path(3, alone=50), np.array([0]))).delta == 2


def test_truth_goes_ring_by_ring():
    benchmark = draw_benchmark(load_dataset("cora"), labels=20, seed=0)
    rings = check_rings(benchmark.task).rings
    shares = true_share_of_rings(benchmark)
    assert len(shares) == len(rings)
    mean = sum(share * ring.nodes for share, ring in zip(shares, rings, strict=True)) / len(benchmark.task.unlabelled)
    assert mean == pytest.approx(benchmark.positive[benchmark.task.unlabelled].mean())


def test_rings_of_a_long_path_take_a_moment():
    """One node in each of very many rings: a pass over all nodes for each would take minutes."""
    nodes = 200_000
    rings = check_rings(PUTask.from_positives(path(nodes), np.array([0]))).rings
    assert len(rings) == nodes - 1
    assert (rings[-1].distance, rings[-1].nodes, rings[-1].share_within) == (nodes - 1, 1, 1.0)
