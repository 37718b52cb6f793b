"""Names of tables in databases."""

import os

import pytest

from pugnn.errors import PugnnError
from pugnn.store.tables.column_names import SOURCE, TARGET
from pugnn.store.tables.input_files import matching
from pugnn.store.tables.sql_source import _EXAMPLE, sql_source

QUERY = "select a, b from pays"


@pytest.mark.parametrize(
    ("name", "kind", "place"),
    [
        ("sqlite:///bank.db", "sqlite", "bank.db"),
        ("sqlite:////data/bank.db", "sqlite", "/data/bank.db"),
        ("sqlite:///~/bank.db", "sqlite", os.path.expanduser("~/bank.db")),
        ("duckdb:///data/bank.duckdb", "duckdb", "data/bank.duckdb"),
        ("postgresql://bank@example.com:5433/main", "postgresql", "postgresql://bank@example.com:5433/main"),
        ("postgres:///main", "postgresql", "postgresql:///main"),
        ("postgresql://[::1]:5432/main", "postgresql", "postgresql://[::1]:5432/main"),
    ],
)
def test_the_database(name, kind, place):
    source = sql_source(f"{name}?{QUERY} where mail = 'a@b'")
    assert (source.kind, source.place) == (kind, place)


@pytest.mark.parametrize("name", ["bank.db", "data/part-?.csv", "mysql://bank/main?pays", "C:/bank.db?pays"])
def test_other_names(name):
    assert sql_source(name) is None


@pytest.mark.parametrize(
    ("sql", "query"),
    [
        (QUERY, QUERY),
        ("pays", "SELECT * FROM pays"),
        ('main."my pays"', 'SELECT * FROM main."my pays"'),
        (f"{QUERY} ; ", QUERY),
        (f"{QUERY}; -- done", QUERY),
        (f"/* who; pays */ {QUERY}", QUERY),
        ("with x as (select 1) select * from x", "with x as (select 1) select * from x"),
        ("(select 1) union (SELECT 2)", "(select 1) union (SELECT 2)"),
        ("select ';', \"--\" from pays where a = '?'", "select ';', \"--\" from pays where a = '?'"),
    ],
)
def test_the_query(sql, query):
    assert sql_source(f"sqlite:///bank.db?{sql}").query == query


@pytest.mark.parametrize(
    "sql",
    ["", " ", "delete from pays", f"{QUERY}; drop table pays", "pragma x", "my pays", "-- select", "selected from"],
)
@pytest.mark.parametrize("database", ["sqlite:///bank.db", "duckdb:///bank.db", "postgresql://bank@host/main"])
def test_statements_that_are_not_sent(database, sql):
    with pytest.raises(PugnnError, match=r"name of a table, or one statement that begins with select or with"):
        sql_source(f"{database}?{sql}")


@pytest.mark.parametrize("name", ["sqlite://bank.db", "duckdb://", "sqlite:///"])
def test_too_few_slashes(name):
    with pytest.raises(PugnnError, match="after three slashes"):
        sql_source(f"{name}?{QUERY}")


@pytest.mark.parametrize(
    "name",
    [
        "postgresql://bank:geheim@host/main?pays",
        "postgresql://bank:geheim@host:5432/main?pays",
        "postgres://:geheim@host/main?pays",
        "postgresql://bank:7@geheim@host/main?pays",
        "postgresql://bank:7/geheim@host/main?pays",
        "postgresql://bank:geheim?x@host/main?pays",
        "postgresql://bank:1234@host/main?pays",
        "postgresql://bank@host/main?password=geheim&sslmode=require",
        "postgresql://bank:7?geheim@host/main?pays",
    ],
)
def test_passwords_are_refused_and_not_shown(name):
    with pytest.raises(PugnnError, match=r"PGPASSWORD|PGSSLMODE") as refused:
        matching(name)  # before anything is opened
    assert "geheim" not in str(refused.value)
    assert "1234" not in str(refused.value)


def test_a_name_in_messages_is_one_line_of_moderate_length():
    source = sql_source("sqlite:///bank.db?select a,\n  b from pays where a in (" + "1, " * 1000 + "1)")
    assert source.shown.startswith("sqlite:///bank.db?select a, b from")
    assert len(source.shown) == 200


@pytest.mark.parametrize(("kind", "log"), [("sqlite", "bank.db-wal"), ("duckdb", "bank.db.wal")])
def test_files_whose_change_is_a_change_of_the_table(tmp_path, kind, log):
    name = f"{kind}:///{tmp_path}/bank.db"
    (tmp_path / log).touch()
    assert matching(f"{name}?pays") == [f"{tmp_path}/bank.db"]
    (tmp_path / log).write_bytes(b"what is not in the database yet")
    assert matching(f"{name}?pays") == [f"{tmp_path}/bank.db", f"{tmp_path}/{log}"]
    assert matching("postgresql://host/main?pays") == []


def test_the_example_names_columns_that_edges_may_have():
    ends = [name.split(" as ")[1].split()[0] for name in _EXAMPLE.split(",")]
    assert (ends[0] in SOURCE, ends[1] in TARGET) == (True, True)
