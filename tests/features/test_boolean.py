import numpy as np
import pytest

from attribute_tables import cells_of
from pugnn.errors import PugnnError
from pugnn.features.boolean import BooleanEncoding


@pytest.mark.parametrize(
    ("type_name", "values"),
    [
        (None, ["Yes", " no", "NO", "", "y"]),
        (None, ["1", "0", "0.0", "NA", "1.0"]),
        (None, ["T", "f", "false", None, "TRUE"]),
        ("BOOLEAN", [True, False, False, None, True]),
        ("DOUBLE", [1, 0, 0, float("nan"), 1]),
        ("INTEGER", [1, 0, 0, None, 1]),
    ],
)
def test_zero_and_one_and_the_share_where_it_is_missing(type_name, values):
    cells = cells_of(values, type_name)
    encoding = BooleanEncoding.learn(cells)
    assert encoding == BooleanEncoding("x", 1, 0.5)
    np.testing.assert_array_equal(np.hstack(encoding.encode(cells)[0]).T, [[1, 0, 0, 0.5, 1], [0, 0, 0, 1, 0]])
    assert encoding.feature_names == ["x", "x missing"]
    assert encoding.describe().text == (
        "0 or 1, 50 % are 1; missing in 1 node → the share of true values and an indicator"
    )


@pytest.mark.parametrize(("type_name", "value"), [(None, "maybe"), ("INTEGER", 2), ("DATE", "2024-01-31")])
def test_what_is_neither_is_an_error(type_name, value):
    with pytest.raises(PugnnError, match=r"nodes\.csv, row 3, column 'x'.* is neither true nor false"):
        BooleanEncoding("x", 0, 0.5).encode(cells_of([None, value], type_name))
