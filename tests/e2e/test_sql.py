"""Tables in databases on the command line."""

import sqlite3

import pandas as pd
import pytest

from e2e.own_tables import FIT, assert_refused, scores
from own_postgresql import PASSWORD


@pytest.fixture
def bank(here):
    """The tables in an SQLite database."""
    connection = sqlite3.connect("bank.db")
    for name in ("edges", "nodes", "positives"):
        pd.read_csv(f"{name}.csv").to_sql(name, connection, index=False)
    connection.commit()
    connection.close()


def named(place):
    """The arguments of `fit` with tables in a database."""
    return [f"{place}?select * from {word[:-4]}" if word.endswith(".csv") else word for word in FIT]


def test_the_same_scores_as_from_files(here, bank, pugnn_main):
    assert pugnn_main(*FIT, "--out", "files").code == 0
    assert pugnn_main(*named("sqlite:///bank.db")).code == 0
    assert scores(here / "runs/bank-1/scores.csv") == scores(here / "files/scores.csv")


def test_a_database_that_has_changed_since(here, bank, pugnn_main):
    assert pugnn_main(*named("sqlite:///bank.db"), "--out", "mine").code == 0
    connection = sqlite3.connect("bank.db")
    connection.execute("insert into edges values ('n0', 'n11')")
    connection.commit()
    connection.close()
    assert_refused(pugnn_main("evaluate", "mine"), ["the data have changed since mine was trained"])


def test_the_password_is_nowhere(here, postgresql_server, pugnn_main, monkeypatch):
    postgresql_server.execute(
        "create table bank_edges as select 'n' || i as source, 'n' || (i + 1) as target from generate_series(0, 10) i",
        "create table bank_positives as select 'n' || i as id from generate_series(0, 1) i",
    )
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    place = postgresql_server.address
    tables = ["--edges", f"{place}?bank_edges", "--positives", f"{place}?bank_positives"]
    fitted = pugnn_main("fit", *tables, "--epochs", 3, "--out", "mine")
    built = pugnn_main("build", *tables[:2], "--out", "store")
    assert (fitted.code, built.code) == (0, 0)
    written = [
        path.read_bytes() for folder in ("mine", "store") for path in (here / folder).rglob("*") if path.is_file()
    ]
    assert any(place.encode() in content for content in written)
    assert not any(PASSWORD.encode() in content for content in written)
    assert PASSWORD not in fitted.out + fitted.err + built.out + built.err


def test_a_password_in_the_address(here, pugnn_main):
    edges = f"postgresql://bank:{PASSWORD}@localhost/main?pays"
    refused = pugnn_main("fit", "--edges", edges, "--positives", "positives.csv", "--out", "mine")
    assert_refused(refused, ["PGPASSWORD"])
    assert PASSWORD not in refused.out + refused.err
    assert not list(here.rglob("mine*"))
