from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from attribute_tables import attributes_of, cells_of
from pugnn.features.number_columns import MatrixColumns


def texts(cells):
    return [row[0] for row in cells.query("text", "ORDER BY position").fetchall()]


def test_text_is_trimmed_and_missing_words_are_null():
    cells = cells_of(["a", " b\t", "NA", "n/a", "", "  ", "None", "NULL", "nan", "-", "?", None, "\u00a0c", "na na"])
    assert texts(cells) == ["a", "b", *[None] * 10, "c", "na na"]
    assert cells.missing().tolist() == [False, False, *[True] * 10, False, False]


@pytest.mark.parametrize(
    ("type_name", "values", "expected"),
    [
        ("DOUBLE", [1.0, 2.5, float("nan"), None, 1e300], ["1", "2.5", None, None, "1e+300"]),
        ("BIGINT", [1, -7, None], ["1", "-7", None]),
        ("BOOLEAN", [True, None], ["true", None]),
        ("JSON", ['"a b"', "1.5", "null", None], ["a b", "1.5", None, None]),
        ("ENUM ('red', 'na')", ["red", "na"], ["red", None]),
        ("VARCHAR[]", [["a", "b"], None], ["[a, b]", None]),
    ],
)
def test_other_types_in_words(type_name, values, expected):
    cells = cells_of(values, type_name)
    assert texts(cells) == expected
    assert cells.missing().tolist() == [text is None for text in expected]


def test_kinds_of_types():
    for type_name in ("TINYINT", "UBIGINT", "HUGEINT", "FLOAT", "DECIMAL(9, 2)"):
        assert cells_of([1], type_name).is_number
    for type_name in ("DATE", "TIMESTAMP", "TIMESTAMP_NS"):
        assert cells_of(["2024-01-31"], type_name).is_date
    assert not cells_of(["a"]).is_number


def test_nodes_without_a_row_get_the_fill():
    cells = cells_of(["7", "8"], positions=[1, 0], num_nodes=4)
    assert cells.attributes.has_row.tolist() == [True, True, False, False]
    np.testing.assert_array_equal(cells.read("cell::INTEGER", -1), [8, 7, -1, -1])


def test_positions_may_be_any_sql():
    attributes = attributes_of({"x": ["7", "8"]}, positions=[5, 5], num_nodes=3)
    cells = replace(attributes, position="rowid").cells("x")
    np.testing.assert_array_equal(cells.read("cell::INTEGER", -1), [7, 8, -1])
    assert cells.attributes.has_row.tolist() == [True, True, False]


def test_column_that_is_not_there_is_missing_everywhere():
    cells = attributes_of({"x": ["1", "2"]}).cells("y")
    assert cells.missing().all()


def test_nodes_beyond_a_sparse_matrix_have_zeros_there():
    sparse = MatrixColumns(("w",), sp.csc_array([[-2.0], [1.5]]))
    both = attributes_of({"x": ["1", "2"]}, num_nodes=3).beside(sparse)
    assert both.names == ("x", "w")
    assert both.cells("w").values.tolist() == [-2.0, 1.5, 0.0]


def test_stretches_cover_all_nodes():
    cells = cells_of(["a"] * 7)
    assert [list(stretch) for stretch, _ in cells.stretches(3)] == [[0, 1, 2], [3, 4, 5], [6]]
    counts = [cells.query("count(*)", f"WHERE {condition}").fetchone()[0] for _, condition in cells.stretches(3)]
    assert counts == [3, 3, 1]


def test_complaint_names_row_column_and_value():
    attributes = attributes_of({"x": ["1", "one"]})
    assert str(attributes.cells("x").complaint(1, "is not a number")) == (
        "nodes.csv, row 3, column 'x': 'one' is not a number. Correct it, leave it empty, or train with the column as "
        "another kind (--column x=category)."
    )


def test_complaint_shows_the_beginning_of_a_long_cell():
    message = str(cells_of(["y" * 1_000_000]).complaint(0, "is not a number"))
    assert "yyy'…" in message
    assert len(message) < 300
    assert "--column x=text" in str(cells_of(["a b c"]).complaint(0, "is not a number"))
