import numpy as np
import pytest
from numba import njit
from scipy.stats import chisquare

from conftest import random_graph
from pugnn.graph import NO_NEGATIVE, Graph, sample_non_neighbours
from pugnn.graph.random import nth_non_neighbour, random_below, random_bits

MASK = (1 << 64) - 1


def split_mix(seed: int, counter: int) -> int:
    """SplitMix64 with Python's unbounded integers."""
    x = (seed + 0x9E3779B97F4A7C15 * (counter + 1)) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def non_neighbours(graph: Graph, node: int) -> list[int]:
    near = {node, *graph.neighbours(node).tolist()}
    return [v for v in range(graph.num_nodes) if v not in near]


def test_generator_is_split_mix():
    # The first outputs of the published generator from state 1234567.
    assert [split_mix(1234567, i) for i in range(2)] == [6457827717110365317, 3203168211198807973]
    for seed in (0, 1, 1 << 63, MASK):
        for counter in (0, 1, 12345, 1 << 40):
            assert int(random_bits(np.uint64(seed), np.uint64(counter))) == split_mix(seed, counter)


def test_bounded_number_is_the_high_word_of_the_product():
    rng = np.random.default_rng(0)
    for bits in [0, 1, MASK, *rng.integers(0, MASK, 200, dtype=np.uint64).tolist()]:
        for bound in (1, 2, 19716, (1 << 31) - 1, (1 << 32) - 1):
            assert int(random_below(np.uint64(bits), np.uint64(bound))) == (bits * bound) >> 64


@njit
def first_non_neighbours(indices, start, stop, node, count):
    """The non-neighbours of the first ranks; in one call, since a call for each of millions takes long."""
    return [nth_non_neighbour(indices, start, stop, node, rank) for rank in range(count)]


def test_ranks_run_through_all_non_neighbours_in_order(special_graph):
    for node in range(special_graph.num_nodes):
        start, stop = special_graph.indptr[node : node + 2]
        expected = non_neighbours(special_graph, node)
        assert list(first_non_neighbours(special_graph.indices, start, stop, node, len(expected))) == expected


def test_draws_follow_from_seed_row_and_draw_alone():
    graph = random_graph(30, 0.2, 3)
    anchors = [4, 9, 4]
    drawn = sample_non_neighbours(graph, anchors, 5, seed=11)
    for row, anchor in enumerate(anchors):
        candidates = non_neighbours(graph, anchor)
        for k in range(5):
            assert drawn[row, k] == candidates[(split_mix(11, row * 5 + k) * len(candidates)) >> 64]


def test_never_the_node_itself_or_a_neighbour(special_graph):
    anchors = np.arange(special_graph.num_nodes)
    drawn = sample_non_neighbours(special_graph, anchors, 200, seed=0)
    for node in anchors:
        candidates = non_neighbours(special_graph, node)
        assert set(drawn[node].tolist()) <= set(candidates or [NO_NEGATIVE])


@pytest.mark.parametrize("node", [0, 7, 19])
def test_draws_are_uniform(node):
    graph = random_graph(20, 0.3, 5)
    drawn = sample_non_neighbours(graph, np.full(2000, node), 50, seed=node)
    counts = np.bincount(drawn.ravel(), minlength=20)
    candidates = non_neighbours(graph, node)
    assert counts.sum() == counts[candidates].sum() == 100_000
    assert chisquare(counts[candidates]).pvalue > 0.001


def test_draws_of_different_seeds_rows_and_positions_are_unrelated():
    graph = Graph.from_edges([0], [1], num_nodes=12)
    drawn = np.stack([sample_non_neighbours(graph, np.full(500, 5), 2, seed=s) for s in range(40)])
    pairs = {
        "draws": drawn[:, :, 0].ravel() * 12 + drawn[:, :, 1].ravel(),
        "rows": drawn[:, :-1, 0].ravel() * 12 + drawn[:, 1:, 0].ravel(),
        "seeds": drawn[:-1, :, 0].ravel() * 12 + drawn[1:, :, 0].ravel(),
    }
    for values in pairs.values():  # node 5 can draw the other 11 nodes: every ordered pair is equally likely
        counts = np.bincount(values, minlength=144).reshape(12, 12)
        allowed = np.delete(np.delete(counts, 5, axis=0), 5, axis=1)
        assert allowed.sum() == len(values)
        assert chisquare(allowed.ravel()).pvalue > 0.001
