import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.graph.arrays import sound_matrix

PARTS = {
    "indptr": np.array([0, 1, 3, 4]),
    "indices": np.array([1, 0, 2, 1], np.int32),
    "features": np.eye(3, dtype=np.float32),
    "ids": np.arange(3),
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indptr": np.array([0, 3, 1, 4])}, "indptr must rise from 0 to 4"),
        ({"indptr": np.array([0, 1, 3, 10**9])}, "indptr must rise from 0 to 4"),
        ({"indptr": np.array([0, 1, 3, 4], np.int32)}, "indptr must be a list of 64-bit integers"),
        ({"indptr": [0, 1, 3, 4]}, r"indptr must be a numpy array; got \[0, 1, 3, 4\]"),
        ({"indices": np.array([1, 0, 3, 1], np.int32)}, "indices: node 3 is not in the graph"),
        ({"indices": np.array([1, 0, -1, 1], np.int32)}, "indices: node -1 is not in the graph"),
        ({"indices": np.array([1.0, 0, 2, 1])}, "indices must be a list of 4 int32; got shape .* of float64"),
        ({"weights": np.ones(3, np.float32)}, "weights must be a list of 4 float32"),
        ({"features": sp.csr_array((np.ones(1, np.float32), [0], [0, 1, 1, 1]), shape=(3, 3))}, "do not fit together"),
    ],
)
def test_a_graph_of_positions_that_do_not_exist_is_refused(changes, message):
    if "features" in changes:
        changes["features"].indices[0] = 10**6
    with pytest.raises(PugnnError, match=message):
        Graph(**{**PARTS, **changes})


def test_a_sound_graph_is_taken():
    assert Graph(**PARTS).num_edges == 2


def test_coordinates_outside_a_matrix_are_refused():
    for coords in ((np.array([0, 9]), np.array([0, 1])), (np.array([0, 0.5]), np.array([0, 1]))):
        matrix = sp.coo_array(([1.0, 2.0], ([0, 1], [0, 1])), shape=(3, 3))
        matrix.coords = coords
        with pytest.raises(PugnnError, match="do not fit together"):
            sound_matrix(matrix, "it")


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_array, sp.dok_array, sp.dia_array])
def test_sound_matrices_of_all_formats_are_taken(kind):
    assert sound_matrix(kind(np.eye(3)), "it").toarray().tolist() == np.eye(3).tolist()


def test_sparse_tensors_with_positions_that_do_not_exist_are_refused():
    values, few = torch.ones(3), {"size": (3, 3), "check_invariants": False}
    for x in (
        torch.sparse_csr_tensor(torch.tensor([0, 1, 2, 10**8]), torch.tensor([0, 1, 1]), values, **few),
        torch.sparse_csr_tensor(torch.tensor([0, 1, 2, 3]), torch.tensor([0, 1, 10**8]), values, **few),
        torch.sparse_coo_tensor(torch.tensor([[0, 1, 10**8], [0, 1, 1]]), values, **few),
    ):
        with pytest.raises(PugnnError, match="the matrix x of the PyG data"):
            Graph.from_pyg(Data(x=x, edge_index=torch.tensor([[0, 1], [1, 2]])))
