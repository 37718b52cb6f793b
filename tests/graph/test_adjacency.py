from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pugnn.errors import PugnnError
from pugnn.graph import Cleaning, Graph
from pugnn.graph.adjacency import merge_edges, symmetric_csr


def plainly(n, edges, weights):
    """Rows, weights and counts, one edge after the other."""
    seen: set[tuple[int, int]] = set()
    rows: list[dict[int, float]] = [{} for _ in range(n)]
    loops = duplicates = two_way = 0
    for (u, v), weight in zip(edges, weights, strict=True):
        if u == v:
            loops += 1
            continue
        duplicates += (u, v) in seen
        two_way += (v, u) in seen and (u, v) not in seen
        seen.add((u, v))
        for row, neighbour in ((u, v), (v, u)):
            rows[row][neighbour] = rows[row].get(neighbour, 0.0) + float(np.float32(weight))
    return rows, Cleaning(len(edges), loops, duplicates, two_way)


pairs = st.integers(1, 7).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
)


@given(pairs, st.booleans(), st.sampled_from([np.int32, np.int64]))
@settings(deadline=None)
def test_edges_become_what_plain_loops_make_of_them(graph, weighted, dtype):
    n, edges = graph
    u, v = np.array(edges, dtype=dtype).reshape(-1, 2).T.copy()
    weights = np.random.default_rng(len(edges)).random(len(edges), dtype=np.float32)
    indptr, indices, merged, cleaning = symmetric_csr(n, u, v, weights if weighted else None)
    rows, counts = plainly(n, edges, weights)
    assert cleaning == counts
    assert (indptr.dtype, indices.dtype) == (np.int64, np.int32)
    assert [indices[a:b].tolist() for a, b in pairwise(indptr)] == [sorted(row) for row in rows]
    if weighted:
        assert merged.dtype == np.float32
        assert np.array_equal(merged, np.array([row[v] for row in rows for v in sorted(row)], dtype=np.float32))
    else:
        assert merged is None


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("at_once", [1, 100, 1000, 10**6])
def test_rows_that_are_merged_some_at_a_time_are_the_same(weighted, at_once):
    rng = np.random.default_rng(0)
    u, v = rng.integers(0, 40, (2, 9000))  # almost every pair is given several times, and in both directions
    weights = np.exp(rng.normal(0, 20, 9000)).astype(np.float32) if weighted else None
    indptr, indices, merged, cleaning = symmetric_csr(50, u, v, weights)
    pieces = []
    found = merge_edges(50, u, v, weights, lambda *piece: pieces.append(piece), at_once)
    np.testing.assert_array_equal(found[0], indptr)
    assert found[1] == cleaning
    assert (len(pieces) == 1) == (at_once == 10**6)
    np.testing.assert_array_equal(np.concatenate([piece[0] for piece in pieces]), indices)
    if merged is not None:
        assert np.concatenate([piece[1] for piece in pieces]).tobytes() == merged.tobytes()


def test_weights_whose_sum_is_too_large_are_refused():
    weights = np.array([3e38, 3e38], np.float32)
    with pytest.raises(PugnnError, match="the weights of a repeated edge add up to more"):
        symmetric_csr(2, np.array([0, 0]), np.array([1, 1]), weights)


def test_no_nodes_and_no_edges():
    none = np.zeros(0, dtype=np.int64)
    for n in (0, 3):
        indptr, indices, merged, cleaning = symmetric_csr(n, none, none, np.zeros(0, dtype=np.float32))
        assert indptr.tolist() == [0] * (n + 1)
        assert (len(indices), len(merged), cleaning) == (0, 0, Cleaning())


def test_more_nodes_than_positions_can_name():
    none = np.zeros(0, dtype=np.int64)
    with pytest.raises(ValueError, match="32-bit positions"):
        symmetric_csr(2**31, none, none, None)


def test_more_nodes_than_memory_can_hold(monkeypatch):
    monkeypatch.setattr("pugnn.graph.arrays.BYTES_PER_NODE", 10**9)
    with pytest.raises(ValueError, match=r"1,500,000 nodes need more memory than this machine has; .* pass `ids`"):
        Graph.from_edges([0], [1_499_999])
