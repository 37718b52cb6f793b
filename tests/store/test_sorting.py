import duckdb
import numpy as np
import pytest

from pugnn.errors import PugnnError
from pugnn.graph.building import symmetric_csr
from pugnn.io.edge_table import EdgePiece
from pugnn.store.format import open_array
from pugnn.store.sorting import SortedEdges


def sorted_into(folder, n, u, v, weights, *, pieces=3, batch=1 << 20):
    with duckdb.connect() as connection:
        edges = SortedEdges(connection, weighted=weights is not None, batch=batch)
        for part in np.array_split(np.arange(len(u)), pieces):
            some = None if weights is None else weights[part]
            edges.add(EdgePiece(u[part].astype(np.int32), v[part].astype(np.int32), some))
        return edges.write(folder, n)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("batch", [2048, 1 << 20])
def test_edges_become_the_rows_that_are_made_in_memory(tmp_path, weighted, batch):
    rng = np.random.default_rng(0)
    u, v = rng.integers(0, 40, (2, 9000))  # almost every pair is given several times, and in both directions
    weights = np.exp(rng.normal(0, 20, 9000)).astype(np.float32) if weighted else None
    indptr, indices, merged, cleaning = symmetric_csr(50, u, v, weights)
    assert sorted_into(tmp_path, 50, u, v, weights, batch=batch) == cleaning
    np.testing.assert_array_equal(open_array(tmp_path, "indptr"), indptr)
    np.testing.assert_array_equal(open_array(tmp_path, "indices"), indices)
    assert open_array(tmp_path, "indices").dtype == np.int32
    assert (tmp_path / "weights.npy").exists() == weighted
    if weighted:
        assert open_array(tmp_path, "weights").tobytes() == merged.tobytes()


def test_positions_up_to_the_last_one_of_31_bits_fit(tmp_path):
    last = 2**31 - 2
    with duckdb.connect() as connection:
        edges = SortedEdges(connection, weighted=False)
        edges.add(EdgePiece(np.array([last, 0], np.int32), np.array([0, last - 1], np.int32), None))
        query = "SELECT entry FROM (" + edges.entries() + ") ORDER BY entry"
        entries = [entry for (entry,) in connection.execute(query).fetchall()]
    ends = [(entry >> 32, (entry >> 1) & 0x7FFFFFFF, entry & 1) for entry in entries]
    assert ends == [(0, last - 1, 1), (0, last, 0), (last - 1, 0, 0), (last, 0, 1)]


def test_weights_whose_sum_is_too_large_are_refused(tmp_path):
    weights = np.array([3e38, 3e38], np.float32)
    with pytest.raises(PugnnError, match="the weights of a repeated edge add up to more"):
        sorted_into(tmp_path, 2, np.array([0, 0]), np.array([1, 1]), weights, pieces=1)


def test_a_database_that_fails_is_one_error(tmp_path):
    connection = duckdb.connect()
    edges = SortedEdges(connection, weighted=False)
    connection.close()
    with pytest.raises(
        PugnnError, match=r"the edges cannot be sorted: .* Free some disk space, or choose another --out"
    ):
        edges.add(EdgePiece(np.zeros(1, np.int32), np.ones(1, np.int32), None))
