"""Files of all formats, as tables."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os

import duckdb
import pandas as pd
import pytest

from pugnn.errors import PugnnError
from pugnn.store import read_graph
from pugnn.store.tables import input_files as files
from pugnn.store.tables.access import open_tables
from pugnn.store.tables.column_names import SOURCE, TARGET
from pugnn.store.tables.database import connect
from pugnn.store.tables.input_files import Scratch

EDGES = "source,target\na,b\nb,c\n"
ROWS = [("a", "b"), ("b", "c")]


@pytest.fixture
def write(tmp_path):
    def write(name: str, content: str | bytes):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def read(tmp_path):
    """The rows, names and notes of a table of edges."""

    def read(path, **wanted):
        given = dict.fromkeys(("nodes", "positives", "truth")) | {"edges": path}
        columns = dict.fromkeys(("source", "target", "id", "weight")) | wanted
        with Scratch() as scratch:
            connection, tables = open_tables(given, columns, scratch)
            with connection:
                table = tables["edges"]
                return table.query("*"), table.names, table.notes

    return read


def zstd(folder, content: str) -> bytes:
    path = folder / "packed.zst"
    rows = [(line,) for line in content.splitlines()]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE lines (line VARCHAR)")
        connection.executemany("INSERT INTO lines VALUES (?)", rows)
        as_it_is = "FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01'"
        connection.execute(f"COPY lines TO '{path}' ({as_it_is}, COMPRESSION zstd)")
    return path.read_bytes()


JSON_LINES = '{"source": "a", "target": "b"}\n{"source": "b", "target": "c"}\n'


def test_csv(read, write):
    assert read(write("edges.csv", EDGES)) == (ROWS, ("source", "target"), [])


@pytest.mark.parametrize("name", ["edges.csv", "edges.tsv", "edges", "edges.parquet"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_seen(read, write, name, delimiter):
    assert read(write(name, EDGES.replace(",", delimiter)))[0] == ROWS


def test_a_delimiter_inside_cells(read, write):
    text = "source;target;note\na;b;x, y, z\nb;c;1,5\n"
    assert read(write("edges.csv", text))[0] == [("a", "b", "x, y, z"), ("b", "c", "1,5")]


@pytest.mark.parametrize("name", ["edges.csv.gz", "edges.csv", "edges.zip"])
def test_gzip(read, write, name):
    assert read(write(name, gzip.compress(EDGES.encode())))[0] == ROWS
    assert read(write(name, gzip.compress(JSON_LINES.encode())))[0] == ROWS


@pytest.mark.parametrize("name", ["edges.csv.zst", "edges"])
def test_zstd(read, write, tmp_path, name):
    assert read(write(name, zstd(tmp_path, EDGES)))[0] == ROWS
    assert read(write(name, zstd(tmp_path, JSON_LINES)))[0] == ROWS


@pytest.mark.parametrize("name", ["edges.jsonl", "edges.json", "edges.ndjson", "edges.csv"])
def test_json(read, write, name):
    assert read(write(name, JSON_LINES))[0] == ROWS
    assert read(write(name, json.dumps([json.loads(line) for line in JSON_LINES.splitlines()], indent=1)))[0] == ROWS


def test_text_in_json_stays_text(read, write):
    rows = [("2020-01-01", "6f1b1f9e-0000-4000-8000-000000000000"), ("12:30", "2020-01-01T00:00:00Z")]
    text = "\n".join(json.dumps({"source": u, "target": v}) for u, v in rows)
    assert read(write("edges.jsonl", text))[0] == rows


def test_parquet_and_its_types(read, tmp_path):
    frame = pd.DataFrame({"source": [1, 2], "target": [2, 3], "note": ["x", None]})
    frame.to_parquet(tmp_path / "edges.parquet")
    assert read(tmp_path / "edges.parquet") == ([(1, 2, "x"), (2, 3, None)], ("source", "target", "note"), [])
    os.rename(tmp_path / "edges.parquet", tmp_path / "edges.csv")
    rows, _, notes = read(tmp_path / "edges.csv")
    assert len(rows) == 2
    assert notes == [f"{tmp_path / 'edges.csv'}: is read as Parquet, which it is despite its name"]


def test_folders_of_a_path_are_no_columns(read, tmp_path):
    folder = tmp_path / "day=1"
    folder.mkdir()
    pd.DataFrame({"source": [1], "target": [2]}).to_parquet(folder / "edges.parquet")
    assert read(folder / "edges.parquet")[1] == ("source", "target")


def test_cells_are_text(read, write):
    rows = [("007", "7"), ("7.0", "1e3"), ("true", "NA"), ("null", "0x1F")]
    assert read(write("edges.csv", "source,target\n" + "\n".join(map(",".join, rows))))[0] == rows


# ---------------------------------------------------------------------- headers


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("source,target\n1,2\n", ("source", "target")),
        ("x,FROM\n1,2\n", ("x", "FROM")),
        ("payer,payee\nann,bob\n", ("payer", "payee")),
        ("1,2\n2,3\n", ("column 1", "column 2")),
        ("ann,bob\nbob,cleo\n", ("column 1", "column 2")),
        ("ann, bob\nbob,cleo\n", ("column 1", "column 2")),
        ("-1.5e3,x\ny,z\n", ("column 1", "column 2")),
        ("\n\nsource,target\na,b\n", ("source", "target")),
        (",source,target\n0,a,b\n", ("Unnamed: 0", "source", "target")),
        ("source,target,\na,b,\n", ("source", "target")),
    ],
)
def test_headers(read, write, text, names):
    rows, found, _ = read(write("edges.csv", text))
    assert found == names
    assert len(rows) == len([line for line in text.splitlines() if line]) - (names[:2] != ("column 1", "column 2"))


def test_a_name_that_the_user_gives_makes_a_header(read, write):
    path = write("edges.csv", "ann,bob\nbob,cleo\n")
    assert read(path, source="ann")[1] == ("ann", "bob")


# ---------------------------------------------------------------------- letters and lines


@pytest.mark.parametrize(
    ("encoding", "note"),
    [
        ("utf-8-sig", None),
        ("utf-16", "is written in UTF-16 and is read as such"),
        ("utf-16-be-bom", "is written in UTF-16 and is read as such"),
        ("latin-1", "is not UTF-8; it is read as Windows-1252 (Latin-1). Check that letters such as ü are right"),
        ("cp1252", "is not UTF-8; it is read as Windows-1252 (Latin-1). Check that letters such as ü are right"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_encodings(read, write, encoding, note, pack):
    text = "source,target\nZürich,Genève\n"
    content = b"\xfe\xff" + text.encode("utf-16-be") if encoding == "utf-16-be-bom" else text.encode(encoding)
    path = write("edges.csv", pack(content))
    assert read(path) == ([("Zürich", "Genève")], ("source", "target"), [f"{path}: {note}"] if note else [])


def test_a_letter_that_is_not_utf8_far_below(write):
    """Beyond what is looked at to see what a file is: DuckDB meets it, and a tidy copy takes the file's place."""
    a, b = "a" * 500, "b" * 500
    many = f"{a},{b}\n" * 5_000
    path = write("edges.csv", f"source,target\n{many}".encode() + f"Zürich,{b}\n".encode("latin-1"))
    data = read_graph(path)
    assert data.graph.ids.tolist() == [a, b, "Zürich"]
    assert any("Windows-1252" in note for note in data.notes)


@pytest.mark.parametrize(
    "text",
    [
        "source,target\r\na,b\r\nb,c\r\n",
        "source,target\ra,b\rb,c\r",
        "source,target\na,b\r\nb,c\n",
        "source,target\na,b\n   \nb,c\n\t\n",
        "source,target\na,b\n\n\nb,c",
        'source,target\n"a","b"\nb,"c"\n',
        "source,target\na,b,\nb,c,\n",
    ],
)
def test_forms_of_csv(write, text):
    data = read_graph(write("edges.csv", text))
    assert data.graph.ids.tolist() == ["a", "b", "c"]
    assert data.notes == ()


# ---------------------------------------------------------------------- many files, odd names


def test_patterns_in_alphabetical_order(read, write, tmp_path):
    write("parts/2.csv", "source,target\nb,c\n")
    write("parts/1.csv", "source,target\na,b\n")
    write("parts/10.txt", "not me")
    (tmp_path / "parts" / "deeper.csv").mkdir()
    assert read(tmp_path / "parts" / "*.csv")[0] == ROWS
    assert read(f"{tmp_path}/**/[12].csv")[0] == ROWS


def test_files_that_differ_in_form_alone(read, write, tmp_path):
    write("1.csv", "source;target\na;b\n")
    write("2.csv", gzip.compress(b"source,target\nb,c\n"))
    assert read(tmp_path / "?.csv")[0] == ROWS


def test_files_that_do_not_belong_together(read, write, tmp_path):
    write("1.csv", EDGES)
    write("2.csv", "target,source\nb,c\n")
    with pytest.raises(PugnnError, match=r"2.csv has the columns 'target', 'source', but .*1.csv has"):
        read(tmp_path / "?.csv")
    write("2.csv", JSON_LINES)
    with pytest.raises(PugnnError, match=r"1.csv and .*2.csv have different formats"):
        read(tmp_path / "?.csv")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_rows_are_found_in_the_right_file(tmp_path, suffix):
    for number, targets in enumerate((["b", "c"], ["d", "e", None])):
        frame = pd.DataFrame({"source": ["a"] * len(targets), "target": targets})
        path = tmp_path / f"{number}.{suffix}"
        if suffix == "csv":
            frame.to_csv(path, index=False)
        elif suffix == "parquet":
            frame.to_parquet(path)
        else:
            frame.to_json(path, orient="records", lines=True)
    with pytest.raises(PugnnError, match=rf"1.{suffix}, row {4 if suffix == 'csv' else 3}: the target is empty"):
        read_graph(tmp_path / f"*.{suffix}")


@pytest.mark.parametrize(
    "name", ["a'b.csv", 'a"b.csv', "a[1].csv", "a*.csv", "a?.csv", "a b;--.csv", "é.csv", "a\\b.csv"]
)
def test_odd_names(read, write, name):
    write("a1.csv", "source,target\nwrong,file\n")
    assert read(write(name, EDGES))[0] == ROWS


def test_home(read, write, tmp_path, monkeypatch):
    write("edges.csv", EDGES)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read("~/edges.csv")[0] == ROWS


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.csv", "cannot read .*nothing.csv: No such file or directory"),
        ("none-*.csv", "no file matches the pattern .*none-"),
        (".", r"is a folder; name a file in it, or all of them by a pattern in quotes: '.*\*'"),
    ],
)
def test_files_that_are_not_there(read, tmp_path, name, message):
    with pytest.raises(PugnnError, match=message):
        read(str(tmp_path / name))


@pytest.mark.parametrize(
    "address", ["https://example.com/edges.csv", "s3://bucket/edges.parquet", "file:///etc/passwd"]
)
def test_addresses_are_not_asked(read, address):
    with pytest.raises(PugnnError, match=f"cannot read {address}: only files on this machine are read"):
        read(address)
    with pytest.raises(PugnnError, match=f"cannot read {address}: "):  # passwords are not shown
        read(address.replace("://", "://ann:geheim@"))


def test_what_is_no_regular_file(read, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PugnnError, match="pipe is not a regular file"):
        read(tmp_path / "pipe")


@pytest.mark.parametrize("content", [b"", b"\n \n\t\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_empty_files(read, write, content):
    with pytest.raises(PugnnError, match=r"edges.csv is empty"):
        read(write("edges.csv", content))


# ---------------------------------------------------------------------- nothing else is read


def test_the_database_reads_nothing_else(write, tmp_path):
    secret = write("secret.csv", EDGES)
    mine = tmp_path / "mine"
    mine.mkdir()
    with connect([write("edges.csv", EDGES)], [mine]) as connection:
        assert len(connection.execute(f"SELECT * FROM read_csv('{tmp_path}/edges.csv')").fetchall()) == 2
        for attempt in (
            f"SELECT * FROM read_csv('{secret}')",
            f"SELECT * FROM read_text('{secret}')",
            f"SELECT * FROM '{secret}'",
            f"SELECT * FROM glob('{tmp_path}/*')",
            f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
            f"ATTACH '{tmp_path}/db'",
            "SELECT * FROM read_csv('https://example.com/x.csv')",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SELECT * FROM secret",  # the Python variable
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(attempt)


def test_sql_in_names_is_a_name(write, tmp_path):
    name = 'x"; DROP TABLE node_rows; --'
    quoted = '"' + name.replace('"', '""') + '"'
    nodes = write("no'des.csv", f'id,{quoted},"a\') FROM b; --"\na,1,3\nb,2,4\nc,5,9\n')
    data = read_graph(write("edges'; --.csv", EDGES), nodes)
    assert data.graph.feature_names == (name, "a') FROM b; --")
    pd.DataFrame({"id": ["a", "b", "c"], name: [1.0, 2.0, 5.0]}).to_parquet(tmp_path / "n.parquet")
    assert read_graph(write("e.csv", EDGES), tmp_path / "n.parquet").graph.feature_names == (name,)
    (tmp_path / "n.jsonl").write_text(
        "\n".join(json.dumps({"id": i, name: x}) for i, x in zip("abc", (1, 2, 5), strict=True))
    )
    assert read_graph(write("e.csv", EDGES), tmp_path / "n.jsonl").graph.feature_names == (name,)


def test_the_usual_names_do_not_overlap():
    assert not set(SOURCE) & set(TARGET)


# ---------------------------------------------------------------------- lists of edges as others publish them


@pytest.mark.parametrize("delimiter", ["\t", " "])
def test_comments_before_the_first_edge(read, write, delimiter):
    text = f"# Directed graph\n# FromNodeId\tToNodeId\n0{delimiter}1\n1{delimiter}2\n"
    rows, names, notes = read(write("edges.txt", text))
    assert rows == [("0", "1"), ("1", "2")]
    assert names == ("column 1", "column 2")
    assert any("2 comment lines skipped" in note for note in notes)


def test_ids_that_begin_like_a_comment(read, write):
    assert read(write("edges.csv", "#a,#b\n#b,c\nc,#a\n"))[0] == [("#a", "#b"), ("#b", "c"), ("c", "#a")]
    assert read(write("edges.csv", "#a #b\n#b c\n#c #a\n"))[0] == [("#a", "#b"), ("#b", "c"), ("#c", "#a")]


def test_rows_count_from_the_top_of_the_file(write):
    with pytest.raises(PugnnError, match=r"edges\.txt, row 4: the target is empty"):
        read_graph(write("edges.txt", "# a comment\n# another\n0\t1\n1\t\n"))


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_what_duckdb_cannot_unpack(read, write, pack):
    assert read(write("edges.csv", pack(EDGES.encode())))[0] == ROWS
    for cut in (20, 40):
        with pytest.raises(PugnnError, match=r"edges\.csv is damaged or cut short"):
            read(write("edges.csv", pack(EDGES.encode())[:cut]))


def test_zstd_that_was_cut_short(read, write, tmp_path):
    whole = zstd(tmp_path, "source,target\n" + "".join(f"x{i},y{i * 7919 % 100003}\n" for i in range(30_000)))
    for cut in range(100, len(whole), len(whole) // 7):
        with pytest.raises(PugnnError, match=r"edges\.csv\.zst is damaged or cut short"):
            read(write("edges.csv.zst", whole[:cut]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("%%MatrixMarket matrix coordinate pattern\n3 3 2\n1 2\n2 3\n", "is a Matrix Market file"),
        ('<?xml version="1.0"?>\n<graphml></graphml>\n', "is GraphML"),
        ("<!DOCTYPE html>\n<html>404</html>\n", "an HTML or XML page"),
        ('["a", "b"]', "is JSON, but not of objects"),
        ('{"source": "a", "source": "b", "target": "c"}\n', "row 1: 'source' occurs twice"),
        ('{"source": "a", "": 1}\n', "row 1: a column has an empty name"),
        (
            '{"source": "a", "target": "b", "x": ' + "[" * 20_000 + "]" * 20_000 + "}\n",
            "row 1: brackets are nested too deeply",
        ),
    ],
)
def test_other_formats_are_named(write, content, message):
    with pytest.raises(PugnnError, match=message):
        read_graph(write("edges.csv", content))


def test_a_line_without_an_end(write, monkeypatch):
    monkeypatch.setattr(files, "MAX_LINE_LENGTH", 1000)
    with pytest.raises(PugnnError, match=r"a line of over 1,000 characters"):
        read_graph(write("edges.csv", 'source,target\na,"' + "x" * 2000))


@pytest.mark.parametrize("content", ['source,target\r\n"a\r\nx",b\r\nb,c\r\n', 'source,target\n"a\rx",ü\nü,c\n'])
@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_line_ends_inside_the_first_row_of_a_copy(read, write, content, encoding):
    rows = read(write("edges.csv", content.encode(encoding)))[0]
    assert rows == [tuple(row) for row in csv.reader(io.StringIO(content, newline=""))][1:]


def test_no_name_and_names_with_a_zero_byte(read):
    with pytest.raises(PugnnError, match="the file name is empty"):
        read("")
    with pytest.raises(PugnnError, match="zero byte"):
        read("e\0.csv")
