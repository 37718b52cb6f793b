import numpy as np
import pytest

from pugnn.features.number import long_tail
from pugnn.features.number_columns import EdgeColumn
from pugnn.store.assembly.end_attributes import EdgeSums, edge_attributes

COLUMNS = [
    EdgeColumn("pays out", "amount", "number"),
    EdgeColumn("pays out", "day", "date"),
    EdgeColumn("pays out", "late", "boolean"),
    EdgeColumn("pays out", "by", "category", ("web", "phone")),
]


def loop(ends, values, num_nodes):
    """The same columns from plain loops."""
    found = {}
    for node in range(num_nodes):
        mine = [row for row, end in enumerate(ends) if end == node]
        found.setdefault("pays out: edges, count", []).append(len(mine))
        for column, cells in zip(COLUMNS, values, strict=True):
            there = [cells[row] for row in mine if not np.isnan(cells[row])]
            mean = sum(there) / len(there) if there else np.nan
            highest = max(there, default=np.nan)
            numbers = {"sum": sum(there), "mean": mean, "max": highest, "last": highest, "share": mean}
            for name in column.names:
                if column.kind == "category":
                    place = 1 + [f" = {value}, share" in name for value in column.values].index(True)
                    number = sum(value == place for value in there) / len(there) if there else np.nan
                else:
                    number = numbers[name.rsplit(", ")[-1]]
                found.setdefault(name, []).append(number)
    return found


def test_columns_are_those_of_plain_loops_however_edges_come():
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 7, 60)
    ends[ends == 3] = 4  # a node without edges
    values = [
        rng.normal(size=60),
        rng.uniform(2e4, 2.1e4, 60),
        rng.integers(0, 2, 60) * 1.0,
        rng.integers(0, 3, 60) * 1.0,
    ]
    for cells in values:
        cells[rng.random(60) < 0.3] = np.nan
    expected = loop(ends, values, 9)
    for size in (60, 7):
        sums = EdgeSums(COLUMNS)
        for first in range(0, 60, size):
            rows = slice(first, first + size)
            sums.add(ends[rows], [cells[rows] for cells in values], num_nodes=int(ends[: first + size].max()) + 1)
        found = dict(sums.columns(9))
        assert list(found) == list(expected)
        for name, column in found.items():
            np.testing.assert_allclose(column, expected[name], err_msg=name)


def test_names_say_relation_column_and_statistic():
    assert [name for column in COLUMNS for name in column.names] == [
        "pays out: amount, sum",
        "pays out: amount, mean",
        "pays out: amount, max",
        "pays out: day, mean",
        "pays out: day, last",
        "pays out: late, share",
        "pays out: by = web, share",
        "pays out: by = phone, share",
    ]
    assert EdgeSums(COLUMNS[:1]).renamed("").of[0].names[0] == "amount, sum"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.random.default_rng(0).lognormal(0, 2, 1000), True),
        (np.random.default_rng(0).lognormal(0, 0.5, 1000), False),
        (np.r_[-1.0, np.random.default_rng(0).lognormal(0, 2, 1000)], False),
        (np.r_[np.nan, 0, np.random.default_rng(0).lognormal(0, 2, 1000)], True),
        (np.array([np.nan]), False),
        (np.zeros(3), False),
    ],
)
def test_amounts_have_a_long_tail_and_no_negative(values, expected):
    assert long_tail(values) is expected


def test_long_tails_are_read_as_amounts():
    sums, rng = EdgeSums([EdgeColumn("", "x", "number"), EdgeColumn("", "y", "number")]), np.random.default_rng(0)
    sums.add(np.arange(500), [rng.lognormal(0, 2, 500), rng.normal(size=500)], num_nodes=500)
    columns, kinds = edge_attributes([sums], 500)
    assert kinds == {"x, sum": "amount", "x, mean": "amount", "x, max": "amount"}
    assert columns.names == ("edges, count", *(f"{x}, {name}" for x in "xy" for name in ("sum", "mean", "max")))
