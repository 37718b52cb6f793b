"""A package of its own adds a method, a backbone and a data set, without a change in pugnn."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "pugnn-example"

#: Several commands in one process, for each of them exit code and output: a new process takes seconds to start.
COMMANDS = """
import contextlib, io, json, sys
from pugnn.cli import main
results = []
for arguments in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["pugnn", *arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
    results.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(results))
"""

FIT = ["fit", "--dataset", "two-rings", "--labels", "10", "--method", "ranking", "--backbone", "sgc"]


def run(commands, folder, packages=None):
    environment = {**os.environ, "COLUMNS": "160", "PYTHONPATH": str(packages or "")}
    words = [sys.executable, "-c", COMMANDS, json.dumps(commands)]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder in which the example is installed."""
    folder = tmp_path_factory.mktemp("installed")
    copy = shutil.copytree(EXAMPLE, folder / "example")
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    target = folder / "packages"
    done = subprocess.run([*words, "--target", str(target), str(copy)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def results(packages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("here")
    commands = {
        "methods": ["methods"],
        "json": ["methods", "--json"],
        "help": ["fit", "--method", "ranking", "--help"],
        "fit": [*FIT, "--margin", "2.5", "--epochs", "100", "--out", "mine", "--json"],
        "again": ["fit", "--config", "mine/run.json", "--out", "again", "--json"],
        "predict": ["predict", "mine", "--dataset", "two-rings"],
        "bad": [*FIT, "--penalty", "cubic"],
        "check": ["check", "--dataset", "two-rings", "--labels", "10"],
    }
    return folder, dict(zip(commands, run(list(commands.values()), folder, packages), strict=True))


def test_the_method_is_listed_with_its_package(results):
    code, out, _ = results[1]["methods"]
    assert code == 0
    line = next(line for line in out.splitlines() if line.startswith("ranking "))
    assert "ranks above the unlabelled nodes by a margin. [pugnn-example]" in line
    rows = {(row["option"], row["name"]): row["package"] for row in json.loads(results[1]["json"][1])}
    assert (rows["--method", "ranking"], rows["--method", "pu-gnn"]) == ("pugnn-example", "pugnn")
    assert rows["--backbone", "sgc"] == rows["--dataset", "two-rings"] == "pugnn-example"


def test_everything_that_has_a_name_is_listed(results):
    _, *tables = re.split(r"^(\S.*):\n", results[1]["methods"][1], flags=re.MULTILINE)
    rows = zip(tables[::2], tables[1::2], strict=True)
    names = {option: [row.split()[0] for row in each.splitlines()] for option, each in rows}
    assert {"--backbone", "--prior", "--column NAME=", "--dataset", "metrics"} <= set(names)
    assert {"auto", "best-bin"} <= set(names["--prior"])
    assert {"number", "text"} <= set(names["--column NAME="])
    assert {"cora", "two-rings"} <= set(names["--dataset"])
    assert {"f1", "roc_auc"} <= set(names["metrics"])


def test_its_options_are_those_of_its_fields(results):
    code, out, _ = results[1]["help"]
    assert code == 0
    words = " ".join(out.replace("│", " ").split())
    assert "--margin <float> By how much the logit of a known positive should exceed" in words
    assert "Default: 1.0." in words
    assert "[hinge|squared]" in words
    assert "sgc" in words, "the backbone is offered"
    assert "--delta" not in words, "the options of other methods are not"


def test_it_trains_saves_loads_and_repeats(results):
    folder, done = results
    code, out, err = done["fit"]
    assert code == 0, err
    record = json.loads(out)
    options = {"method": "ranking", "margin": 2.5, "penalty": "hinge", "backbone": "sgc", "dataset": "two-rings"}
    assert record["options"] | options == record["options"]
    assert record["metrics"]["roc_auc"] > 80
    assert done["predict"][0] == 0, done["predict"][2]
    fitted, predicted = ((folder / name).read_text().splitlines() for name in ("mine/scores.csv", "scores.csv"))
    assert [line.split(",")[:2] for line in fitted] == [line.split(",")[:2] for line in predicted]
    assert (folder / "again/scores.csv").read_bytes() == (folder / "mine/scores.csv").read_bytes()
    assert done["check"][0] == 0


def test_bad_options_are_explained(results):
    code, _, err = results[1]["bad"]
    assert code == 2
    assert "error: penalty must be one of hinge, squared; got 'cubic'" in err


def test_without_the_package_the_model_says_which_one_it_needs(results):
    folder, _ = results
    ((code, _, err), (other, _, words)) = run(
        [["predict", "mine", "--dataset", "cora", "--out", "other.csv"], [*FIT, "--out", "none"]], folder
    )
    assert code == other == 2
    assert "the method 'ranking' comes from pugnn-example, which is not installed here" in err
    assert "there is no method 'ranking'" in words
