"""`pugnn explain`: why nodes of a finished run have their scores."""

import json

import numpy as np
import pytest

from e2e.own_tables import FIT, FIT_PU_GNN, append, assert_refused, snapshot, table


def test_nodes_are_explained_in_words_and_as_json(pugnn_main, run_folder, here):
    shown = pugnn_main("explain", run_folder, "n4", "n0")
    assert shown.code == 0
    assert "Its score is" in shown.out
    assert shown.out.index("n4\n") < shown.out.index("n0\n")
    found = json.loads(pugnn_main("explain", run_folder, "n4", "--json").out)
    rows = {row["id"]: row for row in table(run_folder / "scores.csv")}
    (one,) = found
    assert one["id"] == "n4"
    assert one["rank"] == int(rows["n4"]["rank"])
    assert one["score"] == pytest.approx(float(rows["n4"]["score"]), abs=1e-12)
    log_odds = np.log(one["score"] / (1 - one["score"]))
    assert one["base"] + one["own"] + one["around"] == pytest.approx(log_odds, abs=1e-5)
    assert {part["name"] for part in one["speak_for"] + one["speak_against"]} <= {
        "x",
        "y",
        "z",
        "all values close to the mean",
        "closeness to known positives",
    }


def test_top_explains_the_best_finds_and_a_file_is_written_once(pugnn_main, run_folder, here):
    assert pugnn_main("explain", run_folder, "--top", 2, "--out", "why.json").code == 0
    found = json.loads((here / "why.json").read_text())
    unknown = [row["id"] for row in table(run_folder / "scores.csv") if row["known"] == "0"]
    assert [each["id"] for each in found] == unknown[:2]
    record = json.loads((run_folder / "run.json").read_text())
    assert [each["id"] for each in record["explanations"][:2]] == unknown[:2]
    before = snapshot(here)
    assert_refused(
        pugnn_main("explain", run_folder, "n4", "--out", "why.json"), "already exists and is not overwritten"
    )
    assert snapshot(here) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["n44"], "there is no node 'n44' in the graph; did you mean 'n4'"),
        (["nobody"], "there is no node 'nobody' in the graph"),
        ([], "name the nodes to explain by their ids, or give --top N"),
        (["n4", "--top", "3"], "name the nodes to explain by their ids, or give --top N"),
    ],
)
def test_what_cannot_be_explained_is_named(pugnn_main, run_folder, here, arguments, message):
    assert_refused(pugnn_main("explain", run_folder, *arguments), [message])


def test_a_folder_without_a_run_and_changed_data_are_refused(pugnn_main, here):
    assert_refused(pugnn_main("explain", here, "n4"), ["is not a run folder"])
    assert pugnn_main(*FIT, "--out", "mine").code == 0
    append("edges.csv", "n0,n9\n")(here)
    looked = pugnn_main("explain", "mine", "n4")
    assert looked.code == 0
    assert "the data have changed since mine was trained" in looked.err
    assert_refused(pugnn_main("evaluate", "mine"), ["the data have changed since mine was trained"])


@pytest.mark.parametrize("method", ["pu-gnn", "label-propagation"])
def test_other_methods_are_explained_too(pugnn_main, here, method):
    fit = FIT_PU_GNN if method == "pu-gnn" else [*FIT[:-2], "--method", method, "--prior", "0.3"]
    assert pugnn_main(*fit, "--out", "mine").code == 0
    (one,) = json.loads(pugnn_main("explain", "mine", "n2", "--json").out)
    assert (one["how"], one["unit"]) == (("gradients", "log-odds") if method == "pu-gnn" else ("exact", "odds"))
    assert one["base"] + one["own"] + one["around"] + one["rest"] == pytest.approx(one["total"], abs=1e-5)
