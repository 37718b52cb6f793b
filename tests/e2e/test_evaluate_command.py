"""`pugnn evaluate`: how good a run's ranking is, without negatives."""

import json
import shutil

import pytest

from e2e.own_tables import FIT, append, assert_refused, snapshot, write

FOUND = ("estimates", "verdicts")
CENTROID = [*FIT[:-2], "--method", "centroid"]


@pytest.fixture
def run(run_folder, tmp_path):
    """A copy of the run that the tests share."""
    return shutil.copytree(run_folder, tmp_path / "mine")


def test_bands_are_said_first_and_written_to_the_run(pugnn_main, here, run):
    before = snapshot(run)
    result = pugnn_main("evaluate", run)
    assert result.code == 0, result.err
    assert result.out.startswith("Half of the 2 known positives, when hidden, rank in the top ")
    assert "The known positives may not be typical of all: too few" in result.out
    assert "views" in result.out
    written = json.loads((run / "estimate.json").read_text())
    assert written["verdicts"] == []
    found = written["estimates"]
    assert list(found) == ["views"]
    assert found["views"]["prior"] == json.loads((run / "run.json").read_text())["settled_prior"], "not estimated again"
    assert found["views"]["truth"] is None
    after = snapshot(run)
    assert after.pop("estimate.json") is not None
    assert after == before, "nothing else has changed"


def test_other_methods_stand_beside_it_even_the_same_with_other_settings(pugnn_main, here):
    assert pugnn_main(*CENTROID, "--prior", "0.3", "--out", "mine").code == 0
    result = pugnn_main("evaluate", "mine", "--methods", "label-propagation, centroid", "--json")
    assert result.code == 0, result.err
    said = json.loads(result.out)
    assert json.loads((here / "mine" / "estimate.json").read_text()) == {name: said[name] for name in FOUND}
    found, verdicts = (said[name] for name in FOUND)
    assert list(found) == ["centroid", "label-propagation", "centroid'"]
    assert [each["prior"]["source"] for each in found.values()] == ["given", "estimated", "estimated"]
    assert len(verdicts) == 2
    for verdict in verdicts:
        assert verdict["better"] is None, "two hidden positives cannot tell"
        assert verdict["words"].startswith(f"{verdict['names'][0]} and {verdict['names'][1]}: no verdict.")


def test_methods_are_compared_by_ranks_and_not_by_the_width_of_bands(pugnn_main, here):
    assert pugnn_main(*CENTROID, "--out", "mine").code == 0
    result = pugnn_main("evaluate", "mine", "--methods", "label-propagation")
    assert result.code == 0, result.err
    _, _, compared = result.out.partition("Where each method ranks the 2 hidden positives")
    assert "median rank" in compared
    assert ": no verdict." in compared
    assert not any(word in compared for word in ("precision", "recall", "F1", " to "))


def test_positives_that_an_audit_has_found_are_compared_too(pugnn_main, here):
    assert pugnn_main(*CENTROID, "--out", "mine").code == 0
    assert pugnn_main("audit", "mine", "-n", "10").code == 0
    write("checked.csv", "id,verdict\n" + "".join(f"n{at},{'yes' if at < 5 else 'no'}\n" for at in range(2, 12)))(here)
    assert pugnn_main("audit", "mine", "checked.csv").code == 0
    result = pugnn_main("evaluate", "mine", "--methods", "label-propagation", "--json")
    assert result.code == 0, result.err
    (verdict,) = json.loads(result.out)["verdicts"]
    assert (verdict["hidden"], verdict["audited"]) == (2, 3)


def test_where_the_truth_is_known_it_stands_beside_the_estimate(pugnn_main, here):
    write("truth.csv", "id\nn0\nn1\nn2\nn3\n")(here)
    assert pugnn_main(*CENTROID, "--truth", "truth.csv", "--out", "mine").code == 0
    assert pugnn_main("evaluate", "mine").code == 0
    truth = json.loads((here / "mine" / "estimate.json").read_text())["estimates"]["centroid"]["truth"]
    assert truth["prior"] == pytest.approx(2 / 10)
    assert truth["first"] == [{"taken": 10, "precision": pytest.approx(2 / 10)}]


def test_checked_nodes_count(pugnn_main, here):
    write("right.csv", "id\nn2\n")(here)
    write("wrong.csv", "id\nn9\nn10\n")(here)
    assert pugnn_main(*CENTROID, "--confirmed", "right.csv", "--rejected", "wrong.csv", "--out", "mine").code == 0
    result = pugnn_main("evaluate", "mine")
    assert result.code == 0, result.err
    assert "Half of the 2 known positives, when hidden" in result.out
    write("wrong.csv", "id\nn9\n")(here)
    changed = pugnn_main("evaluate", "mine")
    assert_refused(changed, ["the data have changed since mine was trained: unlabelled is now 8, and was 7"])


@pytest.mark.parametrize(
    ("spoil", "arguments", "fragments"),
    [
        (None, ["nowhere"], ["nowhere is not a run folder: it has no run.json"]),
        (None, ["mine", "--methods", "nnpu,magic"], ["no method 'magic'"]),
        (append("positives.csv", "n2\n"), ["mine"], ["data have changed", "labelled is now 3, and was 2"]),
        (append("edges.csv", "n0,n5\n"), ["mine"], ["data have changed", "edges is now 12, and was 11"]),
        (write("mine/run.json", "{}"), ["mine"], ["mine/run.json is not the run.json of a run"]),
        (
            write(
                "mine/run.json",
                '{"options": {"edges": "edges.csv", "nodes": "nodes.csv", "positives": "positives.csv"}}',
            ),
            ["mine"],
            ["mine/run.json was changed after the run: its entry 'data' is missing"],
        ),
        (
            write(
                "mine/run.json",
                '{"options": {"edges": "edges.csv", "nodes": "nodes.csv"}, "data": {}, "degenerate": []}',
            ),
            ["mine"],
            ["names no known positives"],
        ),
        (write("mine/model.safetensors", "not a model"), ["mine"], ["mine/model.safetensors"]),
    ],
)
def test_bad_input_leaves_everything_as_it_was(pugnn_main, here, spoil, arguments, fragments):
    assert pugnn_main(*CENTROID, "--out", "mine").code == 0
    if spoil is not None:
        spoil(here)
    before = snapshot(here)
    assert_refused(pugnn_main("evaluate", *arguments), fragments)
    assert snapshot(here) == before


@pytest.mark.parametrize("confirmed", ["id\n", "id\nn3\nn4\n"])
def test_a_single_known_positive_cannot_be_hidden_whatever_was_confirmed(pugnn_main, here, confirmed):
    write("positives.csv", "id\nn0\n")(here)
    write("right.csv", confirmed)(here)
    assert pugnn_main(*CENTROID, "--confirmed", "right.csv", "--out", "mine").code == 0
    record = json.loads((here / "mine" / "run.json").read_text())
    assert record["estimate"] is None
    assert record["estimate_missing"].startswith("with a single known positive")
    assert_refused(pugnn_main("evaluate", "mine"), ["with one known positive, nothing can be hidden"])


def test_equal_scores_are_no_ranking(pugnn_main, here):
    write("nodes.csv", "\n".join(["id,x", *(f"n{at},1" for at in range(12))]))(here)
    write("edges.csv", "\n".join(["source,target", *(f"n{at},n{(at + 1) % 12}" for at in range(12))]))(here)
    fit = [*CENTROID, "--column", "x=counts", "--out", "mine"]
    assert pugnn_main(*fit).code == 0
    missing = json.loads((here / "mine" / "run.json").read_text())["estimate_missing"]
    assert missing == "all nodes have the same score, so hidden positives say nothing."
    assert_refused(pugnn_main("evaluate", "mine"), ["all nodes have the same score"])
    assert not (here / "mine" / "estimate.json").exists()
