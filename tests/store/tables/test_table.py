import duckdb
import numpy as np
import pytest

from pugnn.store.tables.table import Table, Unreadable, reject


@pytest.fixture
def table():
    """A table of DuckDB's, by its SQL."""
    with duckdb.connect() as connection:
        yield lambda sql: Table("t", connection, sql, ("x",), ("VARCHAR",), True, str, reject)


def test_pieces_are_in_order(table):
    numbers = table("range(10_000_000) AS t(i)")
    pieces = [column.to_numpy() for (column,) in numbers.pieces("i::DOUBLE")]
    assert len(pieces) > 1
    assert np.array_equal(np.concatenate(pieces), np.arange(10_000_000))


def test_nulls_in_pieces(table):
    ((texts, numbers),) = table("(VALUES ('a', 1.5::DOUBLE), (NULL, NULL), ('日本', 'nan')) AS t(c, d)").pieces(
        "c", "d"
    )
    assert texts.to_pylist() == ["a", None, "日本"]
    assert np.array_equal(numbers.to_numpy(), [1.5, np.nan, np.nan], equal_nan=True)


def test_no_rows(table):
    assert sum(len(texts) for (texts,) in table("(SELECT 'a' AS c WHERE false)").pieces("c")) == 0


def test_an_error_in_the_middle_names_the_table(table):
    cells = table("range(5_000_000) AS t(i)")
    with pytest.raises(Unreadable, match=r"^stop$") as caught:
        list(cells.pieces("CASE WHEN i = 4_000_000 THEN error('stop') ELSE 'x' END"))
    assert caught.value.table is cells


def test_the_connection_is_free_after_an_early_end(table):
    cells = table("range(10_000_000) AS t(i)")
    pieces = cells.pieces("i::VARCHAR")
    next(pieces)
    pieces.close()
    assert cells.query("count(*)") == [(10_000_000,)]
