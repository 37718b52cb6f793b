from contextlib import closing

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from pugnn.io.arrow import Batches, StreamError, Texts


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        yield connection


def texts(column: Texts) -> list[str]:
    letters = column.letters.tobytes()
    return [letters[a:b].decode() for a, b in zip(column.offsets, column.offsets[1:], strict=False)]


def test_columns_of_text_and_numbers(connection):
    rows = "('a', 1.5::DOUBLE, 'ü'), (NULL, NULL, ''), ('日本', 'nan', NULL)"
    with closing(Batches(connection.sql(f"SELECT * FROM (VALUES {rows})"))) as stream:
        found = iter(stream)
        columns, numbers = next(found)
        assert [texts(column) for column in columns] == [["a", "", "日本"], ["ü", "", ""]]
        assert np.array_equal(numbers[0], [1.5, np.nan, np.nan], equal_nan=True)


def test_no_rows(connection):
    with closing(Batches(connection.sql("SELECT 'a' WHERE false"))) as stream:
        assert list(stream) == []


def test_many_batches_in_order(connection):
    relation = connection.sql("SELECT i::VARCHAR, i::DOUBLE FROM range(500_000) AS t(i)")
    seen, count = 0, 0
    with closing(Batches(relation)) as stream:
        for (column,), (numbers,) in stream:
            assert texts(column)[:3] == [str(seen + i) for i in range(3)]
            assert np.array_equal(numbers, np.arange(seen, seen + len(column)))
            seen += len(column)
            count += 1
    assert seen == 500_000
    assert count > 1


def test_stopping_early_leaves_the_connection_free(connection):
    with closing(Batches(connection.sql("SELECT i::VARCHAR FROM range(1_000_000) AS t(i)"))) as stream:
        next(iter(stream))
    assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_an_error_in_the_middle(connection):
    relation = connection.sql(
        "SELECT CASE WHEN i = 400_000 THEN error('stop') ELSE 'x' END FROM range(500_000) AS t(i)"
    )
    with pytest.raises((StreamError, duckdb.Error), match="stop"), closing(Batches(relation)) as stream:
        list(stream)


def only_batch(*columns: pa.Array, offset: int = 0, length: int | None = None):
    """What is read from a stream of one batch, the slice of a table."""
    batch = pa.record_batch(list(columns), names=[f"c_{at}" for at in range(len(columns))]).slice(offset, length)
    with closing(Batches(pa.RecordBatchReader.from_batches(batch.schema, [batch]))) as stream:
        ((found, numbers),) = stream
    return [texts(column) for column in found], numbers


def test_slices_with_nulls():
    words, numbers = pa.array(["a", None, "日本", "d", None, "ü"]), pa.array([0.5, None, 2.5, 3.5, None, 5.5])
    (found,), (values,) = only_batch(words, numbers, offset=1, length=4)
    assert found == ["", "日本", "d", ""]
    assert np.array_equal(values, [np.nan, 2.5, 3.5, np.nan], equal_nan=True)
    assert only_batch(words, offset=6)[0] == [[]]


def test_letters_behind_a_null_are_left_out():
    whole = pa.array(["a", "hidden", "ü"])
    hidden = pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(b"\x05"), *whole.buffers()[1:]])
    assert only_batch(hidden)[0] == [["a", "", "ü"]]
    assert only_batch(hidden, offset=1)[0] == [["", "ü"]]


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.string_view(), pa.int32(), pa.dictionary(pa.int8(), pa.string())]
)
def test_other_types_are_refused(kind):
    with pytest.raises(StreamError, match=r"cannot use a column of Arrow type \w+; only string and double"):
        only_batch(pa.array([None], kind))


def test_arrays_outlive_their_stream(connection):
    with closing(Batches(connection.sql("SELECT i::VARCHAR, i::DOUBLE FROM range(1000) AS t(i)"))) as stream:
        (((column,), (numbers,)),) = stream
    del stream
    connection.execute("SELECT count(*) FROM range(1_000_000)")
    assert texts(column) == [str(i) for i in range(1000)]
    assert numbers.tolist() == list(range(1000))
