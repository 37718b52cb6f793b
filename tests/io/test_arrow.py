from contextlib import closing

import duckdb
import numpy as np
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
