"""Tables in databases give what the same rows in other tables give."""

import os
import socket
import sqlite3
import sys
from datetime import date

import duckdb
import numpy as np
import pandas as pd
import pytest

from own_postgresql import PASSWORD
from pugnn.errors import PugnnError
from pugnn.store import build_store, open_store, read_graph
from pugnn.store.tables import sql_copy
from pugnn.store.tables.access import open_tables
from pugnn.store.tables.input_files import Scratch
from standard_error import replaced_stderr

EDGES = pd.DataFrame({"source": [1, 2, 3, 4, 5], "target": [2, 3, 4, 5, 1], "weight": [1.0, 2.5, 1.0, 0.5, 3.0]})
NODES = pd.DataFrame(
    {
        "id": [5, 4, 3, 2, 1],
        "income": [10.5, None, 30.0, 7.25, 8.0],
        "town": ["Bern", "Bern", None, "Chur", "Chur"],
        "since": ["2020-01-01", "2021-02-03", "2020-01-01", None, "2022-12-31"],
    }
)
POSITIVES = pd.DataFrame({"id": [1, 2]})
TABLES = {"edges": EDGES, "nodes": NODES, "positives": POSITIVES}


@pytest.fixture(scope="module")
def filled(postgresql_server):
    """A server with the tables above."""
    postgresql_server.execute(
        "create table edges (source bigint, target bigint, weight double precision)",
        "create table nodes (id bigint, income double precision, town text, since date)",
        "create table positives (id bigint)",
        *(f"insert into {name} values {_rows(frame)}" for name, frame in TABLES.items()),
    )
    yield postgresql_server
    postgresql_server.execute("drop table edges, nodes, positives")


@pytest.fixture
def postgresql(filled, monkeypatch):
    """The same, with its password in the environment."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    return filled


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def database(request, tmp_path):
    """What precedes the query in the name of a table; there are the tables above."""
    path = tmp_path / "bank.db"
    if request.param == "postgresql":
        return request.getfixturevalue("postgresql").address
    if request.param == "sqlite":
        write_sqlite(path, **TABLES)
    else:
        with duckdb.connect(str(path)) as connection:
            for name, frame in TABLES.items():
                connection.register("frame", frame)
                connection.execute(f"create table {name} as select * from frame")
            connection.execute("alter table nodes alter since type date")
    return f"{request.param}:///{path}"


def write_sqlite(path, **tables):
    connection = sqlite3.connect(path)
    for name, frame in tables.items():
        frame.to_sql(name, connection, index=False)
    connection.commit()
    connection.close()


def _rows(frame):
    cells = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    return ", ".join(f"({', '.join('null' if cell is None else repr(cell) for cell in row)})" for row in cells)


def read(name):
    """The rows, names, types and notes of a table."""
    with Scratch() as scratch:
        connection, tables = open_tables({"nodes": name}, {}, scratch)
        with connection:
            table = tables["nodes"]
            return table.query("*"), table.names, table.types, table.notes


# ---------------------------------------------------------------------- the same as elsewhere


def test_a_graph(database):
    names = {role: f"{database}?{role}" for role in TABLES}
    found = read_graph(**names)
    nodes = NODES.assign(since=pd.to_datetime(NODES["since"]).dt.date)
    expected = read_graph(EDGES, nodes, positives=POSITIVES)
    assert found.graph.ids.dtype == np.int64
    assert found.graph.digests == expected.graph.digests
    assert found.task.digests == expected.task.digests
    assert found.graph.feature_names == expected.graph.feature_names
    assert [note.rpartition(": ")[2] for note in found.notes] == [note.rpartition(": ")[2] for note in expected.notes]


def test_attributes_and_truth(database):
    long = f"{database}?select id, town as attribute, income as value from nodes where town is not null and income > 0"
    graph = read_graph(EDGES, attributes=long, positives=[1], truth=f"{database}?positives")
    assert graph.truth.tolist() == [0, 1]
    assert set(graph.graph.feature_names) >= {"Bern", "Chur"}


def test_a_store(database, tmp_path):
    manifest = build_store(tmp_path / "store", f"{database}?select * from edges order by source", f"{database}?nodes")
    assert open_store(tmp_path / "store").num_edges == 5
    files = [each["file"] for each in manifest.built_from]
    assert set(files) == (set() if "postgresql" in database else {str(tmp_path / "bank.db")})


def test_order_and_names_of_a_query(database):
    rows, names, *_ = read(
        f'{database}?select source as "Who", source + target as both from edges order by target desc'
    )
    assert rows == [(4, 9), (3, 7), (2, 5), (1, 3), (5, 6)]
    assert names == ("Who", "both")


def test_rows_are_collected(database, monkeypatch):
    monkeypatch.setattr(sql_copy, "_ROWS", 2)
    assert len(read(f"{database}?edges")[0]) == 5
    monkeypatch.setattr(sql_copy, "_ROWS", 100)
    monkeypatch.setattr(sql_copy, "_BYTES", 1)
    assert len(read(f"{database}?edges")[0]) == 5


def test_a_long_copy_says_how_many_rows_there_are(database, monkeypatch):
    stream, collected = replaced_stderr(monkeypatch), sql_copy._collected

    def slowly(batches):
        for batch in collected(batches):
            stream.wait_for("select * from edges: 5 rows")
            yield batch

    monkeypatch.setattr(sql_copy, "_collected", slowly)
    read(f"{database}?select * from edges")
    assert f"copying {database}?select * from edges: 5 rows" in stream.getvalue()


# ---------------------------------------------------------------------- bad input, in any database


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("payments", "payments"),
        ("select amount from edges", "amount"),
        ("select source, from edges where", "syntax error"),
        ("select 1 as a, 2 as a", "has several columns named 'a'"),
        ('select 1 as ""', "empty name|zero-length"),
        ("select source, target from edges where source > 9", "has no rows"),
        ("select source from edges", "has no column 'target'"),
        ("select source, null as target from edges", "row 1: the target is empty"),
    ],
)
def test_what_is_wrong_with_a_query(database, sql, words):
    with pytest.raises(PugnnError, match=words) as refused:
        read_graph(f"{database}?{sql}")
    assert f"{database}?{sql}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_nothing_is_written(database, tmp_path):
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(PugnnError):
        read(f"{database}?with gone as (delete from edges returning source) select * from gone")
    assert len(read(f"{database}?edges")[0]) == 5
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_driver_that_is_not_installed(kind, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, f"adbc_driver_{kind}.dbapi", None)
    write_sqlite(tmp_path / "bank.db", **TABLES)
    place = f"sqlite:///{tmp_path}/bank.db" if kind == "sqlite" else "postgresql://bank@localhost/main"
    with pytest.raises(PugnnError, match=r"pip install 'pugnn\[sql\]'"):
        read(f"{place}?edges")


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_files_that_are_no_such_database(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = "duckdb" if kind == "sqlite" else "sqlite"
    with pytest.raises(PugnnError, match=r"cannot read none.db: No such file"):
        read(f"{kind}:///none.db?edges")
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    with pytest.raises(PugnnError, match=r"is not an? .* database; give other files by their name"):
        read(f"{kind}:///edges.csv?edges")
    with pytest.raises(PugnnError, match="is not a regular file"):
        read(f"{kind}:////{tmp_path}?edges")
    write_sqlite(tmp_path / "sqlite.db", **TABLES)
    duckdb.connect("duckdb.db").close()
    with pytest.raises(PugnnError, match=f"write {other}:///"):
        read(f"{kind}:///{other}.db?edges")
    with pytest.raises(PugnnError, match=f"name a table in it, or a query: '{kind}:///{kind}.db"):
        read(f"{kind}.db")


def test_an_absolute_path_with_three_slashes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_sqlite(tmp_path / "bank.db", **TABLES)
    with pytest.raises(PugnnError, match=f"four slashes: sqlite:///{tmp_path}/bank.db"):
        read(f"sqlite://{tmp_path}/bank.db?edges")


@pytest.mark.parametrize("name", ["a b%20#.db", "größe.db", "[1]*.db"])
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_odd_names_of_files(kind, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if kind == "sqlite":
        write_sqlite(tmp_path / name, **TABLES)
    else:
        with duckdb.connect(name) as connection:
            connection.execute("create table edges as select 1 as source, 2 as target")
    assert read(f"{kind}:///{name}?edges")[1][:2] == ("source", "target")


def test_a_damaged_file(tmp_path):
    write_sqlite(tmp_path / "bank.db", edges=pd.concat([EDGES] * 1000))
    whole = (tmp_path / "bank.db").read_bytes()
    (tmp_path / "bank.db").write_bytes(whole[:8192] + b"\xff" * 4096 + whole[12288:])
    with pytest.raises(PugnnError, match="malformed"):
        read(f"sqlite:///{tmp_path}/bank.db?edges")


def test_a_duckdb_file_that_is_being_written_to(tmp_path):
    with duckdb.connect(str(tmp_path / "bank.db")) as connection:
        connection.execute("create table edges as select 1 as source, 2 as target")
        with pytest.raises(PugnnError, match=r"cannot open .*bank.db: .* Close it in programs that write to it"):
            read(f"duckdb:///{tmp_path}/bank.db?edges")


def test_duckdb_reads_no_other_file(tmp_path):
    duckdb.connect(str(tmp_path / "bank.db")).close()
    with pytest.raises(PugnnError, match="disabled by configuration"):
        read(f"duckdb:///{tmp_path}/bank.db?select * from read_text('/etc/hostname')")


# ---------------------------------------------------------------------- SQLite, where every cell has its own type


@pytest.mark.parametrize(
    ("cells", "kind", "expected"),
    [
        ([1, None, 2**60 + 1], "BIGINT", [1, None, 2**60 + 1]),
        ([1, 2.5, ""], "DOUBLE", [1.0, 2.5, None]),
        ([None, None, 2.5], "DOUBLE", [None, None, 2.5]),
        ([None, None, "a"], "VARCHAR", [None, None, "a"]),
        ([None, None, None], "BIGINT", [None, None, None]),
        ([1, 2, "n/a"], "VARCHAR", ["1", "2", "n/a"]),
        ([2.5, "n/a", 7], "VARCHAR", ["2.5", "n/a", "7"]),
        ([b"ab", b"c", None], "VARCHAR", ["ab", "c", None]),
        ([b"ab", 7, None], "VARCHAR", ["ab", "7", None]),
    ],
)
def test_types_of_sqlite(tmp_path, monkeypatch, cells, kind, expected):
    monkeypatch.setattr(sql_copy, "_ROWS", 1)  # so that ADBC sees the first row alone
    connection = sqlite3.connect(tmp_path / "bank.db")
    connection.execute("create table cells (id integer, x)")
    connection.executemany("insert into cells values (?, ?)", enumerate(cells))
    connection.commit()
    connection.close()
    rows, _, types, notes = read(f"sqlite:///{tmp_path}/bank.db?cells")
    assert (types[1], [x for _, x in rows]) == (kind, expected)
    present = {int if isinstance(cell, float) else type(cell) for cell in cells if cell not in (None, "")}
    assert len(notes) == (len(present) > 1)
    assert all("column 'x' holds values of several types; it is read as text" in note for note in notes)


def test_many_columns_of_sqlite(tmp_path):
    frame = pd.DataFrame({"id": [1, 2], **{f"x:{at}": [at, at + 0.5] for at in range(1200)}})
    connection = sqlite3.connect(tmp_path / "bank.db")
    columns = ", ".join(f"[{name}]" for name in frame.columns)
    connection.execute(f"create table nodes ({columns})")
    connection.executemany(
        f"insert into nodes values ({', '.join('?' * len(frame.columns))})", frame.to_numpy().tolist()
    )
    connection.commit()
    connection.close()
    rows, names, *_ = read(f"sqlite:///{tmp_path}/bank.db?nodes")
    assert names == tuple(frame.columns)
    assert rows == [tuple(row) for row in frame.to_numpy().tolist()]


def test_what_sqlite_has_not_yet_moved_from_its_log(tmp_path):
    connection = sqlite3.connect(tmp_path / "bank.db")
    connection.execute("pragma journal_mode=wal")
    connection.execute("create table edges as select 1 as source, 2 as target")
    connection.commit()
    assert read(f"sqlite:///{tmp_path}/bank.db?edges")[0] == [(1, 2)]
    connection.close()


# ---------------------------------------------------------------------- PostgreSQL


def test_types_of_postgresql(postgresql):
    cells = {
        "1::smallint": ("SMALLINT", 1),
        "12345678901234567::numeric(18)": ("BIGINT", 12345678901234567),
        "2.25::numeric": ("DOUBLE", 2.25),
        "2.25::numeric(9, 2)": ("DOUBLE", 2.25),
        "true": ("BOOLEAN", True),
        "'x'::varchar(3)": ("VARCHAR", "x"),
        "date '2020-01-02'": ("DATE", date(2020, 1, 2)),
        "array[1, 2]": ("INTEGER[]", [1, 2]),
        "'{}'::jsonb": ("JSON", "{}"),
    }
    columns = ", ".join(f"{sql} as c{at}" for at, sql in enumerate(cells))
    rows, _, types, _ = read(f"{postgresql.address}?select {columns}")
    assert dict(zip(cells, zip(types, rows[0], strict=True), strict=True)) == cells


@pytest.mark.parametrize(
    ("cell", "kind"),
    [("'10.0.0.1'::inet", "inet"), ("1::money", "money"), ("'1 day'::interval", "interval"), ("array[1.5]", "numeric")],
)
def test_types_that_cannot_be_read(postgresql, cell, kind):
    with pytest.raises(PugnnError, match=f"column 'x' is of the type {kind}, which cannot be read. Leave it out, or"):
        read(f"{postgresql.address}?select {cell} as x")


def test_dates_with_time_zones(postgresql):
    nodes = "select id, now() - id * interval '1 day' as since from nodes"
    assert "since" in read_graph(EDGES, f"{postgresql.address}?{nodes}").graph.feature_names


def test_servers_that_do_not_answer(postgresql, monkeypatch):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        address = f"postgresql://bank@127.0.0.1:{nobody.getsockname()[1]}/main"
        with pytest.raises(PugnnError, match=f"cannot connect to {address}: .*refused. Check the address"):
            read(f"{address}?edges")
    with pytest.raises(PugnnError, match='database "none" does not exist'):
        read(f"{postgresql.address.removesuffix('postgres')}none?edges")
    monkeypatch.setenv("PGPASSWORD", "geheim")
    with pytest.raises(PugnnError, match=r"password authentication failed for user .*PGPASSWORD") as refused:
        read(f"{postgresql.address}?edges")
    assert "geheim" not in str(refused.value)
    monkeypatch.delenv("PGPASSWORD")
    with pytest.raises(PugnnError, match=r"no password supplied.* PGPASSWORD or ~/.pgpass"):
        read(f"{postgresql.address}?edges")


def test_a_server_that_goes_away(postgresql, monkeypatch):
    leave = "case when i = 500000 then pg_terminate_backend(pg_backend_pid()) end"
    query = f"select i as source, {leave} as target from generate_series(1, 1000000) as i"
    with pytest.raises(PugnnError, match=r"after [\d,]+ rows?: .*(terminating|closed).*try again"):
        read(f"{postgresql.address}?{query}")


def test_a_query_that_fails_on_the_way(postgresql):
    with pytest.raises(PugnnError, match=r"after [\d,]+ rows?: division by zero"):
        read(f"{postgresql.address}?select 1 / (500000 - i) as x from generate_series(1, 1000000) as i")


def test_no_room_for_a_copy(database, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(sql_copy.pq.ParquetWriter, "write_table", full)
    with pytest.raises(PugnnError, match=r"cannot write a temporary copy .* No space left on device. Free some space"):
        read(f"{database}?edges")
