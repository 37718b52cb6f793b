"""A run keeps the graph that was read from tables, and is opened without them."""

import os
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from e2e.own_tables import FIT, append, table, write, write_tables
from pugnn.cli import app, input_data
from pugnn.cli.input_data import open_run
from pugnn.errors import PugnnError, PugnnWarning
from pugnn.graph import Graph
from pugnn.runs import kept_graph
from pugnn.runs.kept_graph import input_states, keep_graph
from pugnn.runs.run import InputData

CENTROID = [*FIT[:-2], "--method", "centroid"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with tables, and a run of them with everything that a run may have been given."""
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    write("right.csv", "id\nn2\n")(tmp_path)
    write("wrong.csv", "id\nn9\n")(tmp_path)
    write("truth.csv", "id\nn0\nn1\nn2\nn3\n")(tmp_path)
    fit("--truth", "truth.csv", "--confirmed", "right.csv", "--rejected", "wrong.csv", "--show", "X, id")
    return tmp_path


def fit(*arguments):
    done = CliRunner().invoke(app, [*CENTROID, *arguments, "--out", "mine"], catch_exceptions=False)
    assert done.exit_code == 0, done.output


@pytest.fixture
def no_tables(monkeypatch):
    monkeypatch.setattr(input_data, "read_input", lambda *_, **__: pytest.fail("a table is read again"))


def everything(run):
    """What commands use of a run, by node."""
    nodes = [run.task.labelled, run.task.unlabelled, run.task.negative, run.task.confirmed, run.truth.scored]
    columns = [*run.data.shown.values(), run.truth.positive, run.log_odds, run.scores, run.task.graph.ids[:]]
    names = [*run.data.shown, *(run.task.graph.feature_names or ())]
    return names, [each.tolist() for each in (*nodes, *columns)], run.record["data"]["nodes"]


def test_a_run_is_opened_without_its_tables_and_is_what_they_make(here, no_tables):
    kept = everything(open_run(here / "mine"))
    rows = {row["id"]: row for row in table(here / "mine" / "scores.csv")}
    assert kept[1][-2] == [float(rows[node]["score"]) for node in kept[1][-1]], "to the last bit"
    for path in here.glob("*.csv"):
        path.unlink()
    assert everything(open_run(here / "mine")) == kept


def test_tables_that_were_only_touched_are_read_again_and_give_the_same(here):
    kept = everything(open_run(here / "mine"))
    shutil.rmtree(here / "mine" / "graph")
    assert everything(open_run(here / "mine")) == kept, "as in a run of an earlier version"
    os.utime(here / "nodes.csv")
    assert everything(open_run(here / "mine")) == kept


@pytest.mark.parametrize("name", ["store.json", "indices.npy", "features.npy"])
def test_a_graph_that_is_damaged_is_not_used(here, name):
    kept = everything(open_run(here / "mine"))
    damaged = here / "mine" / "graph" / name
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    assert everything(open_run(here / "mine")) == kept
    append("edges.csv", "n0,n7\n")(here)
    with pytest.raises(PugnnError, match="the data have changed"):
        open_run(here / "mine")


@pytest.mark.parametrize(
    ("table", "content", "words"),
    [
        ("edges.csv", "source,target\nn0,n7\n", "edges differ"),
        ("nodes.csv", "nothing\n", "nodes.csv"),
        ("wrong.csv", "id\nn8\nn9\n", "unlabelled is now"),
    ],
)
def test_a_run_whose_tables_have_changed_is_looked_at_as_it_was_trained(here, table, content, words):
    kept = everything(open_run(here / "mine"))
    write(table, content)(here)
    with pytest.warns(PugnnWarning, match=rf"{words}.*with its own copy"):
        found = open_run(here / "mine", as_trained=True)
    assert everything(found) == kept
    assert words in found.changed
    with pytest.raises(PugnnError):
        open_run(here / "mine")
    shutil.rmtree(here / "mine" / "graph")
    with pytest.raises(PugnnError):
        open_run(here / "mine", as_trained=True)


def test_scores_that_are_no_longer_all_there_are_computed_again(here, no_tables):
    kept = open_run(here / "mine")
    (here / "mine" / "scores.parquet").unlink()
    again = open_run(here / "mine")
    np.testing.assert_allclose(again.log_odds, kept.log_odds, atol=1e-5)
    assert again.data.shown == {}


def test_a_new_table_of_a_pattern_is_a_change(tmp_path):
    for name in ("part-1.csv", "part-2.csv"):
        (tmp_path / name).write_text("source,target\n")
    options = {"edges": str(tmp_path / "part-*.csv"), "nodes": str(tmp_path / "gone.csv"), "checked": []}
    assert [os.path.basename(file) for file in input_states(options)] == ["part-1.csv", "part-2.csv"]


@pytest.mark.parametrize("case", ["large", "ids", "data set", "disk"])
def test_what_is_not_kept(tmp_path, monkeypatch, case):
    ids = [0.5, 1.5] if case == "ids" else ["a", "b"]
    options = {"dataset": "toy"} if case == "data set" else {"edges": "edges.csv"}
    data = InputData(name="toy", graph=Graph.from_edges(ids[:1], ids[1:], ids=ids), options=options)
    if case == "large":
        monkeypatch.setattr(kept_graph, "MAX_BYTES", 10)
    if case == "disk":
        (tmp_path / "run").write_text("a file in the way")
        with pytest.warns(PugnnWarning, match="commands on it will read the tables: cannot write"):
            keep_graph(tmp_path / "run", data)
    else:
        keep_graph(tmp_path / "run", data)
        assert not (tmp_path / "run").exists()
