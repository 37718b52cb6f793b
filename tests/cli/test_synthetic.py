import json

import pytest
from typer.testing import CliRunner

from pugnn.cli import app


def test_a_graph_that_can_be_trained_on(tmp_path):
    out = tmp_path / "big"
    command = ["synthetic", "--nodes", "500", "--labels", "20", "--features", "8", "--out", str(out), "--json"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    files = [str(out / f"{name}.parquet") for name in ("edges", "nodes", "truth", "positives")]
    assert json.loads(result.stdout) == {"files": files}

    tables = [
        part
        for name, path in zip(("edges", "nodes", "truth", "positives"), files, strict=True)
        for part in (f"--{name}", path)
    ]
    fit = CliRunner().invoke(app, ["fit", *tables, "--method", "centroid", "--out", str(tmp_path / "run"), "--json"])
    assert fit.exit_code == 0, fit.output
    assert json.loads(fit.stdout)["metrics"]["roc_auc"] > 0.6


def test_accounts_with_relations(tmp_path):
    out = tmp_path / "bank"
    sizes = ["--nodes", "300", "--labels", "20", "--out", str(out)]
    result = CliRunner().invoke(app, ["synthetic", "--relations", *sizes, "--json"])
    assert result.exit_code == 0, result.output
    names = ("accounts", "pays", "devices", "logins", "positives", "truth")
    assert json.loads(result.stdout) == {"files": [str(out / f"{name}.csv") for name in names]}

    edges = [
        "--edges",
        f"account:pays:account={out / 'pays.csv'}",
        "--edges",
        f"account:uses:device={out / 'devices.csv'}",
    ]
    more = ["--nodes", f"account={out / 'accounts.csv'}", "--target", "account", "--directed"]
    check = ["check", *edges, *more, "--positives", str(out / "positives.csv"), "--json"]
    checked = CliRunner().invoke(app, check)
    assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--relations", "--mean-degree", "3"], "--mean-degree cannot be used with --relations"),
        (["--relations", "--signal", "colour"], "signal must be"),
        (["--signal", "devices"], "--signal can only be used with --relations"),
        (["--leak"], "--leak can only be used with --relations"),
    ],
)
def test_options_of_the_other_graph(tmp_path, options, words):
    result = CliRunner().invoke(app, ["synthetic", "--nodes", "300", *options, "--out", str(tmp_path / "out")])
    assert result.exit_code != 0
    assert words in str(result.exception) + result.output
    assert not (tmp_path / "out").exists()
