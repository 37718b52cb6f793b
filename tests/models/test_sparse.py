import numpy as np
import pytest
import scipy.sparse as sp
import torch

from pugnn.models.sparse import SparseMatrix


@pytest.fixture
def matrix() -> sp.csr_array:
    return sp.csr_array(sp.random_array((5, 4), density=0.5, rng=np.random.default_rng(0)))


def test_product_equals_the_dense_one(matrix):
    dense = torch.randn(4, 3, dtype=torch.float64)
    expected = torch.from_numpy(matrix.toarray()) @ dense
    assert torch.allclose(SparseMatrix(matrix) @ dense, expected)


def test_gradient_by_finite_differences(matrix):
    dense = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda d: SparseMatrix(matrix) @ d, dense)


def test_a_symmetric_matrix_shares_its_layout(matrix):
    square = sp.csr_array(matrix @ matrix.T)
    dense = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda d: SparseMatrix(square, symmetric=True) @ d, dense)


def test_dropout_scales_what_it_keeps_and_the_gradient_sees_the_same_entries(matrix):
    torch.manual_seed(0)
    dropped = SparseMatrix(matrix).dropout(0.5, training=True)
    kept = torch.isclose(dropped.values, 2 * torch.from_numpy(matrix.data))
    assert ((dropped.values == 0) | kept).all()
    assert 0 < kept.sum() < len(kept)
    dense = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda d: dropped @ d, dense)


def test_no_dropout_outside_training(matrix):
    sparse = SparseMatrix(matrix)
    assert sparse.dropout(0.5, training=False) is sparse
    assert sparse.dropout(0.0, training=True) is sparse
