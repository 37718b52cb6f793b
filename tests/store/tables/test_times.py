import datetime
from datetime import UTC, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

from pugnn.errors import PugnnError
from pugnn.store.tables.access import read_tables
from pugnn.store.tables.times import Times, as_moment, cut, only

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(moment):
    return (moment - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("given", "until", "zoned"),
    [
        ("2026-01-31", datetime.datetime(2026, 1, 31, 23, 59, 59, 999999, UTC), None),
        (" 2026-01-31 ", datetime.datetime(2026, 1, 31, 23, 59, 59, 999999, UTC), None),
        (datetime.date(2026, 1, 31), datetime.datetime(2026, 1, 31, 23, 59, 59, 999999, UTC), None),
        ("2026-01-31T12:00", datetime.datetime(2026, 1, 31, 12, tzinfo=UTC), False),
        ("2026-01-31 12:00:00Z", datetime.datetime(2026, 1, 31, 12, tzinfo=UTC), True),
        ("2026-01-31T12:00+02:00", datetime.datetime(2026, 1, 31, 10, tzinfo=UTC), True),
        (datetime.datetime(2026, 1, 31, 12), datetime.datetime(2026, 1, 31, 12, tzinfo=UTC), False),
        (pd.Timestamp("2026-01-31 12:00", tz="Europe/Berlin"), datetime.datetime(2026, 1, 31, 11, tzinfo=UTC), True),
    ],
)
def test_moments(given, until, zoned):
    moment = as_moment("as_of", given)
    assert (moment.last, moment.zoned) == (microseconds(until), zoned)


@pytest.mark.parametrize(
    "given", ["", "soon", "31.1.2026", "2026-02-30", "34.5", 34.5, True, pd.NaT, "2026-01-31T25:00"]
)
def test_bad_moments(given):
    with pytest.raises(PugnnError, match="as_of is a date such as 2026-01-31"):
        as_moment("as_of", given)


def with_times(content, use, tmp_path, name="when"):
    """What ``use`` makes of the column of times of an edge table, from a file or from memory."""
    if isinstance(content, str):
        file = tmp_path / "edges.csv"
        file.write_text(content)
        content = str(file)
    return read_tables({"edges": content}, {"time": name}, lambda tables: use(Times.of(tables["edges"], name)))


def in_csv(*cells):
    return "source,target,when\n" + "".join(f"a,b{at},{cell}\n" for at, cell in enumerate(cells))


def every_time(times):
    return [time for (time,) in times.table.query(times.sql)]


CELLS = ["2026-01-31", "2026/1/31", "2026-01-31T12:30", "2026-01-31 12:30:15.25"]


def test_times_in_text(tmp_path):
    day = datetime.datetime(2026, 1, 31, tzinfo=UTC)
    expected = [
        day,
        day,
        day.replace(hour=12, minute=30),
        day.replace(hour=12, minute=30, second=15, microsecond=250000),
    ]
    assert with_times(in_csv(*CELLS), every_time, tmp_path) == list(map(microseconds, expected))
    offsets = with_times(
        in_csv("2026-01-31T12:30+02:00", "2026-01-31T10:30Z", "2026-01-31 11:30:00 +0100"), every_time, tmp_path
    )
    assert offsets == [microseconds(day.replace(hour=10, minute=30))] * 3


@pytest.mark.parametrize(
    ("column", "zoned"),
    [
        ([datetime.date(2026, 1, 31)], None),
        (np.array(["2026-01-31T10:30"], "datetime64[ns]"), False),
        (pd.to_datetime(["2026-01-31T12:30+02:00"]), True),
        ([datetime.datetime(2026, 1, 31, 12, 30, tzinfo=timezone(timedelta(hours=2)))], True),
        (["2026-01-31T12:30+02:00"], True),
    ],
)
def test_times_in_memory(column, zoned, tmp_path):
    frame = {"source": ["a"], "target": ["b"], "when": list(column) if zoned is None else column}
    found, own = with_times(frame, lambda times: (every_time(times), times.zoned), tmp_path)
    expected = datetime.datetime(2026, 1, 31, *(() if zoned is None else (10, 30)), tzinfo=UTC)
    assert (found, own) == ([microseconds(expected)], zoned)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("2026-01-31", ""), r"edges.csv, row 3: the time \(when\) is empty. Fill it in, or remove the row."),
        (("2026-01-31", "soon"), r"edges.csv, row 3: the time \(when\) 'soon' is not a date such as 2026-01-31"),
        (("2026-01-31", "35"), r"row 3: the time \(when\) '35' is not a date"),
        (("34", "2026-01-31"), r"row 3: the time \(when\) '2026-01-31' is not a whole number, as the first one is"),
        (("34", "35.5"), "row 3: .* '35.5' is not a whole number"),
        (("34", ""), r"row 3: the time \(when\) is empty"),
        (("2026-01-31", "2026-02-30"), "row 3: .* '2026-02-30' is not a date"),
        (
            ("2026-01-31T12:00Z", "2026-01-31", "2026-01-31T12:00"),
            "row 4: the time '2026-01-31T12:00' has no time zone, but the other one has one",
        ),
        (
            ("2026-01-31T11:00", "2026-01-31T12:00", "2026-01-31T12:00Z"),
            "row 4: the time '2026-01-31T12:00Z' has a time zone, but 2 others have none",
        ),
        (
            ("31.01.2026", "01.02.2026"),
            "edges.csv: times in the column 'when', such as '31.01.2026', are not dates such as 2026-01-31",
        ),
    ],
)
def test_bad_times(cells, message, tmp_path):
    with pytest.raises(PugnnError, match=message):
        with_times(in_csv(*cells), every_time, tmp_path)


@pytest.mark.parametrize("given", [34, "34", " 34 ", "34.0", 34.0, np.int32(34)])
def test_a_moment_may_be_a_number(given):
    moment = as_moment("as_of", given)
    assert (moment.last, moment.zoned, moment.number, str(moment)) == (34, None, True, "34")


@pytest.mark.parametrize(
    "cells",
    [["34", "+2009", " -1 ", "1262304000.0"], [34, 2009, -1, 1262304000], np.array([34.0, 2009, -1, 1262304000])],
    ids=["text", "integers", "floats"],
)
def test_whole_numbers_are_times(cells, tmp_path):
    table = in_csv(*cells) if isinstance(cells[0], str) else {"source": [*"abcd"], "target": [*"efgh"], "when": cells}
    found = with_times(table, lambda times: (every_time(times), times.number, times.zoned, times.shown(34)), tmp_path)
    assert found == ([34, 2009, -1, 1262304000], True, None, "34")


def test_nanoseconds_since_1970_are_numbers(tmp_path):
    assert with_times(in_csv("1767225600000000000"), every_time, tmp_path) == [1767225600000000000]


def test_other_numbers_are_no_times(tmp_path):
    frame = {"source": ["a", "b"], "target": ["b", "c"], "when": [1.0, 2.5]}
    with pytest.raises(PugnnError, match=r"edges, row 2: the time \(when\) 2.5 is not a whole number"):
        with_times(frame, every_time, tmp_path)


def test_other_types_are_no_times(tmp_path):
    with pytest.raises(
        PugnnError, match=r"column 'when' has the type BOOLEAN; times are dates such as .*, or whole num"
    ):
        with_times({"source": ["a"], "target": ["b"], "when": [True]}, every_time, tmp_path)


def test_a_part_of_a_table_knows_its_rows(tmp_path):
    cells = ["2026-01-01", "2026-03-01", "2026-01-02", "2026-02-01"]

    def use(times):
        parts = cut(times, as_moment("as_of", "2026-02-01")), only(times.table, np.array([False, True, False, True]))
        return [(part.query("c_1"), [part.locate(row)[-5:] for row in range(len(part.kept()))]) for part in parts]

    assert with_times(in_csv(*cells), use, tmp_path) == [
        ([("b0",), ("b2",), ("b3",)], ["row 2", "row 4", "row 5"]),
        ([("b1",), ("b3",)], ["row 3", "row 5"]),
    ]


def test_a_table_without_the_column(tmp_path):
    assert with_times("source,target\na,b\n", lambda times: times, tmp_path) is None
