import csv
import shutil

import pytest
from typer.testing import CliRunner

from e2e.own_tables import FIT, append, replace, write_tables
from pugnn.cli import app
from pugnn.cli.input_data import open_run
from pugnn.errors import PugnnError


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    (tmp_path / "wrong.csv").write_text("id\nn9\nn10\n")
    arguments = [*FIT[:-2], "--method", "centroid", "--rejected", "wrong.csv", "--out", "mine"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    return tmp_path


def test_an_opened_run_has_the_scores_that_it_wrote(here):
    opened = open_run(here / "mine")
    with (here / "mine" / "scores.csv").open(newline="") as file:
        written = {row["id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert dict(zip(opened.data.graph.ids.tolist(), opened.scores, strict=True)) == pytest.approx(written, abs=1e-6)
    assert opened.scores[opened.data.task.negative].tolist() == [0.0, 0.0]
    assert opened.record["negative"] == 2
    assert opened.estimator.settled_prior_.value == opened.record["prior"]


def test_other_known_nodes_or_no_run_at_all_are_refused(here):
    (here / "wrong.csv").write_text("id\nn9\n")
    with pytest.raises(PugnnError, match="unlabelled is now 9, and was 8"):
        open_run(here / "mine")
    shutil.rmtree(here / "mine")
    with pytest.raises(PugnnError, match="is not a run folder"):
        open_run(here / "mine")


def shift_attributes(folder):
    header, *rows = (folder / "nodes.csv").read_text().splitlines()
    ids, values = zip(*(row.split(",", 1) for row in rows), strict=True)
    shifted = [",".join(row) for row in zip(ids, (*values[1:], values[0]), strict=True)]
    (folder / "nodes.csv").write_text("\n".join([header, *shifted]) + "\n")


def reorder_nodes(folder):
    header, first, second, *rows = (folder / "nodes.csv").read_text().splitlines()
    (folder / "nodes.csv").write_text("\n".join([header, second, first, *rows]) + "\n")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (shift_attributes, "attributes differ. Train again"),
        (replace("positives.csv", "n1", "n5"), "known positives differ. Train again"),
        (replace("wrong.csv", "n9", "n8"), "checked nodes differ. Train again"),
        (replace("edges.csv", "n4,n5", "n4,n6"), "(max_degree|components|isolated) is now .*; edges differ"),
        (reorder_nodes, "ids or order of nodes differ. Train again"),
        (append("nodes.csv", "n12,0,0,0\n"), "nodes is now 13, and was 12; ids or order of nodes differ"),
        (
            lambda folder: (shift_attributes(folder), replace("positives.csv", "n1", "n5")(folder)),
            "attributes and known positives differ. Train again",
        ),
    ],
)
def test_data_that_have_changed_are_refused_and_named(here, change, words):
    change(here)
    with pytest.raises(PugnnError, match=f"the data have changed since .*mine was trained: {words}"):
        open_run(here / "mine")


def test_edge_weights_that_have_changed_are_refused(here):
    rows = (here / "edges.csv").read_text().splitlines()
    (here / "edges.csv").write_text("\n".join([f"{rows[0]},weight", *(f"{row},1" for row in rows[1:])]) + "\n")
    arguments = [*FIT[:-2], "--method", "centroid", "--out", "weighted"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    open_run(here / "weighted")
    replace("edges.csv", "n4,n5,1", "n4,n5,2")(here)
    with pytest.raises(PugnnError, match="edge weights differ"):
        open_run(here / "weighted")


def test_what_a_killed_process_left_in_a_run_is_removed(tmp_path):
    left = tmp_path / ".run.json.0123456789abcdef.unfinished.json"
    left.write_text("{")
    (tmp_path / ".run.json").write_text("{}")  # somebody else's
    with pytest.raises(PugnnError, match="is not a run folder"):
        open_run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".run.json"]
