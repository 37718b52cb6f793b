"""Checked nodes, from the command line: `--confirmed`, `--rejected`, and going on from an earlier run."""

import json

import pytest

from e2e.own_tables import FIT, assert_refused, scores, snapshot, table

FIRST = [*FIT, "--out", "first"]
GO_ON = ["fit", "--config", "first/run.json", "--confirmed", "right.csv", "--rejected", "wrong.csv"]


def record(folder) -> dict:
    return json.loads((folder / "run.json").read_text())


@pytest.fixture
def checked(here, pugnn_main):
    """A run, and two lists of checked nodes."""
    assert pugnn_main(*FIRST).code == 0
    (here / "right.csv").write_text("id\nn2\n")
    (here / "wrong.csv").write_text("id\nn9\nn10\n")
    return here


def test_a_run_with_feedback_goes_on_from_the_last_and_says_what_changed(checked, pugnn_main):
    done = pugnn_main(*GO_ON, "--out", "second")
    assert done.code == 0, done.err
    assert "3 positives and 2 negatives among 12 nodes" in done.out
    assert "Since first" in done.out
    assert "1 confirmed, 2 rejected" in done.out
    assert "went on from the earlier model" in done.out
    rows = {row["id"]: row for row in table(checked / "second" / "scores.csv")}
    assert {node for node, row in rows.items() if row["known"] == "1"} == {"n0", "n1", "n2"}
    for node in ("n9", "n10"):
        assert (rows[node]["known"], float(rows[node]["score"]), rows[node]["decision"]) == ("-1", 0.0, "0")
    found = record(checked / "second")
    assert (found["labelled"], found["negative"], found["unlabelled"]) == (3, 2, 7)
    assert found["changes"]["before"] == "first"
    assert found["changes"]["warm"]
    assert {each["id"] for each in found["changes"]["rose"]}.isdisjoint({"n0", "n1", "n2", "n9", "n10"})


def test_such_a_run_repeats_bit_for_bit_and_the_first_does_as_well(checked, pugnn_main):
    assert pugnn_main(*GO_ON, "--out", "second").code == 0
    assert pugnn_main("fit", "--config", "second/run.json", "--out", "again").code == 0
    assert scores(checked / "again" / "scores.csv") == scores(checked / "second" / "scores.csv")
    assert record(checked / "again")["options"] == record(checked / "second")["options"]
    assert pugnn_main("fit", "--config", "first/run.json", "--out", "first-again").code == 0
    assert scores(checked / "first-again" / "scores.csv") == scores(checked / "first" / "scores.csv")
    assert record(checked / "first-again")["changes"] is None


def test_rounds_add_up(checked, pugnn_main):
    assert pugnn_main(*GO_ON, "--out", "second").code == 0
    (checked / "more.csv").write_text("id\nn3\n")
    done = pugnn_main("fit", "--config", "second/run.json", "--confirmed", "more.csv", "--out", "third")
    assert done.code == 0, done.err
    found = record(checked / "third")
    assert found["options"]["confirmed"] == ["right.csv", "more.csv"]
    assert found["options"]["rejected"] == ["wrong.csv"]
    assert found["options"]["start"] == "second"
    assert (found["labelled"], found["negative"]) == (4, 2)
    assert found["changes"]["confirmed"] == 2


def test_without_the_earlier_model_it_starts_afresh_and_says_so(checked, pugnn_main):
    (checked / "first" / "model.safetensors").unlink()
    done = pugnn_main(*GO_ON, "--out", "second")
    assert done.code == 0
    assert "note: the training starts afresh, without the model of the earlier run" in done.err
    assert "started afresh" in done.out
    assert not record(checked / "second")["changes"]["warm"]


def test_another_method_starts_afresh_and_says_so(checked, pugnn_main):
    tables = ["--edges", "edges.csv", "--nodes", "nodes.csv", "--positives", "positives.csv", "--start", "first"]
    done = pugnn_main("fit", *tables, "--method", "naive", "--rejected", "wrong.csv", "--epochs", 3, "--out", "second")
    assert done.code == 0, done.err
    assert "Nothing of the earlier model is taken over: the earlier model is one of views, not of naive" in done.out


def test_no_feedback_yet_is_a_note(checked, pugnn_main):
    (checked / "right.csv").write_text("id\n")
    (checked / "wrong.csv").write_text("")
    done = pugnn_main(*GO_ON, "--out", "second")
    assert done.code == 0, done.err
    assert "note: right.csv: names no confirmed nodes yet" in done.err
    assert "note: wrong.csv: names no rejected nodes yet" in done.err


def test_a_named_data_set(here, pugnn_main):
    fit = ["fit", "--dataset", "cora", "--labels", 10, "--method", "centroid"]
    assert pugnn_main(*fit, "--out", "first").code == 0
    found = [row["id"] for row in table(here / "first" / "scores.csv") if row["known"] == "0"][:4]
    (here / "right.csv").write_text("\n".join(["id", *found[:2]]) + "\n")
    (here / "wrong.csv").write_text("\n".join(["id", *found[2:]]) + "\n")
    done = pugnn_main(*fit, "--confirmed", "right.csv", "--rejected", "wrong.csv", "--out", "second")
    assert done.code == 0, done.err
    first, second = record(here / "first"), record(here / "second")
    assert second["labelled"] == 12
    assert second["negative"] == 2
    assert second["changes"] is None  # there is no earlier run
    assert first["metrics"]["test_nodes"] - second["metrics"]["test_nodes"] <= 4  # checked nodes are no test nodes


@pytest.mark.parametrize(
    ("right", "wrong", "more", "fragments"),
    [
        ("n3", "n3", [], ["wrong.csv rejects 'n3'", "right.csv confirms it"]),
        ("n3", "n0", [], ["wrong.csv rejects 'n0'", "known positive of positives.csv"]),
        ("n3", "zz", [], ["wrong.csv, row 2", "'zz' is not a node of the graph"]),
        ("zz", "n3", [], ["right.csv, row 2", "'zz' is not a node of the graph"]),
        ("n3\nn4", "n5", ["--prior", "0.1"], ["2 nodes of --confirmed", "0.1", "about 1 of the 10 nodes", "--prior"]),
    ],
)
def test_bad_feedback_is_refused(checked, pugnn_main, right, wrong, more, fragments):
    (checked / "right.csv").write_text(f"id\n{right}\n")
    (checked / "wrong.csv").write_text(f"id\n{wrong}\n")
    before = snapshot(checked)
    assert_refused(pugnn_main(*GO_ON, *more, "--out", "second"), fragments)
    assert snapshot(checked) == before


def test_all_nodes_are_known(checked, pugnn_main):
    (checked / "wrong.csv").write_text("\n".join(["id", *(f"n{i}" for i in range(3, 12))]) + "\n")
    assert_refused(pugnn_main(*GO_ON, "--out", "second"), ["nothing left to find"])


def test_check_reads_the_config_of_a_run_with_feedback(checked, pugnn_main):
    assert pugnn_main(*GO_ON, "--out", "second").code == 0
    one, two = (pugnn_main("check", "--config", f"{run}/run.json", "--json") for run in ("first", "second"))
    assert (one.code, two.code) == (0, 0)
    assert json.loads(one.out) == json.loads(two.out)
