"""Cases as a list and as files, with texts that are hostile to whoever opens them."""

import csv
import io
import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pugnn.explore.cases_export import KINDS, case_rows, export
from pugnn.files import is_formula
from rooms import HOSTILE, opened
from rooms import fit as fit_run


@pytest.fixture
def room(hostile_run):
    room = opened(hostile_run)
    for at, text in enumerate(HOSTILE):
        room.decide(30 + at, ("yes", "no", "skip", "note")[at % 4], text[:10_000], "list")
    return room


def test_the_list_of_cases(room):
    rows, total = case_rows(room, KINDS, "")
    assert total == len(rows) == len(HOSTILE)
    assert [row["node"] for row in rows] == [30 + at for at in reversed(range(len(HOSTILE)))]  # newest first
    assert all(row["who"] == "me" and row["at"] for row in rows)
    assert {row["status"] for row in case_rows(room, ["confirmed"], "")[0]} == {"confirmed"}
    assert case_rows(room, ["noted"], "")[1] == len(HOSTILE)
    assert case_rows(room, KINDS, "ALERT(1)")[1] == 2


def test_csv_runs_nothing(room):
    rows = list(csv.reader(io.StringIO(export(room, "csv").decode(), newline="")))
    assert rows[0] == ["id", "status", "verdict", "note", "at", "who", "rank", "score", "name", "city"]
    assert len(rows) == 1 + len(HOSTILE)
    cells = [cell for row in rows[1:] for cell in row]
    assert not any(is_formula(cell) and not cell.startswith("'") for cell in cells)
    assert {row[0].removeprefix("'") for row in rows[1:]} == set(HOSTILE)


def test_parquet_keeps_all_as_it_is(room):
    table = pq.read_table(pa.BufferReader(export(room, "parquet"))).to_pylist()
    assert [row["id"] for row in table] == HOSTILE[::-1]
    assert [row["note"] for row in table] == [text[:10_000] for text in HOSTILE[::-1]]


def test_the_case_file_is_one_page_without_scripts(room):
    page = export(room, "html").decode()
    assert "<script" not in page
    assert "<img" not in page
    assert "<h1>Cases of mine</h1>" in page
    assert page.count("</style>") == 1
    assert "{{" in page
    assert re.search(r"default-src &#39;none&#39;|default-src 'none'", page)
    assert "http://evil" in page
    assert "href" not in page
    assert "src=" not in page.replace("img src=x", "")


def test_the_case_file_is_easy_to_read(room):
    page = export(room, "html").decode()
    assert '<td class="short">confirmed</td>' in page
    assert re.search(r'<td class="short">\d{4}-\d\d-\d\d \d\d:\d\d UTC</td>', page)
    assert re.search(r'<td class="short">0\.\d\d\d</td>', page)
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page
    assert "\N{REPLACEMENT CHARACTER}gpj.exe" in page


def test_the_csv_is_a_table_of_checked_nodes(run, tmp_path):
    room = opened(run)
    for node, verdict in ((20, "yes"), (21, "no"), (22, "skip"), (23, "note")):
        room.decide(node, verdict, "a note", "list")
    (tmp_path / "cases.csv").write_bytes(export(room, "csv"))
    fit = ["--config", str(run / "run.json"), "--checked", str(tmp_path / "cases.csv")]
    record = json.loads((fit_run(tmp_path, fit, name="next") / "run.json").read_text())
    assert (record["labelled"], record["negative"]) == (11, 1)


def test_no_cases_are_a_file_too(run):
    room = opened(run)
    assert export(room, "csv").decode().count("\n") == 1
    assert pq.read_table(pa.BufferReader(export(room, "parquet"))).num_rows == 0
    assert "0 confirmed" in export(room, "html").decode()


def test_what_was_recorded_from_a_file_is_a_case(run, tmp_path):
    from pugnn.runs.audit_log import recording

    room = opened(run)
    with recording(room.run) as audit:
        audit.record({"n30": "yes"}, source="mine.csv")
    room.refresh()
    assert [(row["id"], row["status"]) for row in case_rows(room, KINDS, "")[0]] == [("n30", "confirmed")]
