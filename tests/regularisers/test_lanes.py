import numpy as np
import pytest
from numba import njit

from pugnn.regularisers.lanes import collect, dot, exchange, exponential


@njit
def _dot(table, left, right):
    return dot(table, left, right)


@njit
def _exchange(table, sums, slopes, rows, count, own, shift):
    exchange(table, sums, slopes, rows, count, own, shift)


@njit
def exponentials(values):
    out = np.empty_like(values)
    for i in range(len(values)):
        out[i] = exponential(values[i])
    return out


@njit
def _collect(table, sums, slopes, rows, count, own, shift):
    collect(table, sums, slopes, rows, count, own, shift)


def table(dtype) -> np.ndarray:
    return np.random.default_rng(0).normal(size=5 * 32).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dot_of_sixteen(dtype):
    numbers = table(dtype)
    expected = sum(float(numbers[32 + c]) * float(numbers[80 + c]) for c in range(16))
    assert _dot(numbers, 32, 80) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize(("function", "both_ends"), [(_exchange, True), (_collect, False)])
def test_rows_are_added_one_by_one(dtype, count, function, both_ends):
    numbers, slopes = table(dtype), np.array([0.5, -2.0, 3.0], dtype=dtype)
    rows = np.array([0, 96, 0])  # a row may come twice
    sums = np.ones_like(numbers)
    expected = sums.astype(np.float64)
    for t in range(count):
        for c in range(16):
            expected[64 + 16 + c] += slopes[t] * numbers[rows[t] + 16 + c]
            expected[rows[t] + 16 + c] += both_ends * slopes[t] * numbers[64 + 16 + c]
    function(numbers, sums, slopes, rows, count, 64 + 16, 16)
    assert np.allclose(sums, expected, rtol=1e-5)


def test_exponential_in_single_precision():
    x = np.linspace(-87, 87, 400_001).astype(np.float32)
    exact = np.exp(x.astype(np.float64))
    error = np.abs(exponentials(x) - exact) / np.spacing(exact.astype(np.float32))
    assert error.max() < 2
    assert exponentials(np.array([0.0], dtype=np.float32)) == 1


def test_exponential_saturates_instead_of_overflowing():
    low, high = exponentials(np.array([-1e4, 1e4], dtype=np.float32))
    assert 0 < low < 1e-37
    assert 1e37 < high < np.inf


def test_exponential_in_double_precision():
    x = np.linspace(-50, 50, 1001)
    assert np.allclose(exponentials(x), np.exp(x), rtol=1e-15)
