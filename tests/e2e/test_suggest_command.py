"""`pugnn suggest`: which nodes to check next, after a run."""

import csv
import json
import shutil

import pytest

from e2e.own_tables import NODES


@pytest.fixture
def run(run_folder, tmp_path):
    """A copy of the run that the tests share."""
    return shutil.copytree(run_folder, tmp_path / "mine")


def test_suggestions_come_with_reasons_and_the_way_on(pugnn_main, here, run):
    result = pugnn_main("suggest", run, "-n", 3)
    assert result.code == 0, result.err
    assert "Best finds" in result.out
    assert "known positive" in result.out
    assert f"pugnn fit --config {run}/run.json --confirmed confirmed.csv --rejected rejected.csv" in result.out


@pytest.mark.parametrize("goal", ["precision", "discovery", "learning"])
def test_as_json_and_as_a_table_to_fill_in(pugnn_main, here, run, goal):
    result = pugnn_main("suggest", run, "-n", 4, "--for", goal, "--json", "--out", "check.csv")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert len({each["id"] for each in found}) == 4
    assert {each["id"] for each in found} <= set(NODES) - {"n0", "n1"}, "nothing that is known"
    with open("check.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [{**{name: str(value) for name, value in each.items()}, "verdict": ""} for each in found]
    with open(run / "scores.csv", newline="") as file:
        ranks = {row["id"]: row["rank"] for row in csv.DictReader(file)}
    assert all(ranks[row["id"]] == row["rank"] for row in rows)


def test_fewer_of_other_kinds_than_were_asked_for_are_said_to_be_all(pugnn_main, here, run):
    shown = pugnn_main("suggest", run, "-n", 10, "--for", "discovery")
    found = json.loads(pugnn_main("suggest", run, "-n", 10, "--for", "discovery", "--json").out)
    assert 0 < len(found) < 10, "some touch a known positive"
    assert f"No more than {len(found)} nodes can be suggested." in shown.out


def test_suggestions_of_the_run_are_those_of_the_command(pugnn_main, here, run):
    stored = json.loads((run / "run.json").read_text())["suggestions"]
    for goal, nodes in stored.items():
        assert json.loads(pugnn_main("suggest", run, "-n", len(nodes), "--for", goal, "--json").out) == nodes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-n", 11], "error: cannot suggest 11 nodes: there are only 10 that are neither known positives nor known "),
        (["--out", "nodes.csv"], "error: nodes.csv already exists and is not overwritten. Choose another --out"),
    ],
)
def test_bad_input(pugnn_main, here, run, arguments, words):
    before = (here / "nodes.csv").read_bytes()
    result = pugnn_main("suggest", run, *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(words)
    assert result.err.count("\n") == 1
    assert (here / "nodes.csv").read_bytes() == before


def test_not_a_run(pugnn_main, here):
    result = pugnn_main("suggest", "nowhere")
    assert result.code == 2
    assert result.err.startswith("error: nowhere is not a run folder")


def test_a_run_whose_ranking_means_nothing_is_warned_of(pugnn_main, here, run):
    record = json.loads((run / "run.json").read_text())
    record["degenerate"] = [{"code": "no-ranking", "message": "Known positives do not rank above the others."}]
    (run / "run.json").write_text(json.dumps(record))
    result = pugnn_main("suggest", run, "-n", 1)
    assert result.code == 0, result.err
    assert result.err.startswith(f"warning: the ranking of {run} means nothing")


@pytest.mark.parametrize(
    ("entry", "value", "words"),
    [
        ("data", None, "its entry 'data' is missing or of another form"),
        ("degenerate", "x", "its entry 'degenerate' is missing or of another form"),
        ("degenerate", [3], "its entry 'degenerate' is missing or of another form"),
        ("negative", 7, "the data have changed"),
    ],
)
def test_a_record_that_was_edited_is_refused(pugnn_main, here, run, entry, value, words):
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**record, entry: value}))
    result = pugnn_main("suggest", run)
    assert result.code == 2
    assert words in result.err
    assert result.err.count("\n") == 1


def test_the_seed_is_that_of_the_model(pugnn_main, here, run):
    record = json.loads((run / "run.json").read_text())
    record["options"]["seed"] = "abc"
    (run / "run.json").write_text(json.dumps(record))
    assert pugnn_main("suggest", run, "-n", 1).code == 0


def test_a_small_graph_has_fewer_than_usual(pugnn_main, here, run):
    result = pugnn_main("suggest", run, "--json")
    assert result.code == 0, result.err
    assert len(json.loads(result.out)) == 10, "all that are unlabelled"
