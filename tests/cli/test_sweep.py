import json
import tomllib

import pytest
from typer.testing import CliRunner

from pugnn.cli import app
from pugnn.cli.commands.sweep import _toml
from pugnn.datasets.planted import write_planted

pytest.importorskip("optuna")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_planted(tmp_path / "tables", nodes=400, features=4, labels=12)
    return tmp_path


SWEEP = ["sweep", "--edges", "tables/edges.parquet", "--nodes", "tables/nodes.parquet"]
SWEEP += ["--positives", "tables/positives.parquet", "--method", "label-propagation", "--over", "prior=0.1"]
SWEEP += ["--over", "restart=0.01..0.9", "--trials", "4", "--jobs", "1"]


def test_the_best_settings_can_be_fitted(here):
    result = CliRunner().invoke(app, [*SWEEP, "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert json.loads((here / "sweep/sweep.json").read_text()) == {"method": found["method"], **_without(found)}
    ranks = [trial["mean_rank"] for trial in found["trials"]]
    assert ranks == sorted(ranks)
    best = tomllib.loads((here / "sweep/best.toml").read_text())
    assert best == found["best"]
    assert best["edges"] == "tables/edges.parquet"
    assert best.items() >= found["trials"][0]["settings"].items()

    fit = CliRunner().invoke(app, ["fit", "--config", "sweep/best.toml", "--out", "run", "--json"])
    assert fit.exit_code == 0, fit.output
    used = json.loads(fit.stdout)["options"]
    assert {name: used[name] for name in ("method", "prior")} == {"method": "label-propagation", "prior": 0.1}
    assert used.get("restart", 0.1) == best.get("restart", 0.1)

    again = CliRunner().invoke(app, SWEEP)
    assert again.exit_code == 0
    assert again.output.count("±") == 3  # all but the defaults
    assert "pugnn fit --config sweep/best.toml trains with the best settings" in again.output
    assert json.loads((here / "sweep/sweep.json").read_text())["trials"] == found["trials"]

    other = CliRunner().invoke(app, [*SWEEP, "--seed", "1"])
    assert "best.toml already exists and is not overwritten" in str(other.exception)


def _without(found):
    return {name: part for name, part in found.items() if name not in ("folder", "method")}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--over", "delta=1..2"], "label-propagation has no setting 'delta'"),
        (["--executor", "cloud"], "--executor must be one of local, ray; got 'cloud'"),
        (["--jobs", "0"], "jobs must be a whole number, at least 1; got 0"),
        (["--trials", "0"], "trials must be a whole number, at least 1; got 0"),
        (["--edges", "missing.csv"], "missing.csv"),
        (["--over", "normalisation=up"], "--over: normalisation must be one of symmetric, walk"),
        (["--over", "restart=0.1..0.2"], "--over names restart twice"),
    ],
)
def test_mistakes(here, change, words):
    result = CliRunner().invoke(app, [*SWEEP, *change])
    assert result.exit_code != 0
    assert words in str(result.exception)
    assert not (here / "sweep/best.toml").exists()


@pytest.mark.parametrize("text", ["mine", "", "{}", "[" * 9])
@pytest.mark.parametrize("name", ["best.toml", "sweep.json"])
def test_files_of_others_are_kept(here, name, text):
    (here / "sweep").mkdir()
    (here / "sweep" / name).write_text(text)
    result = CliRunner().invoke(app, SWEEP)
    assert f"{name} already exists and is not overwritten" in str(result.exception)
    assert [path.name for path in (here / "sweep").iterdir()] == [name]
    assert (here / "sweep" / name).read_text() == text


def test_every_character_can_be_in_best_toml():
    for number in range(0x3000):
        values = {"edges": f"a{chr(number)}b", "column": [chr(number), "'\"\\"]}
        assert tomllib.loads(_toml(values)) == values


def test_what_is_not_utf8_is_left_out_of_best_toml():
    values = {"edges": "run\udce9.csv", "confirmed": ["a", "\udcff"], "nodes": "n.csv", "labels": None, "rate": 1e-5}
    text = _toml(values)
    assert tomllib.loads(text) == {"nodes": "n.csv", "rate": 1e-5}
    for name in ("edges", "confirmed"):
        assert f"# {name} is not UTF-8, which TOML cannot hold: give --{name} on the command line" in text
