import datetime
import decimal
import errno
import os
import uuid
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from pugnn.errors import PugnnError
from pugnn.store.tables.database import write_parquet


def column(path: Path, values) -> list:
    write_parquet(path, {"id": values, "rank": np.arange(len(values))})
    table = pq.read_table(path)
    assert table["rank"].to_pylist() == list(range(len(values)))
    return table["id"].to_pylist()


def objects(*values) -> np.ndarray:
    return np.fromiter(values, dtype=object, count=len(values))


@pytest.mark.parametrize(
    "values",
    [
        np.array([3, -1, 2**62]),
        np.array([0.1, 1e-300, 7.0]),
        np.array([True, False]),
        np.array(["a", "ü日"]),
        objects("a", "=1+1", "<b>", "", "x" * 1_000, "a\0b"),
        objects(1, 2, 3),
        objects(datetime.date(2024, 2, 29), datetime.date(1, 1, 1)),
        objects(datetime.datetime(2024, 2, 29, 1, 2, 3, 4)),
        objects(decimal.Decimal("1.50"), decimal.Decimal("2.25")),
        objects(1.5, 2.0),
        np.zeros(0, dtype=np.int64),
    ],
    ids=repr,
)
def test_values_and_types_survive(tmp_path, values):
    assert column(tmp_path / "t.parquet", values) == values.tolist()


def test_uuids(tmp_path):
    import duckdb

    ids = [uuid.UUID(int=7), uuid.UUID(int=2**127 + 1)]
    write_parquet(tmp_path / "t.parquet", {"id": objects(*ids)})
    assert duckdb.execute("SELECT id FROM read_parquet(?)", [str(tmp_path / "t.parquet")]).fetchall() == [
        (i,) for i in ids
    ]


def test_mixed_types_become_text(tmp_path):
    assert column(tmp_path / "t.parquet", objects(1, "1", (2, 3), None)) == ["1", "1", "(2, 3)", None]


def test_masked_entries_are_null(tmp_path):
    mask = [False, True, False]
    for values in (
        np.array([1, 2, 3]),
        objects("a", "b", "c"),
        objects(1, 2, 3),
        np.array(["a", "b", "c"]),
        np.array([1.5, 2, 3]),
    ):
        masked = np.ma.masked_array(values, mask)
        assert column(tmp_path / "t.parquet", masked) == [values.tolist()[0], None, values.tolist()[2]]
    assert column(tmp_path / "t.parquet", np.ma.masked_array(objects("a"), [True])) == [None]


def test_odd_names(tmp_path):
    path = tmp_path / 'it\'s [a] "file" *.parquet'
    names = ['say "hi"', "x'; DROP TABLE content; --", "c_1", "SELECT"]
    write_parquet(path, {name: np.array([at]) for at, name in enumerate(names)})
    with path.open("rb") as file:
        assert pq.read_table(file).to_pydict() == {name: [at] for at, name in enumerate(names)}


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "deeper" / "t.parquet"
    assert column(path, np.array([1])) == [1]
    with pytest.raises(PugnnError, match="cannot write"):
        write_parquet(path, {"a": np.array([1, 2]), "b": np.array([1, 2, 3])})
    assert pq.read_table(path)["id"].to_pylist() == [1]
    assert [file.name for file in path.parent.iterdir()] == ["t.parquet"]


def test_whole_numbers_beyond_64_bits_stay_apart(tmp_path):
    write_parquet(tmp_path / "t.parquet", {"id": np.array([2**70, 2**70 + 1], dtype=object)})
    assert pq.read_table(tmp_path / "t.parquet")["id"].to_pylist() == [str(2**70), str(2**70 + 1)]


def test_pieces_become_one_file_with_the_types_of_the_first(tmp_path):
    pieces = [
        {"id": objects("a", "b"), "hops": np.ma.masked_array([1, 2], [True, True]), "near": _masked("a", "b")},
        {
            "id": objects("c"),
            "hops": np.ma.masked_array([3], [False]),
            "near": np.ma.masked_array(objects("x"), [False]),
        },
    ]
    write_parquet(tmp_path / "t.parquet", iter(pieces))
    found = pq.read_table(tmp_path / "t.parquet").to_pydict()
    assert found == {"id": ["a", "b", "c"], "hops": [None, None, 3], "near": [None, None, "x"]}


def _masked(*values) -> np.ma.MaskedArray:
    return np.ma.masked_array(objects(*values), [True] * len(values))


def test_a_piece_that_fails_leaves_the_earlier_file(tmp_path):
    write_parquet(tmp_path / "t.parquet", [{"id": np.arange(3)}])
    before = (tmp_path / "t.parquet").read_bytes()

    def pieces():
        yield {"id": np.arange(5)}
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(PugnnError, match=r"cannot write .*t.parquet: No space left on device. Nothing was changed"):
        write_parquet(tmp_path / "t.parquet", pieces())
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]
    assert (tmp_path / "t.parquet").read_bytes() == before
