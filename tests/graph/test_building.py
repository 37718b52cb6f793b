from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pugnn.graph import Cleaning, Graph
from pugnn.graph.building import symmetric_csr


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
    monkeypatch.setattr("pugnn.graph.building.BYTES_PER_NODE", 10**9)
    with pytest.raises(ValueError, match=r"1,500,000 nodes need more memory than this machine has; .* pass `ids`"):
        Graph.from_edges([0], [1_499_999])
