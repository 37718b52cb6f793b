import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pugnn.cli import app
from pugnn.cli.input_data import open_run, read_input
from pugnn.cli.options import DataOptions
from pugnn.errors import PugnnError
from pugnn.runs.kept_graph import input_states


def pugnn(*arguments: str) -> None:
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    Path("pays.csv").write_text("source,target\n" + "".join(f"a{u},a{v}\n" for u, v in rng.integers(0, 40, (90, 2))))
    Path("orders.csv").write_text("user,item\n" + "".join(f"a{u},a{v}\n" for u, v in rng.integers(0, (40, 9), (90, 2))))
    Path("accounts.csv").write_text("id,age\n" + "".join(f"a{u},{20 + u % 7}\n" for u in range(40)))
    Path("bad.csv").write_text("id\n" + "".join(f"a{u}\n" for u in range(0, 40, 7)))


@pytest.mark.usefixtures("tables")
def test_a_single_table_is_recorded_as_it_always_was():
    found = read_input(DataOptions(edges=["pays.csv"], nodes=["accounts.csv"], positives="bad.csv"))
    assert found.options == {"edges": "pays.csv", "nodes": "accounts.csv", "positives": "bad.csv"}
    assert found.name == "pays"
    assert not found.graph.relations


@pytest.mark.usefixtures("tables")
def test_a_run_with_relations_and_kinds_repeats_and_opens():
    edges = ("--edges", "user:pays:user=pays.csv", "--edges", "user:bought:item=orders.csv", "--target", "user")
    data = (*edges, "--nodes", "user=accounts.csv", "--positives", "bad.csv")
    pugnn("fit", *data, "--directed", "--out", "run")
    record = json.loads(Path("run/run.json").read_text())
    assert record["options"]["edges"] == ["user:pays:user=pays.csv", "user:bought:item=orders.csv"]
    assert record["labelled"] + record["unlabelled"] == 40
    assert len(Path("run/scores.csv").read_text().splitlines()) == 41
    assert set(input_states(record["options"])) == {"pays.csv", "orders.csv", "accounts.csv", "bad.csv"}
    run = open_run(Path("run"))
    assert list(run.task.graph.relations) == ["pays out", "pays in", "bought"]
    assert run.task.graph.stored is not None  # from the folder of the run
    pugnn("predict", "run", *data[:-2], "--out", "again.csv")  # which remembers --directed
    again, scores = (pd.read_csv(name, index_col="id").score for name in ("again.csv", "run/scores.csv"))
    np.testing.assert_allclose(again.sort_index(), scores.sort_index(), rtol=1e-5)
    pugnn("build", *data[:-2], "--directed", "--model", "run", "--out", "store")
    pugnn("predict", "run", "--store", "store", "--out", "stored.csv")
    assert Path("stored.csv").read_bytes() == Path("again.csv").read_bytes()


@pytest.mark.usefixtures("tables")
def test_commands_on_a_run_say_which_kind_and_relations_it_has():
    edges = ("--edges", "user:pays:user=pays.csv", "--edges", "user:bought:item=orders.csv")
    Path("orders.csv").write_text(Path("orders.csv").read_text() + "a1,a8x\n")
    pugnn("fit", *edges, "--target", "user", "--positives", "bad.csv", "--out", "run")
    with pytest.raises(PugnnError, match="no user has the id 'a8x'; there is one of the kind item, item:a8x, but it"):
        pugnn("explain", "run", "a8x")
    for options, words in (
        ((*edges, "--target", "item"), "--target item: the model looks for 'user'"),
        (("--edges", "pays=pays.csv", "--edges", edges[3]), "trained with 'user:pays:user', 'user:bought:item'; name"),
    ):
        with pytest.raises(PugnnError, match=words):
            pugnn("predict", "run", *options)
