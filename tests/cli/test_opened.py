import csv
import shutil

import pytest
from typer.testing import CliRunner

from e2e.own_tables import FIT, write_tables
from pugnn.cli import app
from pugnn.cli.opened import open_run
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
