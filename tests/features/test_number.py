import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attribute_tables import cells_of
from pugnn.errors import PugnnError
from pugnn.features.number import AmountEncoding, NumberEncoding


def encoded(encoding, cells):
    blocks, remarks = encoding.encode(cells)
    return np.hstack(blocks), remarks


def test_standardised_by_plain_loops():
    cells = cells_of(["1", "4", "", "10", "NA"], num_nodes=6)
    encoding = NumberEncoding.learn(cells)
    mean = (1 + 4 + 10) / 3
    deviation = math.sqrt(sum((value - mean) ** 2 for value in (1, 4, 10)) / 3)
    features, remarks = encoded(encoding, cells)
    assert encoding.feature_names == ["x", "x missing"]
    expected = [(v - mean) / deviation if v else 0 for v in (1, 4, None, 10, None, None)]
    np.testing.assert_allclose(features[:, 0], expected, rtol=1e-6)
    np.testing.assert_array_equal(features[:, 1], [0, 0, 1, 0, 1, 1])
    assert encoding.missing == 2  # the sixth node has no row at all
    assert not remarks
    assert features.dtype == np.float32


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(-1e30, 1e30), min_size=1, max_size=20))
@example([0.0, 7.521649391586088e-226])
def test_text_and_numbers_agree(values):
    typed = NumberEncoding.learn(cells_of(values, "DOUBLE"))
    text = NumberEncoding.learn(cells_of([repr(value) for value in values]))
    assert typed == text
    spread = max(values) - min(values)
    assert np.isfinite(typed.encode(cells_of(values, "DOUBLE"))[0][0]).all()
    assert spread == 0 or typed.deviation > 0


def test_dates_are_days():
    cells = cells_of(["1970-01-02", " 1970-01-04 12:00:00 ", ""])
    encoding = NumberEncoding.learn(cells)
    assert (encoding.mean, encoding.deviation, encoding.dates) == (2.25, 1.25, True)
    typed = cells_of(["1970-01-02", "1970-01-04 12:00:00", None], "TIMESTAMP")
    assert NumberEncoding.learn(typed) == encoding
    np.testing.assert_array_equal(encoding.encode(typed)[0][0], [[-1], [1], [0]])
    assert "mean 1970-01-03" in encoding.describe().text


def test_constant_column_has_deviation_one():
    encoding = NumberEncoding.learn(cells_of(["7", "7"]))
    assert (encoding.mean, encoding.deviation) == (7, 1)


def test_missing_value_that_training_did_not_have_is_the_mean_and_remarked():
    encoding = NumberEncoding.learn(cells_of(["1", "3"]))
    features, remarks = encoded(encoding, cells_of(["3", "?"]))
    np.testing.assert_array_equal(features, [[1], [0]])
    assert remarks == ["no value in 1 node, the mean instead; in training all had one"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("12 kg", "is not a number"),
        ("1,5", "is not a number"),
        ("1_000", "is not a number"),
        ("-Infinity", "is not a number"),
        ("1e39", "is not a finite 32-bit number"),
    ],
)
def test_what_is_no_number_is_an_error(value, problem):
    cells = cells_of(["1", "2", value])
    with pytest.raises(PugnnError, match="row 4, column 'x': ") as error:
        NumberEncoding.learn(cells)
    assert f"{value!r} {problem}" in str(error.value)


@pytest.mark.parametrize(
    ("type_name", "value"),
    [("DOUBLE", float("inf")), ("DOUBLE", 1e39), ("BIGINT[]", [1]), ("DATE", "2024-01-31"), ("VARCHAR", "one")],
)
def test_typed_cells_that_are_no_numbers(type_name, value):
    encoding = NumberEncoding("x", 0, 0.0, 1.0, False)
    with pytest.raises(PugnnError, match=r"nodes\.csv, row 3"):
        encoding.encode(cells_of([None, value], type_name))


@pytest.mark.parametrize(("type_name", "value"), [("VARCHAR", "soon"), ("DATE", "infinity"), ("BIGINT", 17)])
def test_what_is_no_date_is_an_error(type_name, value):
    encoding = NumberEncoding("x", 0, 0.0, 1.0, True)
    with pytest.raises(PugnnError, match="is not a date"):
        encoding.encode(cells_of([None, value], type_name))


@pytest.mark.parametrize("kind", [NumberEncoding, AmountEncoding])
def test_a_zero_that_was_standardised_is_told_as_zero(kind):
    cells = cells_of(["0", "1", "4", "12", "700.25"])
    encoding = kind.learn(cells)
    ((_, reading),) = encoding.readings()
    told = [reading(float(value)) for value in encoding.encode(cells)[0][0][:, 0]]
    assert (told[0], told[-1]) == ("0", "700.25")
