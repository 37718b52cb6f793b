import numpy as np
import pyarrow as pa
import pytest

from pugnn.io.ids import IdTable
from pugnn.io.node_table import read_nodes
from pugnn.io.opening import read_tables

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


def columns(nodes: pa.Table, *, on_demand: bool):
    def read(tables):
        numbers = read_nodes(tables["nodes"], None, IdTable(), {}, on_demand=on_demand).numbers
        return (
            numbers.names,
            numbers.rows,
            {
                name: (numbers.summary(name), numbers.column(name), numbers.part([name]).toarray())
                for name in numbers.names
            },
        )

    return read_tables({"nodes": nodes}, {}, read)


@pytest.mark.parametrize("rows", [3, 4])  # without and with a repeated row, which is skipped
def test_columns_on_demand_are_those_in_memory(rows):
    nodes = NODES.slice(0, rows)
    names, count, found = columns(nodes, on_demand=True)
    assert (names, count) == columns(nodes, on_demand=False)[:2] == (("x", "nan", "flag", "none", "zero", "one"), 3)
    for name, (summary, column, part) in columns(nodes, on_demand=False)[2].items():
        np.testing.assert_equal(vars(found[name][0]), vars(summary), err_msg=name)
        np.testing.assert_array_equal(found[name][1], column)
        np.testing.assert_array_equal(found[name][2], part)
