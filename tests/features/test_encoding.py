import numpy as np
import scipy.sparse as sp

from pugnn.features.encoding import FeatureBlocks


def compact(*blocks):
    collected = FeatureBlocks()
    collected.add(*blocks)
    return collected.joined()


def test_few_values_become_one_sparse_matrix_without_stored_zeros():
    dense = np.array([[0, 1], [0, 0]], dtype=np.float32)
    sparse = sp.csr_array(np.array([[0, 0, 5], [0, 0, 0]], dtype=np.float32))
    sparse.data[0] = 0  # stored, and yet nothing
    joined = compact(dense, dense, sparse, sparse, dense)
    assert isinstance(joined, sp.csr_array)
    assert joined.nnz == 3
    assert joined.has_sorted_indices
    np.testing.assert_array_equal(joined.toarray(), np.hstack([dense, dense, np.zeros((2, 6)), dense]))


def test_many_values_become_a_dense_matrix():
    dense, sparse = np.ones((2, 2), dtype=np.float32), sp.csr_array(np.eye(2, dtype=np.float32))
    joined = compact(sparse, dense)
    assert isinstance(joined, np.ndarray)
    np.testing.assert_array_equal(joined, [[1, 0, 1, 1], [0, 1, 1, 1]])
