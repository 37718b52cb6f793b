import json

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
