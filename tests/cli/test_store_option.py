"""`pugnn build`, and `--store` in place of tables."""

import json
import shutil
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file
from typer.testing import CliRunner

from e2e.own_tables import TABLES, write_tables
from pugnn.cli import app
from pugnn.errors import PugnnError
from pugnn.store import open_store

FIT = ["--positives", "positives.csv", "--method", "centroid"]


def pugnn(*arguments) -> SimpleNamespace:
    """Run a command; an error of ours is raised."""
    done = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with tables, a store of them, and a run of each."""
    folder = tmp_path_factory.mktemp("made")
    write_tables(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        pugnn("build", *TABLES, "--out", "store")
        pugnn("fit", *TABLES, *FIT, "--out", "from-tables")
        pugnn("fit", "--store", "store", *FIT, "--out", "from-store")
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    folder = shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(folder)
    return folder


def test_a_run_from_a_store_has_the_scores_of_one_from_tables(here):
    assert (here / "from-tables" / "scores.csv").read_bytes() == (here / "from-store" / "scores.csv").read_bytes()
    models = [load_file(here / run / "model.safetensors") for run in ("from-tables", "from-store")]
    assert {name: array.tolist() for name, array in models[0].items()} == {
        name: array.tolist() for name, array in models[1].items()
    }
    one, other = (pq.read_table(here / run / "scores.parquet") for run in ("from-tables", "from-store"))
    assert one.to_pydict() == other.to_pydict()


def test_digests_of_a_store_are_those_of_its_tables_but_for_ids_that_are_text(here):
    one, other = (
        json.loads((here / run / "run.json").read_text())["data"]["digests"] for run in ("from-tables", "from-store")
    )
    assert one.keys() == other.keys()
    assert {name for name in one if one[name] != other[name]} == {"ids or order of nodes"}


def test_files_of_a_store_are_not_hashed_again(here, monkeypatch):
    graph = open_store("store")
    monkeypatch.setattr("pugnn.graph.digests.update", lambda *_: pytest.fail("an array is hashed"))
    assert len(graph.digests) == 4


def test_run_json_names_the_store_and_repeats_the_run(here):
    record = json.loads((here / "from-store" / "run.json").read_text())
    assert record["options"]["store"] == "store"
    assert "edges" not in record["options"]
    pugnn("fit", "--config", "from-store/run.json", "--out", "again")
    assert (here / "again" / "scores.csv").read_bytes() == (here / "from-store" / "scores.csv").read_bytes()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_predict_takes_a_store(here, ending):
    pugnn("predict", "from-tables", "--store", "store", "--out", f"one.{ending}")
    pugnn("predict", "from-tables", *TABLES, "--out", f"other.{ending}")
    one, other = here / f"one.{ending}", here / f"other.{ending}"
    if ending == "csv":
        assert one.read_bytes() == other.read_bytes()
    else:
        assert pq.read_table(one).to_pydict() == pq.read_table(other).to_pydict()


def test_commands_on_a_run_open_its_store(here):
    for command in (
        ["explain", "from-store", "n5"],
        ["explain", "from-store", "--top", "2"],
        ["suggest", "from-store"],
    ):
        mine, other = (pugnn(*command, "--json") for _ in range(2))
        assert mine.stdout == other.stdout
        tables = pugnn(*[word.replace("from-store", "from-tables") for word in command], "--json")
        assert json.loads(mine.stdout) == json.loads(tables.stdout)
    estimates = [
        json.loads(pugnn("evaluate", run, "--json").stdout)["estimates"] for run in ("from-store", "from-tables")
    ]
    assert estimates[0] == estimates[1]
    with pytest.raises(PugnnError, match="there is no node 'n55' in the graph; did you mean 'n5'"):
        pugnn("explain", "from-store", "n55")


def test_check_and_feedback_take_a_store(here):
    (here / "right.csv").write_text("id\nn2\n")
    (here / "wrong.csv").write_text("id\n n9\n")
    checked = json.loads(pugnn("check", "--store", "store", "--positives", "positives.csv", "--json").stdout)
    assert checked["options"] == {"store": "store", "positives": "positives.csv"}
    pugnn("fit", "--config", "from-store/run.json", "--confirmed", "right.csv", "--rejected", "wrong.csv", "--out", "b")
    record = json.loads((here / "b" / "run.json").read_text())
    assert (record["labelled"], record["negative"]) == (3, 1)


def test_build_says_what_it_made_and_makes_the_features_of_a_model(here):
    made = json.loads(pugnn("build", *TABLES, "--model", "from-tables", "--out", "like", "--json").stdout)
    assert (made["nodes"], made["edges"], made["features"]) == (12, 11, 3)
    assert "12 nodes, 11 edges and 3 features in other" in pugnn("build", *TABLES, "--out", "other").stdout


def refused(*arguments) -> str:
    with pytest.raises(PugnnError) as caught:
        CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    return str(caught.value)


def test_options_that_do_not_go_together_are_refused(here):
    assert "--nodes cannot be used with --store" in refused("fit", "--store", "store", "--nodes", "nodes.csv", *FIT)
    assert "--store cannot be used with --dataset" in refused("fit", "--dataset", "cora", "--store", "store")
    assert "specify what to build" in refused("build", "--edges", "edges.csv")
    assert "--column has no effect" in refused(
        "build", *TABLES, "--model", "from-tables", "--column", "x=number", "--out", "new"
    )
    assert "already exists" in refused("build", *TABLES, "--out", "store")
    (here / "nodes.csv").write_text((here / "nodes.csv").read_text().replace("0.", "5."))
    pugnn("build", *TABLES, "--out", "others")
    message = refused("predict", "from-tables", "--store", "others", "--out", "scores.csv")
    assert "the features in others were made by a recipe different from the model's" in message


def test_a_positive_that_is_no_node_is_an_error_with_its_row(here):
    (here / "positives.csv").write_text("id\nn1\nN2\n")
    message = refused("fit", "--store", "store", *FIT)
    assert message.startswith("positives.csv, row 3: 'N2' is not a node of the graph; the graph has 'n2'")
