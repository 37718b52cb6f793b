"""Broken tables: each gives the right result and says what was repaired, or one message and exit code 2.

A message names the file, the row as a person counts it (the header is row 1) and the value, and says what to do.
"""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from e2e.own_tables import (
    FIT,
    NODES,
    TABLES,
    append,
    assert_refused,
    cut,
    remove,
    replace,
    scores,
    snapshot,
    write,
)

EDGES, ATTRIBUTES, POSITIVES = "edges.csv", "nodes.csv", "positives.csv"


# ---------------------------------------------------------------------- ways to spoil a table


def both(*changes):
    def change(folder: Path) -> None:
        for each in changes:
            each(folder)

    return change


def everywhere(old: str, new: str):
    """Another id for a node, in all tables."""

    def change(folder: Path) -> None:
        for name in (EDGES, ATTRIBUTES, POSITIVES):
            lines = (folder / name).read_text().splitlines()
            cells = ([_quoted(new) if cell == old else cell for cell in line.split(",")] for line in lines)
            (folder / name).write_text("\n".join(map(",".join, cells)) + "\n")

    return change


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def recode(name: str, encoding: str):
    return lambda folder: (folder / name).write_bytes((folder / name).read_text().encode(encoding))


def swap(name: str, old: str, new: str):
    """All occurrences."""
    return lambda folder: (folder / name).write_bytes((folder / name).read_text().replace(old, new).encode())


def add_column(name: str, header: str, cells: list[str]):
    def change(folder: Path) -> None:
        lines = (folder / name).read_text().splitlines()
        pairs = zip(lines, [header, *cells], strict=True)
        (folder / name).write_text("".join(f"{line},{cell}\n" for line, cell in pairs))

    return change


def add_cells(name: str, header: str, cells: list[str]):
    """A column of a table with semicolons."""

    def change(folder: Path) -> None:
        lines = (folder / name).read_text().splitlines()
        pairs = zip(lines, [header, *cells], strict=True)
        (folder / name).write_text("".join(f"{line};{cell}\n" for line, cell in pairs))

    return change


def prepend(name: str, text: str):
    return lambda folder: (folder / name).write_text(text + (folder / name).read_text())


def drop_header(name: str):
    return lambda folder: (folder / name).write_text((folder / name).read_text().split("\n", 1)[1])


def as_parquet(name: str, target: str):
    def change(folder: Path) -> None:
        pd.read_csv(folder / name).to_parquet(folder / "table.parquet")
        os.replace(folder / "table.parquet", folder / target)

    return change


def compressed(name: str, pack):
    return lambda folder: (folder / name).write_bytes(pack((folder / name).read_bytes()))


def as_folder(name: str):
    def change(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    return change


def weights(cells: list[str]):
    return add_column(EDGES, "weight", cells)


ELEVEN = ["1.0"] * 11  # one per edge
TWELVE = [str(i % 3) for i in range(12)]  # one per node


# ---------------------------------------------------------------------- repaired: the scores are those of clean tables

SAME = {
    "byte order mark": (recode(ATTRIBUTES, "utf-8-sig"), []),
    "UTF-16": (recode(ATTRIBUTES, "utf-16"), ["nodes.csv", "UTF-16"]),
    "Windows line ends": (swap(EDGES, "\n", "\r\n"), []),
    "semicolons": (swap(ATTRIBUTES, ",", ";"), []),
    "tabs": (swap(ATTRIBUTES, ",", "\t"), []),
    "bars": (swap(EDGES, ",", "|"), []),
    "blank lines": (swap(EDGES, "n3,n4\n", "n3,n4\n\n\n"), []),
    "blank lines at the end": (append(ATTRIBUTES, "\n\n"), []),
    "no newline at the end": (cut(POSITIVES, -1), []),
    "quotes": (swap(POSITIVES, "n1", '"n1"'), []),
    "white space around ids": (swap(POSITIVES, "n1", "  n1 "), ["positives.csv", "white space"]),
    "white space around edge ends": (swap(EDGES, ",n1\n", ", n1\n"), ["edges.csv", "white space"]),
    "duplicate edge": (append(EDGES, "n0,n1\n"), ["edges.csv", "1", "duplicate"]),
    "edge in both directions": (append(EDGES, "n1,n0\n"), ["edges.csv", "1", "direction"]),
    "self loop": (append(EDGES, "n3,n3\n"), ["edges.csv", "1", "self loop"]),
    "a million duplicate edges": (append(EDGES, "n0,n1\n" * 1_000_000), ["edges.csv", "1,000,000", "duplicate"]),
    "duplicate positive": (append(POSITIVES, "n1\n"), ["positives.csv", "1", "repeated id"]),
    "identical node rows": (
        lambda folder: append(ATTRIBUTES, (folder / ATTRIBUTES).read_text().splitlines()[3] + "\n")(folder),
        ["nodes.csv", "1", "same"],
    ),
    "edges without a header": (drop_header(EDGES), ["edges.csv", "header"]),
    "positives without a header": (drop_header(POSITIVES), ["positives.csv", "header"]),
    "other names of columns": (replace(EDGES, "source,target", "from,to"), []),
    "names in capitals": (replace(EDGES, "source,target", "SOURCE,Target"), []),
    "one more column of edges": (add_column(EDGES, "since", ["2020"] * 11), ["edges.csv", "'since'"]),
    "Parquet named .csv": (as_parquet(ATTRIBUTES, ATTRIBUTES), ["nodes.csv", "Parquet"]),
    "gzip named .csv": (compressed(EDGES, gzip.compress), []),
    "weights that are all one": (weights(ELEVEN), []),
    "a column of edges that is empty": (add_column(EDGES, "note", [""] * 11), ["edges.csv", "'note'"]),
    "a constant attribute": (add_column(ATTRIBUTES, "country", ["CH"] * 12), ["nodes.csv", "'country'"]),
    "an attribute that is always missing": (add_column(ATTRIBUTES, "fax", [""] * 12), ["nodes.csv", "'fax'"]),
}


# ---------------------------------------------------------------------- accepted: another graph, and right

LONG = "x" * 1_000_000

ACCEPTED = {
    "HTML as an id": (everywhere("n5", "<img src=x onerror=alert(1)>"), [], {"<img src=x onerror=alert(1)>"}),
    "a formula as an id": (everywhere("n5", "=1+1"), ["formula", "scores.csv"], {"'=1+1"}),
    "a comma in an id": (everywhere("n5", "Bern, CH"), [], {"Bern, CH"}),
    "quotes in an id": (everywhere("n5", 'the "fifth"'), [], {'the "fifth"'}),
    "a newline in an id": (everywhere("n5", "two\nlines"), [], {"two\nlines"}),
    "an id of a million characters": (everywhere("n5", LONG), [], {LONG}),
    "an id that reads like markup": (everywhere("n5", "[red]"), [], {"[red]"}),
    "leading zeros": (
        both(everywhere("n5", "007"), everywhere("n6", "7")),
        ["leading zeros", "'007' and '7'"],
        {"007", "7"},
    ),
    "ids that differ by case": (
        both(everywhere("n5", "Anna"), everywhere("n6", "anna")),
        ["only in case", "'Anna'"],
        {"Anna", "anna"},
    ),
    "letters of other scripts": (everywhere("n5", "Zürich 東京"), [], {"Zürich 東京"}),
    "a missing number": (add_column(ATTRIBUTES, "age", ["", "NA", *map(str, range(10))]), [], set()),
    "a number that is NaN": (add_column(ATTRIBUTES, "age", ["nan", *map(str, range(11))]), [], set()),
    "a cell of a million characters": (add_column(ATTRIBUTES, "bio", [LONG, *["short text"] * 11]), [], set()),
    "columns called like ours": (
        both(*(add_column(ATTRIBUTES, name, TWELVE) for name in ("position", "score", "rank", "a_0"))),
        [],
        set(),
    ),
    "a column called like SQL": (add_column(ATTRIBUTES, '"; DROP TABLE nodes; --"', TWELVE), [], set()),
    "a node without an edge": (append(ATTRIBUTES, "hermit,1,2,3\n"), ["nodes.csv", "1 ", "no edge"], {"hermit"}),
    "a node without a row": (append(EDGES, "n3,stranger\n"), ["edges.csv", "1 ", "no row"], {"stranger"}),
    "Latin-1": (
        both(everywhere("n5", "Zürich"), recode(ATTRIBUTES, "latin-1"), recode(EDGES, "latin-1")),
        ["nodes.csv", "UTF-8"],
        {"Zürich"},
    ),
}


# ---------------------------------------------------------------------- refused: one message and exit code 2

REFUSED = {
    "unknown positive": (replace(POSITIVES, "n1", "n99"), ["positives.csv, row 3", "'n99'", "Correct"]),
    "positive in capitals": (replace(POSITIVES, "n1", "N1"), ["positives.csv, row 3", "'N1'", "'n1'"]),
    "no positives": (write(POSITIVES, "id\n"), ["positives.csv", "no positives", "at least one"]),
    "empty positives file": (write(POSITIVES, ""), ["positives.csv is empty"]),
    "all positive": (write(POSITIVES, "\n".join(["id", *NODES])), ["positives.csv names all 12 nodes"]),
    "empty id among positives": (write(POSITIVES, "id,why\nn0,a\n,b\n"), ["positives.csv, row 3", "empty"]),
    "no nodes": (write(ATTRIBUTES, "id,x,y,z\n"), ["nodes.csv", "no rows"]),
    "empty nodes file": (write(ATTRIBUTES, ""), ["nodes.csv is empty"]),
    "a file of blank lines": (write(ATTRIBUTES, "\n\n \n"), ["nodes.csv is empty"]),
    "no edges": (write(EDGES, "source,target\n"), ["edges.csv", "no rows"]),
    "empty edges file": (write(EDGES, ""), ["edges.csv is empty"]),
    "only self loops": (
        write(EDGES, "\n".join(["source,target", *(f"{node},{node}" for node in NODES)])),
        ["edges.csv", "only self loops"],
    ),
    "conflicting node rows": (append(ATTRIBUTES, "n3,9,9,9\n"), ["nodes.csv, row 14", "'n3'", "row 5"]),
    "ids that differ by white space": (append(ATTRIBUTES, " n3,9,9,9\n"), ["nodes.csv, row 14", "'n3'", "row 5"]),
    "empty node id": (append(ATTRIBUTES, ",1,2,3\n"), ["nodes.csv, row 14", "empty"]),
    "empty edge end": (append(EDGES, "n1,\n"), ["edges.csv, row 13", "empty"]),
    "infinite number": (replace(ATTRIBUTES, "n3,", "n3,inf,1,2\nm3,"), ["nodes.csv, row 5", "'x'", "inf"]),
    "too large a number": (add_column(ATTRIBUTES, "age", ["1e39", *TWELVE[1:]]), ["nodes.csv, row 2", "'age'", "1e39"]),
    "a word among numbers": (
        add_column(ATTRIBUTES, "age", [*map(str, range(11)), "old"]),
        ["nodes.csv, row 13", "'age'", "'old'", "--column"],
    ),
    "negative weight": (weights([*ELEVEN[:-1], "-1"]), ["edges.csv, row 12", "-1", "positive"]),
    "zero weight": (weights(["0", *ELEVEN[1:]]), ["edges.csv, row 2", "0", "positive"]),
    "weight that is NaN": (weights(["nan", *ELEVEN[1:]]), ["edges.csv, row 2", "nan"]),
    "infinite weight": (weights(["inf", *ELEVEN[1:]]), ["edges.csv, row 2", "inf"]),
    "missing weight": (weights(["", *ELEVEN[1:]]), ["edges.csv, row 2"]),
    "weight that is a word": (weights(["heavy", *ELEVEN[1:]]), ["edges.csv, row 2", "'heavy'"]),
    "row that is too long": (replace(ATTRIBUTES, "n3,", "n3,7,"), ["nodes.csv, row 5", "5", "4"]),
    "row that is too short": (replace(EDGES, "n3,n4", "n3"), ["edges.csv, row 5"]),
    "truncated file": (cut(ATTRIBUTES, -9), ["nodes.csv, row 13"]),
    "open quote": (replace(EDGES, "n3,n4", 'n3,"n4'), ["edges.csv"]),
    "zero bytes": (write(ATTRIBUTES, b"id,x\nn0,\x00\x00\n"), ["nodes.csv"]),
    "a picture": (write(EDGES, b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4), ["edges.csv"]),
    "missing edges file": (remove(EDGES), ["cannot read edges.csv: No such file"]),
    "missing nodes file": (remove(ATTRIBUTES), ["cannot read nodes.csv: No such file"]),
    "missing positives file": (remove(POSITIVES), ["cannot read positives.csv: No such file"]),
    "a folder": (as_folder(EDGES), ["edges.csv is a folder", "edges.csv/*"]),
    "truncated gzip": (compressed(EDGES, lambda content: gzip.compress(content)[:-9]), ["edges.csv"]),
    "truncated Parquet": (both(as_parquet(EDGES, EDGES), cut(EDGES, -20)), ["edges.csv"]),
    "no column for an end": (replace(EDGES, "target", "where"), ["edges.csv", "'source', 'where'", "--target"]),
    "two columns for an end": (
        both(replace(EDGES, "source", "from"), add_column(EDGES, "source", ["x"] * 11)),
        ["edges.csv", "'from'", "'source'", "--source"],
    ),
    "no column of ids": (replace(ATTRIBUTES, "id", "key"), ["nodes.csv", "'key'", "--id"]),
    "one column of edges": (write(EDGES, "source\nn0\n"), ["edges.csv", "'source'"]),
    "two columns of the same name": (replace(ATTRIBUTES, "x,y", "x,x"), ["nodes.csv", "'x'"]),
    "vectors of different lengths": (
        add_column(ATTRIBUTES, "v", ['"[1,2]"'] * 11 + ['"[1,2,3]"']),
        ["nodes.csv, row 13", "'v'"],
    ),
    "NaN in a vector": (add_column(ATTRIBUTES, "v", ['"[1,2]"'] * 11 + ['"[1,nan]"']), ["nodes.csv, row 13", "'v'"]),
    "a word in a vector": (add_column(ATTRIBUTES, "v", ['"[1,2]"'] * 11 + ['"[1,two]"']), ["nodes.csv, row 13", "'v'"]),
    "a decimal comma": (
        both(swap(ATTRIBUTES, ",", ";"), add_cells(ATTRIBUTES, "balance", [f"{i},5" for i in range(12)])),
        ["nodes.csv, row 2, column 'balance'", "'0,5'", "1234.5", "--column"],
    ),
    "thousands with commas": (
        both(swap(ATTRIBUTES, ",", ";"), add_cells(ATTRIBUTES, "balance", [f"{i + 1},250.75" for i in range(12)])),
        ["nodes.csv, row 2, column 'balance'", "'1,250.75'", "1234.5"],
    ),
    "a currency": (
        add_column(ATTRIBUTES, "balance", [f"€ {i}" for i in range(12)]),
        ["nodes.csv, row 2, column 'balance'", "'€ 0'", "1234.5"],
    ),
    "the day before the month": (
        add_column(ATTRIBUTES, "signed up", [f"{i + 1}.12.2024" for i in range(12)]),
        ["nodes.csv, row 2, column 'signed up'", "'1.12.2024'", "2024-12-31"],
    ),
    "Excel's first line": (
        both(swap(ATTRIBUTES, ",", ";"), prepend(ATTRIBUTES, "sep=;\n")),
        ["nodes.csv, row 1", "'sep=;'", "Remove"],
    ),
    "an Excel workbook": (write(ATTRIBUTES, b"PK\x03\x04" + bytes(60)), ["nodes.csv is an Excel workbook", "CSV"]),
    "no id in common": (swap(EDGES, "n", "N-"), ["edges.csv and nodes.csv have no id in common", "'N-0'", "'n0'"]),
    "bytes that are no text": (write(POSITIVES, b"id\nn0\n\x81\xff\xfe\n"), ["positives.csv"]),
}


def assert_accepted(result, fragments):
    assert result.code == 0, result.err
    assert "Traceback" not in result.err
    said = [line for line in result.err.splitlines() if line]
    assert all(line.startswith(("note: ", "warning: ")) for line in said), result.err
    for fragment in fragments:
        assert fragment in result.err
    if not fragments:
        assert not [line for line in said if line.startswith("note: ")], "nothing was repaired, so nothing is said"


@pytest.mark.parametrize("case", SAME)
def test_repaired_tables_give_the_scores_of_clean_ones(here, pugnn_main, run_folder, case):
    change, fragments = SAME[case]
    change(here)
    result = pugnn_main(*FIT, "--out", "mine")
    assert_accepted(result, fragments)
    assert scores(here / "mine" / "scores.csv") == scores(run_folder / "scores.csv")
    notes = json.loads((here / "mine" / "run.json").read_text())["notes"]
    assert [f"note: {note}" for note in notes] == [line for line in result.err.splitlines() if line.startswith("note:")]


@pytest.mark.parametrize("case", ACCEPTED)
def test_odd_tables_are_read_as_they_are(here, pugnn_main, case):
    change, fragments, ids = ACCEPTED[case]
    change(here)
    result = pugnn_main(*FIT, "--out", "mine")
    assert_accepted(result, fragments)
    found = scores(here / "mine" / "scores.csv")
    assert ids <= set(found)
    assert len(found) == 12 + (case in ("a node without an edge", "a node without a row"))
    assert all(np.isfinite(float(score)) for score in found.values())


@pytest.mark.parametrize("command", ["fit", "check"])
@pytest.mark.parametrize("case", REFUSED)
def test_broken_tables_are_refused(here, pugnn_main, command, case):
    change, fragments = REFUSED[case]
    change(here)
    before = snapshot(here)
    assert_refused(pugnn_main(command, *TABLES, "--positives", "positives.csv"), fragments)
    assert snapshot(here) == before


def test_there_are_enough_of_them():
    assert len({*SAME, *ACCEPTED, *REFUSED}) >= 60
