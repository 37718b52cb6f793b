"""`--show`: columns of the node table beside the results, as they are there."""

import csv
import json

import pytest
from typer.testing import CliRunner

from e2e.own_tables import FIT, NODES, TABLES, assert_refused, snapshot, table
from pugnn.cli import app

NAMES = {node: f"Name, of <i>{node}</i>" for node in NODES} | {"n3": "=1+1", "n4": ""}


@pytest.fixture
def named(here):
    """The tables, with two columns that are not numbers."""
    rows = table(here / "nodes.csv")
    with (here / "nodes.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "name", "member"])
        writer.writeheader()
        for at, row in enumerate(rows):
            writer.writerow({**row, "name": NAMES[row["id"]], "member": "007" if at % 2 else "true"})
    return here


def test_columns_are_shown_as_they_are_in_files_terminal_report_and_explanations(pugnn_main, named):
    result = pugnn_main(*FIT, "--show", "name, member", "--out", "mine")
    assert result.code == 0
    assert "Name, of <i>n5</i>" in result.out
    rows = {row["id"]: row for row in table(named / "mine/scores.csv")}
    assert rows["n5"]["name"] == "Name, of <i>n5</i>"
    assert rows["n3"]["name"] == "'=1+1", "nothing that a spreadsheet runs"
    assert rows["n4"]["name"] == ""
    assert {row["member"] for row in rows.values()} == {"007", "true"}
    page = (named / "mine/report.html").read_text()
    assert "Name, of \\u003ci>n5\\u003c/i>" in page
    assert "<i>n5</i>" not in page
    record = json.loads((named / "mine/run.json").read_text())
    assert record["options"]["show"] == ["name, member"]
    assert {each["id"]: each["shown"]["name"] for each in record["explanations"]}["n5"] == "Name, of <i>n5</i>"
    (one,) = json.loads(pugnn_main("explain", "mine", "n5", "--json").out)
    assert one["shown"] == {"name": "Name, of <i>n5</i>", "member": rows["n5"]["member"]}
    assert "name: Name, of <i>n5</i>" in pugnn_main("explain", "mine", "n5").out


def test_the_option_can_be_repeated(pugnn_main, named):
    assert pugnn_main(*FIT, "--show", "member", "--show", "name", "--out", "mine").code == 0
    rows = {row["id"]: row for row in table(named / "mine/scores.csv")}
    assert (rows["n5"]["member"], rows["n5"]["name"]) == ("007", "Name, of <i>n5</i>")
    file = named / "mine/run.json"
    record = json.loads(file.read_text())
    record["options"]["show"] = "member,name"  # as earlier versions wrote it
    file.write_text(json.dumps(record))
    (one,) = json.loads(pugnn_main("explain", "mine", "n5", "--json").out)
    assert list(one["shown"]) == ["member", "name"]


def test_a_new_snapshot_can_be_scored_with_columns_shown(pugnn_main, named):
    assert pugnn_main(*FIT, "--out", "mine").code == 0
    assert pugnn_main("predict", "mine", *TABLES, "--show", "NAME", "--out", "new.parquet").code == 0
    assert pugnn_main("predict", "mine", *TABLES, "--show", "name", "--out", "new.csv").code == 0
    assert {row["id"]: row["name"] for row in table(named / "new.csv")}["n7"] == NAMES["n7"]
    import pyarrow.parquet as pq

    written = pq.read_table(named / "new.parquet").to_pydict()
    assert dict(zip(written["id"], written["name"], strict=True)) == NAMES


def test_a_column_that_has_the_name_of_another_one_is_shown_beside_it(pugnn_main, named):
    text = (named / "nodes.csv").read_text().replace("member", "score", 1)
    (named / "nodes.csv").write_text(text)
    assert pugnn_main(*FIT, "--show", "score", "--out", "mine").code == 0
    row = table(named / "mine/scores.csv")[0]
    assert 0 < float(row["score"]) < 1
    assert row["score (shown)"] in ("007", "true")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [*FIT, "--show", "family"],
            "nodes.csv has no column 'family' (--show); its columns are 'id', 'x', 'y', 'z', 'name'",
        ),
        (
            ["fit", "--edges", "edges.csv", "--positives", "positives.csv", "--show", "x"],
            "there are no columns to show",
        ),
        (["fit", "--dataset", "cora", "--show", "x"], "--show cannot be used with --dataset"),
    ],
)
def test_columns_that_are_not_there_are_named(pugnn_main, named, arguments, message):
    before = snapshot(named)
    assert_refused(pugnn_main(*arguments, "--out", "mine"), [message])
    assert snapshot(named) == before


def test_only_commands_that_show_something_have_the_option():
    for command, has in (("fit", True), ("predict", True), ("check", False), ("export", False)):
        assert ("--show" in CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output) == has
