import math

import numpy as np
import pandas as pd
import pytest

from pugnn.features.number_columns import NumberColumns
from pugnn.store.ids import IdTable
from pugnn.store.node_table import read_nodes
from pugnn.store.tables.access import open_tables
from pugnn.store.tables.input_files import Scratch

COLUMNS = {
    "id": ["a", "b", "c", "d"],
    "x": [1.5, 0.0, None, -2.0],
    "flag": [True, False, False, True],
    "none": [None, None, None, None],
    "same": [3, 3, 3, 3],
}


def read(nodes) -> NumberColumns:
    given = dict.fromkeys(("edges", "positives", "truth", "attributes")) | {"nodes": nodes}
    with Scratch() as scratch:
        connection, tables = open_tables(given, dict.fromkeys(("source", "target", "id", "weight", "label")), scratch)
        with connection:
            return read_nodes(tables["nodes"], None, IdTable(), {}).numbers


@pytest.fixture(params=["csv", "parquet", "memory"])
def numbers(request, tmp_path):
    frame = pd.DataFrame(COLUMNS)
    frame["none"] = frame["none"].astype("Int64")
    if request.param == "memory":
        return read(frame)
    path = tmp_path / f"nodes.{request.param}"
    frame.to_csv(path, index=False) if request.param == "csv" else frame.to_parquet(path)
    return read(path)


def test_every_form_gives_the_same_columns(numbers):
    assert numbers.names == ("x", "flag", "none", "same")
    for name in numbers.names:
        wanted = [math.nan if value is None else float(value) for value in COLUMNS[name]]
        np.testing.assert_array_equal(numbers.column(name), wanted)


def test_zeros_are_not_stored(numbers):
    assert numbers.part(numbers.names).nnz == 3 + 2 + 4 + 4  # with the missing ones


def test_summaries_by_plain_loops(numbers):
    for name in numbers.names:
        present = [float(value) for value in COLUMNS[name] if value is not None]
        found = numbers.summary(name)
        assert (found.present, found.missing) == (len(present), 4 - len(present))
        assert found.nonzero == sum(value != 0 for value in present)
        assert found.boolean == all(value in (0, 1) for value in present)
        assert found.whole == all(value == int(value) for value in present)
        if present:
            assert (found.lowest, found.highest) == (min(present), max(present))


def test_rows_of_some_nodes(numbers):
    chosen = numbers.of_rows(np.array([3, 0]))
    assert chosen.column("x").tolist() == [-2.0, 1.5]


def test_numbers_beyond_32_bits_are_left_to_those_who_name_the_row():
    assert read(pd.DataFrame({"id": ["a", "b", "c", "d"], "x": [1.0, 1e39, 2, 3], "y": [1, 2, 3, 4]})).names == ("y",)
