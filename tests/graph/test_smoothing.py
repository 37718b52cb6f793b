import numpy as np
import pytest
import scipy.sparse as sp

from conftest import random_graph
from pugnn.graph import Graph
from pugnn.graph.smoothing import SparseRows, neighbour_sums

RNG = np.random.default_rng(0)


def table(nodes: int, columns: int) -> np.ndarray:
    return RNG.normal(size=(nodes, columns)).astype(np.float32)


def rows_of(graph: Graph):
    return graph.indptr, graph.indices, graph.weights


@pytest.mark.parametrize("columns", [8, 16, 24, 32, 48, 64, 88, 176])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_by_plain_loops(columns, weighted):
    source, target = np.nonzero(np.triu(random_graph(30, 0.15, seed=2).to_scipy().toarray()))
    weights = RNG.random(len(source)) + 0.5 if weighted else None
    graph = Graph.from_edges(source, target, num_nodes=31, weights=weights)  # the last node has no edge
    h, x = table(31, columns), table(31, columns)
    p, q, t = RNG.random(31).astype(np.float32), RNG.random(31).astype(np.float32), 0.7
    out = np.full_like(h, np.nan)
    neighbour_sums(rows_of(graph), h, out, p=p, q=q, x=x, t=t)
    adjacency = graph.to_scipy().toarray()
    for i in range(31):
        total = t * h[i].astype(float)
        for j in range(31):
            if adjacency[i, j]:
                total += adjacency[i, j] * h[j]
        assert out[i] == pytest.approx(p[i] * total + q[i] * x[i], abs=1e-5)


def test_weights_can_be_left_out():
    graph = Graph.from_edges([0, 0], [1, 2], num_nodes=3, weights=[2.0, 5.0])
    h, out = table(3, 16), np.empty((3, 16), np.float32)
    neighbour_sums((graph.indptr, graph.indices, None), h, out, p=np.full(3, 0.5, np.float32))
    assert out[0] == pytest.approx((h[1] + h[2]) / 2)
    assert out[1] == pytest.approx(h[0] / 2)


def test_many_threads_give_the_same_bits_as_one():
    nodes = 20_000
    graph = Graph.from_edges(RNG.integers(0, nodes, 600_000), RNG.integers(0, 50, 600_000), num_nodes=nodes)
    h, ones = table(nodes, 16), np.ones(nodes, np.float32)
    first, again = (np.empty_like(h) for _ in range(2))
    for out in (first, again):
        neighbour_sums(rows_of(graph), h, out, p=ones)
    assert first.tobytes() == again.tobytes()
    assert first == pytest.approx(graph.to_scipy() @ h, abs=2e-3)


def test_a_table_has_whole_vectors():
    with pytest.raises(AssertionError, match="multiple of 8"):
        neighbour_sums(rows_of(random_graph(5, 0.5, seed=0)), table(5, 10), table(5, 10), p=np.ones(5, np.float32))


@pytest.mark.parametrize("columns", [8, 32, 72])
def test_a_sparse_matrix_times_a_table_by_plain_loops(columns):
    dense = np.where(RNG.random((9, 5)) < 0.4, RNG.normal(size=(9, 5)), 0).astype(np.float32)
    dense[4] = 0  # a row without entries
    h = table(5, columns)
    out = SparseRows(sp.csr_array(dense)) @ h
    for i in range(9):
        total = np.zeros(columns)
        for j in range(5):
            total += float(dense[i, j]) * h[j]
        assert out[i] == pytest.approx(total, abs=1e-5)
