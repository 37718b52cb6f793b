import numpy as np
import pyarrow as pa
import pytest

from pugnn.features import number_columns
from pugnn.store.ids import IdTable
from pugnn.store.node_table import read_nodes
from pugnn.store.tables.access import read_tables

NODES = pa.table(
    {
        "id": ["a", "b", "c", "a"],
        "x": pa.array([1.5, None, -2.0, 1.5]),
        "nan": pa.array([float("nan"), 0.0, 3.0, float("nan")]),
        "flag": pa.array([True, False, None, True]),
        "none": pa.array([None, None, None, None], pa.float64()),
        "huge": pa.array([1e300, 0.0, 1.0, 1e300]),
        "zero": pa.array([0, 0, 0, 0]),
        "one": pa.array([1, 0, 1, 1], pa.int8()),
        "word": ["u", "v", "w", "u"],
    }
)
COLUMNS = {
    "x": [1.5, np.nan, -2.0],
    "nan": [np.nan, 0.0, 3.0],
    "flag": [1.0, 0.0, np.nan],
    "none": [np.nan] * 3,
    "zero": [0.0] * 3,
    "one": [1.0, 0.0, 1.0],
}


@pytest.mark.parametrize("at_once", [1, 8, 1 << 26])  # each column by itself, two at a time, all together
@pytest.mark.parametrize("rows", [3, 4])  # without and with a repeated row, which is skipped
def test_columns_are_the_same_however_many_are_read_at_once(rows, at_once, monkeypatch):
    monkeypatch.setattr(number_columns, "READ_AT_ONCE", at_once)

    def look(tables):
        numbers = read_nodes(tables["nodes"], None, IdTable(), {}).numbers
        assert (numbers.names, numbers.rows) == (tuple(COLUMNS), 3)
        for name, wanted in COLUMNS.items():
            np.testing.assert_array_equal(numbers.column(name), wanted)
            np.testing.assert_array_equal(numbers.part([name]).toarray()[:, 0], wanted)
            stored = np.array([value for value in wanted if value != 0])
            np.testing.assert_equal(vars(numbers.summary(name)), vars(number_columns.Summary.of(stored, 3)))
        np.testing.assert_array_equal(numbers.part(["one", "x"]).toarray(), np.stack([COLUMNS["one"], COLUMNS["x"]], 1))
        assert numbers.part([]).shape == (3, 0)

    read_tables({"nodes": NODES.slice(0, rows)}, {}, look)
