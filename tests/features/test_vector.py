import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attribute_tables import cells_of
from pugnn.errors import PugnnError
from pugnn.features import vector
from pugnn.features.vector import VectorEncoding


@settings(deadline=None, max_examples=30)
@given(arrays(np.float32, (3, 2), elements=st.floats(width=32, allow_nan=False, allow_infinity=False)))
def test_values_are_taken_to_the_bit(matrix):
    as_text = [f"[{', '.join(map(str, row))}]" for row in matrix]  # numpy writes what is needed to read the same
    for cells in (cells_of(as_text), cells_of(matrix.tolist(), "FLOAT[]"), cells_of(matrix.tolist(), "DOUBLE[2]")):
        (features,), _ = VectorEncoding.learn(cells).encode(cells)
        dense = features.toarray() if sp.issparse(features) else features
        np.testing.assert_array_equal(dense, matrix)


def test_missing_vectors_are_zeros_with_an_indicator():
    cells = cells_of(["[1, 2]", "", "[3, 4]"], num_nodes=4)
    encoding = VectorEncoding.learn(cells)
    assert encoding == VectorEncoding("x", 1, 2)
    assert encoding.feature_names == ["x[0]", "x[1]", "x missing"]
    (features, indicator), _ = encoding.encode(cells)
    np.testing.assert_array_equal(features, [[1, 2], [0, 0], [3, 4], [0, 0]])
    np.testing.assert_array_equal(indicator[:, 0], [0, 1, 0, 1])


def test_few_values_are_kept_sparse():
    cells = cells_of(["[0, 0, 0, 0, 1]", "[0, 0, 2, 0, 0]"])
    (features,), _ = VectorEncoding.learn(cells).encode(cells)
    assert isinstance(features, sp.csr_array)
    assert features.nnz == 2


@pytest.mark.parametrize("numbers", [1, 6, 1000])
def test_stretches_and_order_of_rows_make_no_difference(numbers, monkeypatch):
    monkeypatch.setattr(vector, "NUMBERS", numbers)
    cells = cells_of([f"[{i}, 0, {-i}]" for i in (4, 2, 0, 1, 3)], positions=[4, 2, 0, 1, 3])
    (features,), _ = VectorEncoding.learn(cells).encode(cells)
    np.testing.assert_array_equal(features, [[i, 0, -i] for i in range(5)])


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("[1]", "has 1 numbers where 2 are expected"),
        ("[1, 2, 3]", "has 3 numbers where 2 are expected"),
        ("[]", "is not a list of numbers"),
        ("7", "is not a list of numbers"),
        ("[1, 2", "is not a list of numbers"),
        ("[1, nan]", "not a finite 32-bit number in place 2"),
        ("[inf, 1]", "not a finite 32-bit number in place 1"),
        ("[1, x]", "not a finite 32-bit number in place 2"),
        ("[1e39, 1]", "not a finite 32-bit number in place 1"),
    ],
)
def test_what_is_no_such_vector_is_an_error(value, problem):
    cells = cells_of(["[1, 2]", "", value])
    with pytest.raises(PugnnError, match=r"nodes\.csv, row 4, column 'x'") as error:
        VectorEncoding.learn(cells).encode(cells)
    assert problem in str(error.value)


@pytest.mark.parametrize("value", [[1.0, None], [float("inf"), 1.0], [1e39, 1.0], [1.0], []])
def test_typed_vectors_are_checked_too(value):
    cells = cells_of([[1.0, 2.0], value], "DOUBLE[]")
    with pytest.raises(PugnnError, match=r"nodes\.csv, row 3, column 'x'"):
        VectorEncoding.learn(cells).encode(cells)


def test_vectors_longer_than_any_model_takes(monkeypatch):
    monkeypatch.setattr(vector, "MAX_LENGTH", 2)
    with pytest.raises(PugnnError, match=r"row 2.*has 3 numbers; more than 2 cannot be used"):
        VectorEncoding.learn(cells_of(["[1, 2, 3]"]))


def test_first_cell_that_is_no_vector_is_an_error_at_once():
    with pytest.raises(PugnnError, match=r"row 2.*'red' is not a list"):
        VectorEncoding.learn(cells_of(["red", "[1]"]))
