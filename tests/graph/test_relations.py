"""Relations: rows of each kind of edge, in both directions, and of all together."""

from __future__ import annotations

import numpy as np
import pytest

from pugnn.errors import PugnnError
from pugnn.graph import Graph, Relation
from pugnn.graph.adjacency import symmetric_csr
from pugnn.graph.relations import directed_rows, joined_rows


def matrix_of(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    dense = np.zeros((len(indptr) - 1, len(indptr) - 1))
    for row in range(len(dense)):
        for entry in range(indptr[row], indptr[row + 1]):
            assert dense[row, indices[entry]] == 0
            dense[row, indices[entry]] = 1 if weights is None else weights[entry]
        assert (np.diff(indices[indptr[row] : indptr[row + 1]]) > 0).all()
    return dense


def random_edges(seed: int, n: int = 7, count: int = 20) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, n, count), rng.integers(0, n, count), rng.uniform(0.5, 2, count).astype(np.float32)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_in_both_directions_are_those_of_plain_loops(weighted: bool) -> None:
    u, v, w = random_edges(0)
    expected = np.zeros((7, 7))
    for source, target, weight in zip(u, v, w, strict=True):
        if source != target:
            expected[source, target] += weight if weighted else 0
            expected[source, target] = expected[source, target] if weighted else 1
    forward, backward = directed_rows(7, u, v, w if weighted else None)
    np.testing.assert_allclose(matrix_of(*forward[:3]), expected, rtol=1e-6)
    np.testing.assert_allclose(matrix_of(*backward[:3]), expected.T, rtol=1e-6)
    assert forward[3].self_loops == (u == v).sum()
    assert forward[3].edges == (expected > 0).sum()


@pytest.mark.parametrize("weighted", [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("shares", [None, (1.0, 1.0), (0.3, 2.0), (0.0, 1.0)])
def test_relations_together_are_the_sum_of_their_matrices(
    weighted: tuple[bool, bool], shares: tuple[float, float] | None
) -> None:
    relations, expected = [], np.zeros((7, 7))
    for seed, has_weights, share in zip((1, 2), weighted, shares or (1.0, 1.0), strict=True):
        u, v, w = random_edges(seed)
        rows = symmetric_csr(7, u, v, w if has_weights else None)[:3]
        relations.append(Relation(*rows))
        expected += share * matrix_of(*rows)
    indptr, indices, weights = joined_rows(relations, shares)
    if shares is None and not any(weighted):
        assert weights is None
        expected = (expected > 0).astype(float)
    np.testing.assert_allclose(matrix_of(indptr, indices, weights), expected, rtol=1e-6)


def test_a_graph_rejects_relations_and_kinds_that_do_not_fit() -> None:
    graph = Graph.from_edges([0, 1], [1, 2])
    rows = Relation(graph.indptr, graph.indices)
    parts = (graph.indptr, graph.indices, graph.features, graph.ids)
    typed = Graph(*parts, relations={"links": rows}, kinds={"user": 2, "item": 1})
    assert typed.num_targets == 2
    assert [typed.kind_of(node) for node in range(3)] == ["user", "user", "item"]
    with pytest.raises(PugnnError, match="4 nodes, but there are 3"):
        Graph(*parts, kinds={"user": 2, "item": 2})
    with pytest.raises(PugnnError, match="has 1 rows, not 3"):
        Graph(*parts, relations={"links": Relation(np.zeros(2, np.int64), np.zeros(0, np.int32))})
    with pytest.raises(PugnnError, match="lacks its reverse"):
        Graph(*parts, relations={"pays out": Relation(graph.indptr, graph.indices, reverse="pays in")})
    with pytest.raises(PugnnError, match="the kind 'shop'"):
        Graph(
            *parts, relations={"links": Relation(graph.indptr, graph.indices, ends=("user", "shop"))}, kinds={"user": 3}
        )
