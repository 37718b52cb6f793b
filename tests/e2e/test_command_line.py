"""The command line as people use it: what it prints, what it leaves on disk, and how it refuses."""

import json
import os
import pickle
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from unittest.mock import Mock

import pytest
from typer.testing import CliRunner

import pugnn
from e2e.own_tables import FIT, FIT_PU_GNN, NODES, PUGNN, TABLES, append, assert_refused, scores, snapshot, table, write
from pugnn import draw_benchmark, load_dataset
from pugnn.checkup import check_up
from pugnn.cli import app
from pugnn.methods import DEFAULT_METHOD, METHODS
from pugnn.training import load_sealed
from stopping import watched_epochs

COMMANDS = ("demo", "check", "fit", "predict", "export")
FILES = [
    "graph",
    "log.csv",
    "model.safetensors",
    "report.html",
    "run.json",
    "scores.csv",
    "scores.parquet",
]


# ---------------------------------------------------------------------- help and version


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "--seed" in result.output
    assert "--json" in result.output
    short = CliRunner().invoke(app, [command, "-h"])
    assert short.output == result.output


def test_help_names_every_command():
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    assert all(command in result.output for command in COMMANDS)


def test_help_of_fit_explains_every_option():
    result = CliRunner().invoke(app, ["fit", "--help"], env={"COLUMNS": "200"})
    for line in result.output.splitlines():
        words = line.strip("│ ").split()
        if words and words[0].startswith("--"):
            assert len(words) >= 4, f"no explanation: {line}"
    for text in ("pugnn fit --dataset cora --labels 10", "scores.csv", "--prior", f"Default: {DEFAULT_METHOD}."):
        assert text in result.output
    other = CliRunner().invoke(app, ["fit", "--method", "pu-gnn", "--help"], env={"COLUMNS": "200"}).output
    assert "--near-prior" in other
    assert "Paper: 0.6." in other


def test_version(pugnn_main):
    result = pugnn_main("--version")
    assert (result.code, result.out, result.err) == (0, f"{pugnn.__version__}\n", "")


def test_the_installed_command(here):
    command = Path(sys.executable).with_name("pugnn")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == pugnn.__version__
    bad = subprocess.run([command, "check", "--edges", "nowhere.csv"], capture_output=True)
    assert bad.returncode == 2
    assert bad.stdout == b""
    assert bad.stderr.decode() == "error: cannot read nowhere.csv: No such file or directory\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "--epochs", "many"],
        ["demo", "--epochs", "0"],
        ["fit", "--seed", "-1"],
        ["dance"],
        ["predict"],
        ["explain", "mine", "--top", "0"],
        ["suggest", "mine", "-n", "0"],
        ["suggest", "mine", "--for", "money"],
    ],
)
def test_wrong_usage(here, pugnn_main, arguments):
    before = snapshot(here)
    result = pugnn_main(*arguments)
    assert result.code == 2
    assert "Usage: pugnn" in result.err
    assert "Traceback" not in result.err
    assert result.out == ""
    assert snapshot(here) == before


# ---------------------------------------------------------------------- demo


def test_demo_as_json(here, pugnn_main):
    result = pugnn_main("demo", "--epochs", 3, "--json", "--out", "mine")
    assert result.code == 0
    record = json.loads(result.out)
    assert record["folder"] == "mine"
    assert sorted(path.name for path in (here / "mine").iterdir()) == FILES[1:], "the graph of a data set is not kept"
    assert {"folder": "mine", **json.loads((here / "mine" / "run.json").read_text())} == record
    assert record["options"]["dataset"] == "cora"
    assert (record["data"]["nodes"], record["data"]["edges"], record["data"]["features"]) == (2708, 5278, 1433)
    assert (record["labelled"], record["unlabelled"]) == (27, 2681)
    assert record["metrics"]["test_nodes"] == 2437
    assert len(scores(here / "mine" / "scores.csv")) == 2708
    assert len(table(here / "mine" / "log.csv")) == 3


def test_demo_as_a_table(here, pugnn_main):
    result = pugnn_main("demo", "--epochs", 3, "--labels", 10, "--seed", 4)
    assert result.code == 0
    record = json.loads((here / "runs" / "demo-1" / "run.json").read_text())
    text = result.out
    assert "10 positives among 2,708 nodes; 1,244 are truly positive (Neural_Networks, Probabilistic_Methods)" in text
    assert "Found: the 10 best of 2,698 unlabelled nodes" in text
    assert f"on 2,437 test nodes: macro-F1 {record['metrics']['macro_f1']:.1f} %, F1 " in text
    assert f"{record['metrics']['roc_auc']:.1f} %" in text
    assert f"{record['seconds']['training']:.1f} s training" in text
    assert "runs/demo-1" in text
    data = pugnn.load_dataset("cora")
    best = [row for row in table(here / "runs" / "demo-1" / "scores.csv") if row["known"] == "0"][:10]
    for row in best:
        label = data.class_names[data.labels[data.graph.positions([int(row["id"])])[0]]]
        right = "yes" if label in ("Neural_Networks", "Probabilistic_Methods") else "no"
        line = next(line for line in text.splitlines() if line.split()[:1] == [row["id"]])
        hops = row["distance"] or "unreachable"
        numbers = [f"{float(row['score']):.4f}", f"{float(row['log_odds']):.3f}"]
        assert line.split() == [row["id"], *numbers, hops, label, right]


def test_demo_with_relations(here, pugnn_main, monkeypatch):
    monkeypatch.setattr("pugnn.cli.commands.demo.ACCOUNTS", 300)
    result = pugnn_main("demo", "--relations", "--labels", 15)
    assert result.code == 0, result.err
    tables = here / "runs" / "demo-1-tables"
    assert {path.stem for path in tables.iterdir()} == {"accounts", "pays", "devices", "logins", "positives", "truth"}
    for words in ("pugnn synthetic --relations --nodes 300", "--edges account:uses:device=", "What each relation"):
        assert words in " ".join(result.out.split())
    record = json.loads((here / "runs" / "demo-1" / "run.json").read_text())
    assert record["options"]["target"] == "account"
    assert {row["id"][0] for row in table(here / "runs" / "demo-1" / "scores.csv")} == {"A"}
    assert_refused(pugnn_main("demo", "--relations", "--resume", "--out", "again"), ["--resume cannot be used"])


def test_every_demo_has_a_folder_of_its_own(here, pugnn_main):
    for number in (1, 2):
        assert json.loads(pugnn_main("demo", "--epochs", 1, "--json").out)["folder"] == f"runs/demo-{number}"
    assert sorted(path.name for path in (here / "runs").iterdir()) == ["demo-1", "demo-2"]
    first, second = (here / "runs" / f"demo-{number}" / "scores.csv" for number in (1, 2))
    assert first.read_bytes() == second.read_bytes(), "the same seed"


# ---------------------------------------------------------------------- fit and predict


def test_fit_then_predict(here, pugnn_main):
    priors = ["--near-prior", 0.7, "--far-prior", 0.3]
    result = pugnn_main(*FIT_PU_GNN, "--out", "mine", *priors, "--hidden", 5, "--threshold", "prior")
    assert result.code == 0, result.err
    assert "2 positives among 12 nodes" in result.out
    assert sorted(path.name for path in (here / "mine").iterdir()) == FILES
    record = json.loads((here / "mine" / "run.json").read_text())
    assert (
        record["options"]
        | {
            "edges": "edges.csv",
            "nodes": "nodes.csv",
            "positives": "positives.csv",
            "near_prior": 0.7,
            "hidden": 5,
            "epochs": 3,
            "threshold": "prior",
        }
        == (record["options"])
    )
    assert record["metrics"] is None
    assert record["prior"] == pytest.approx(0.3 * 0.7 + 0.7 * 0.3)
    fitted = table(here / "mine" / "scores.csv")
    assert {row["id"] for row in fitted} == set(NODES)
    assert {row["id"] for row in fitted if row["known"] == "1"} == {"n0", "n1"}
    assert sum(row["decision"] == "1" for row in fitted if row["known"] == "0") == round(10 * record["prior"])

    for number, model in enumerate(("mine", "mine/model.safetensors")):
        result = pugnn_main("predict", model, *TABLES, "--out", f"new/scores-{number}.csv", "--json")
        assert result.code == 0, result.err
        predicted = table(here / "new" / f"scores-{number}.csv")
        assert [(row["id"], row["score"], row["decision"]) for row in predicted] == [
            (row["id"], row["score"], row["decision"]) for row in fitted
        ]
        said = json.loads(result.out)
        assert not any(value for name, value in said.pop("changes").items() if name != "before")
        assert said == {
            "scores": f"new/scores-{number}.csv",
            "nodes": 12,
            "positive": sum(row["decision"] == "1" for row in fitted),
        }


def test_predict_another_graph(here, pugnn_main, run_folder):
    (here / "edges.csv").write_text("source,target\nn0,n1\nn1,new\n")
    (here / "nodes.csv").write_text("id,x,y,z\nnew,1,2,3\nn1,0,1,0\nn0,1,0,0\n")
    result = pugnn_main("predict", run_folder, *TABLES)
    assert result.code == 0, result.err
    assert result.out.startswith("3 nodes scored, ")
    assert set(scores(here / "scores.csv")) == {"n0", "n1", "new"}


def test_fit_names_its_runs_by_the_edges_file(here, pugnn_main):
    result = pugnn_main(*FIT, "--json")
    assert json.loads(result.out)["folder"] == "runs/edges-1"


def test_fit_a_named_data_set(here, pugnn_main):
    result = pugnn_main("fit", "--dataset", "cora", "--labels", 5, "--epochs", 2, "--json", "--unlabelled", "train")
    assert result.code == 0, result.err
    record = json.loads(result.out)
    assert (record["labelled"], record["unlabelled"], record["data"]["nodes"]) == (5, 266, 2708)
    assert record["folder"] == "runs/cora-1"
    known = [row for row in table(here / "runs" / "cora-1" / "scores.csv") if row["known"] == "1"]
    assert len(known) == 5
    result = pugnn_main("predict", "runs/cora-1", "--dataset", "cora")
    assert scores(here / "scores.csv") == scores(here / "runs" / "cora-1" / "scores.csv")


def test_a_warning_is_one_line_and_the_run_goes_on(here, pugnn_main):
    result = pugnn_main(*FIT_PU_GNN, "--delta", 30, "--out", "mine")
    assert result.code == 0
    assert result.err.startswith("warning: delta=30 leaves none of the 10 unlabelled nodes in the far set")
    assert result.err.count("\n") == 1
    assert len(json.loads((here / "mine" / "run.json").read_text())["warnings"]) == 1


def test_a_collapsed_training_says_so_everywhere(here, pugnn_main):
    """Told to expect few positives, nnPU with the sigmoid loss finds none and loses the ranking, too."""
    data = ["fit", "--dataset", "cora", "--labels", "27", "--epochs", "40"]
    result = pugnn_main(*data, "--method", "nnpu", "--prior", "0.1", "--out", "bad")
    assert result.code == 0
    assert "! This result is degenerate" in result.out
    assert "None of the 2,681 unlabelled nodes is decided positive" in result.out
    found = json.loads((here / "bad" / "run.json").read_text())["degenerate"]
    assert [reason["code"] for reason in found] == ["none-positive", "no-ranking"]
    page = (here / "bad" / "report.html").read_text()
    assert page.index("This result is degenerate") < page.index('id="summary"')

    result = pugnn_main(*data, "--method", "nnpu", "--prior", "0.45", "--learning-rate", "0.05", "--out", "good")
    assert result.code == 0
    assert "degenerate" not in result.out + result.err
    assert json.loads((here / "good" / "run.json").read_text())["degenerate"] == []
    assert "degenerate" not in (here / "good" / "report.html").read_text()


def test_isolated_nodes_are_scored_by_their_attributes(here, pugnn_main):
    append("nodes.csv", "hermit,1,2,3\n")(here)
    result = pugnn_main(*FIT, "--out", "mine")
    assert result.code == 0
    assert "note: " in result.err
    assert "hermit" in scores(here / "mine" / "scores.csv")


def test_ids_that_look_like_markup(here, pugnn_main):
    for name in ("edges.csv", "nodes.csv", "positives.csv"):
        path = here / name
        path.write_text(path.read_text().replace("n11", "[red]").replace("n10", "[/]").replace("n9", ":cat:"))
    result = pugnn_main(*FIT, "--out", "[bold]mine")
    assert result.code == 0, result.err
    assert all(text in result.out for text in ("[red]", "[/]", ":cat:", "[bold]mine"))
    again = pugnn_main(*FIT, "--out", "[bold]mine")
    assert again.err.startswith("error: [bold]mine already exists")


# ---------------------------------------------------------------------- check


def test_check_of_tables(here, pugnn_main):
    append("edges.csv", "n1,n0\nn3,n3\n")(here)
    before = snapshot(here)
    result = pugnn_main("check", *TABLES, "--positives", "positives.csv", "--json")
    assert result.code == 0
    record = json.loads(result.out)
    assert record["options"] == {"edges": "edges.csv", "nodes": "nodes.csv", "positives": "positives.csv"}
    expected = {"nodes": 12, "edges": 11, "features": 3, "isolated": 0, "components": 1, "largest_component": 12}
    assert record["statistics"] | expected == record["statistics"]
    assert record["reach"]["labelled"] == 2
    assert [(ring["distance"], ring["nodes"]) for ring in record["rings"]["rings"]] == [
        (hops, 1) for hops in range(1, 11)
    ]
    assert [(line["column"], line["kind"]) for line in record["recipe"]] == [(name, "number") for name in "xyz"]
    assert any("self loop" in note for note in record["notes"])
    assert snapshot(here) == before, "check writes nothing"


def test_check_in_words(here, pugnn_main):
    result = pugnn_main("check", "--dataset", "cora", "--labels", 27)
    assert result.code == 0
    assert "Positives cluster" in result.out
    assert "Advice: what the default method will do here" in result.out
    tables = pugnn_main("check", *TABLES, "--positives", "positives.csv")
    assert "How attributes become features" in tables.out
    assert "standardised" in tables.out


def test_the_command_of_the_check_up_can_be_run_as_printed(here, pugnn_main):
    (here / "edges.csv").rename(here / "my edges.csv")
    data = ["--edges", "my edges.csv", "--nodes", "nodes.csv", "--positives", "positives.csv", "--column", "x=category"]
    printed = pugnn_main("check", *data, "--seed", 3).out
    (line,) = (line for line in printed.splitlines() if line.startswith("  pugnn fit "))
    assert pugnn_main(*shlex.split(line)[1:]).code == 0
    record = json.loads((here / "runs" / "myedges-1" / "run.json").read_text())
    expected = {"method": DEFAULT_METHOD, "edges": "my edges.csv", "column": ["x=category"], "seed": 3}
    assert record["options"] | expected == record["options"]


def test_fit_begins_with_the_check_up(here, pugnn_main):
    result = pugnn_main("fit", "--dataset", "cora", "--labels", 27, "--epochs", 1)
    assert result.out.index("Positives cluster") < result.out.index("Found: ")
    record = json.loads((here / "runs" / "cora-1" / "run.json").read_text())
    assert record["check_up"] == json.loads(
        json.dumps(check_up(draw_benchmark(load_dataset("cora"), labels=27, seed=0).task).to_plain())
    )


# ---------------------------------------------------------------------- export and config


def test_exported_tables_give_the_scores_of_the_data_set(here, pugnn_main):
    assert pugnn_main("export", "--dataset", "cora", "--labels", 10, "--seed", 3).code == 0
    folder = here / "cora-tables"
    assert sorted(path.name for path in folder.iterdir()) == ["edges.csv", "nodes.csv", "positives.csv", "truth.csv"]
    tables = {name: f"cora-tables/{name}.csv" for name in ("edges", "nodes", "positives", "truth")}
    named = pugnn_main("fit", "--dataset", "cora", "--labels", 10, "--seed", 3, "--epochs", 5, "--out", "named")
    given = pugnn_main("fit", *as_options(tables), "--seed", 3, "--epochs", 5, "--out", "given")
    assert (named.code, given.code, given.err) == (0, 0, "")
    expected = {f"cora-{node_id}": score for node_id, score in scores(here / "named" / "scores.csv").items()}
    assert scores(here / "given" / "scores.csv") == expected, "to the last bit"
    record = json.loads((here / "given" / "run.json").read_text())
    assert record["metrics"]["test_nodes"] == 2698, "with the truth, all unlabelled nodes are test nodes"


def test_a_run_is_a_config_that_repeats_it(here, pugnn_main):
    chosen = ["--method", "dist-pu", "--prior", 0.2, "--hidden", 4, "--seed", 5, "--column", "x=category"]
    assert pugnn_main(*FIT, *chosen, "--out", "first").code == 0
    assert pugnn_main("fit", "--config", "first/run.json", "--out", "again").code == 0
    for name in ("scores.csv", "scores.parquet"):
        assert (here / "first" / name).read_bytes() == (here / "again" / name).read_bytes()
    first, again = (json.loads((here / run / "run.json").read_text()) for run in ("first", "again"))
    assert first["options"] == again["options"]
    other = json.loads(pugnn_main("fit", "--config", "first/run.json", "--seed", 6, "--json").out)
    assert other["options"] == {**first["options"], "seed": 6}, "the command line counts more"


def test_a_config_by_hand(here, pugnn_main):
    lines = ['edges = "edges.csv"', 'nodes = "nodes.csv"', 'positives = "positives.csv"']
    lines += ['method = "pu-gnn"', "near-prior = 0.7"]
    lines += ["epochs = 2", 'out = "mine"', "json = true", "threshold = 0.4", "[column]", 'y = "ignore"']
    (here / "my.toml").write_text("\n".join(lines))
    result = pugnn_main("fit", "--config", "my.toml")
    assert result.code == 0, result.err
    record = json.loads(result.out)
    assert record["folder"] == "mine"
    assert record["options"] | {"near_prior": 0.7, "epochs": 2, "threshold": 0.4} == record["options"]
    assert record["options"]["column"] == ["y=ignore"]
    assert record["data"]["features"] == 2
    assert pugnn_main("check", "--config", "my.toml").code == 0, "one file for all commands"


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ('methd = "nnpu"', ["there is no option 'methd'; did you mean 'method'?"]),
        ("gargoyle = 1", ["there is no option 'gargoyle'"]),
        ("epochs = 3.5", ["epochs must be a whole number; got 3.5"]),
        ("epochs = true", ["epochs must be a whole number; got True"]),
        ('method = "nnpu"\nprior = [0.1, 0.2]', ["prior must be text; got [0.1, 0.2]"]),
        ('method = "naive"\nprior = "auto"', ["prior must be a number; got 'auto'"]),
        ('method = "naive"\nbalanced = 1', ["balanced must be true or false; got 1"]),
        ('method = "naive"\ndelta = 2', ["the method has no option 'delta'"]),
        ('edges = ["a", 3]', ["edges must be text, or a table or list of text; got ['a', 3]"]),
        ("column = 3", ["column must be text, or a table or list of text; got 3"]),
        ('config = "other.toml"', ["a config cannot name another config"]),
        ("epochs 3", ["bad.toml is not valid TOML", "line 1"]),
        (b"\xff\xfe", ["bad.toml is not a UTF-8 text file"]),
    ],
)
def test_a_bad_config(here, pugnn_main, text, fragments):
    write("bad.toml", text)(here)
    before = snapshot(here)
    assert_refused(pugnn_main("fit", "--config", "bad.toml"), ["bad.toml", *fragments])
    assert snapshot(here) == before


@pytest.mark.parametrize(
    ("first", "second", "dropped", "options"),
    [
        (["--epochs", "3"], "centroid", "epochs", {"method": "centroid"}),
        (["--epochs", "3"], "nnpu", None, {"epochs": 3, "backbone": "gcn", "hidden": 16, "weight_decay": 5e-4}),
        (["--prior", "0.3"], "label-propagation", None, {"prior": 0.3, "restart": 0.1}),
        (["--prior", "0.1..0.3", "--epochs", "2"], "naive", "prior", {"epochs": 2}),
        (["--method", "nnpu", "--surrogate", "logistic", "--epochs", "2"], "upu", None, {"surrogate": "logistic"}),
        (["--method", "nnpu", "--backbone", "sage", "--epochs", "2"], "views", "backbone",
         {"backbone": "mlp", "epochs": 2}),
        (["--method", "centroid"], "smoothed-logistic", None, {"inverse_penalty": 10.0}),
    ],
)  # fmt: skip
def test_a_run_can_be_repeated_with_another_method(here, pugnn_main, first, second, dropped, options):
    assert pugnn_main(*FIT[:-2], *first, "--threshold", "0.4", "--seed", 7, "--out", "first").code == 0
    result = pugnn_main("fit", "--config", "first/run.json", "--method", second, "--out", "second", "--json")
    assert result.code == 0, result.err
    words = f"not used from first/run.json, because {second} has no such option: {dropped}"
    assert result.err.count("not used from") == (dropped is not None)
    assert dropped is None or words in result.err
    record = json.loads(result.out)["options"]
    assert record | {"edges": "edges.csv", "threshold": 0.4, "seed": 7, "method": second, **options} == record


def test_a_config_for_another_method(here, pugnn_main):
    lines = ['edges = "edges.csv"', 'positives = "positives.csv"', 'method = "nnpu"', "beta = 0.5", "epochs = 2"]
    (here / "my.toml").write_text("\n".join(lines))
    result = pugnn_main("fit", "--config", "my.toml", "--method=naive", "--out", "mine", "--json")
    assert "not used from my.toml, because naive has no such option: beta\n" in result.err
    assert json.loads(result.out)["options"]["epochs"] == 2
    (here / "my.toml").write_text("\n".join([*lines, "delta = 3"]))
    words = ["my.toml: the method has no option 'delta'"]
    assert_refused(pugnn_main("fit", "--config", "my.toml", "--method", "naive"), words)
    assert_refused(pugnn_main("fit", "--config", "my.toml", "--method", "nnpu"), words)
    (here / "my.toml").write_text("\n".join([*lines, "btea = 3"]))
    assert_refused(pugnn_main("fit", "--config", "my.toml", "--method", "naive"), ["there is no option 'btea'"])


@pytest.mark.parametrize("command", ["fit", "check", "sweep"])
@pytest.mark.parametrize(
    "keys", [("learning-rate", "learning_rate"), ("label-ratio", "label_ratio"), ("near_prior", "near-prior")]
)
def test_two_spellings_of_one_option(here, pugnn_main, command, keys):
    (here / "my.toml").write_text("".join(f"{key} = 0.1\n" for key in keys))
    words = f"my.toml: the option '{keys[0].replace('-', '_')}' is given twice; keep one of them"
    assert_refused(pugnn_main(command, "--config", "my.toml"), [words])


def test_a_title(here, pugnn_main):
    result = pugnn_main(*FIT, "--out", "mine", "--title", "Fraud <in> March\n")
    assert result.code == 0, result.err
    assert "Fraud <in> March" in result.out
    assert "<title>Fraud &lt;in&gt; March</title>" in (here / "mine" / "report.html").read_text()
    assert pugnn_main("fit", "--config", "mine/run.json", "--out", "again").code == 0
    assert "<h1>Fraud &lt;in&gt; March</h1>" in (here / "again" / "report.html").read_text()
    assert pugnn_main(*FIT, "--out", "runs/other").code == 0
    assert "<title>Report on other</title>" in (here / "runs" / "other" / "report.html").read_text()
    assert "title" not in json.loads((here / "runs" / "other" / "run.json").read_text())["options"]


@pytest.mark.parametrize("text", ["{}", "[1]", "not json", '{"options": 3}'])
def test_json_that_is_no_run(here, pugnn_main, text):
    (here / "bad.json").write_text(text)
    assert_refused(pugnn_main("fit", "--config", "bad.json"), ["bad.json is not the run.json of a run"])
    assert_refused(pugnn_main("fit", "--config", "none.json"), ["cannot read none.json: No such file"])


# ---------------------------------------------------------------------- stopped runs


def test_a_killed_run_goes_on_to_the_same_scores(here, pugnn_main):
    options = [*FIT[:-1], "700", "--method", "pu-gnn", "--seed", "3", "--negatives", "5"]
    process = subprocess.Popen(
        [*PUGNN, *options, "--out", "mine"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    checkpoint = here / "mine.partial" / "checkpoint.safetensors"
    give_up = time.monotonic() + 300
    while not checkpoint.exists() and process.poll() is None and time.monotonic() < give_up:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (here / "mine").exists()
    assert 20 <= len(load_sealed(checkpoint)[1]["parts"][0]["log"]) < 700

    refused = pugnn_main(*options, "--out", "mine")
    assert refused.code == 2
    assert "holds a run that was stopped. Add --resume" in refused.err

    assert pugnn_main(*options, "--out", "mine", "--resume").code == 0
    assert pugnn_main(*options, "--out", "whole").code == 0
    assert sorted(path.name for path in (here / "mine").iterdir()) == FILES
    assert not (here / "mine.partial").exists()
    assert (here / "mine" / "scores.csv").read_bytes() == (here / "whole" / "scores.csv").read_bytes()
    assert len(table(here / "mine" / "log.csv")) == 700


def test_a_run_that_is_killed_while_it_explains_is_complete(here, pugnn_main):
    killed = "import os, signal, pugnn.runs.training_run as run; from pugnn.cli import main\n"
    killed += "run.explain_best = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\nmain()"
    done = subprocess.run([sys.executable, "-c", killed, *FIT, "--out", "mine"], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert sorted(path.name for path in here.iterdir() if path.name.startswith("mine")) == ["mine"]
    assert sorted(path.name for path in (here / "mine").iterdir()) == FILES
    (warning,) = json.loads((here / "mine" / "run.json").read_text())["warnings"][-1:]
    assert warning.startswith("the run was stopped before it had suggested nodes and explained the best finds")
    assert pugnn_main("suggest", "mine").code == 0
    assert pugnn_main("explain", "mine", "n5").code == 0


def test_a_run_that_is_interrupted_while_it_explains_says_that_it_is_complete(here, pugnn_main, monkeypatch):
    monkeypatch.setattr("pugnn.runs.training_run.explain_best", Mock(side_effect=KeyboardInterrupt))
    result = pugnn_main(*FIT, "--out", "mine")
    assert result.code == 130
    said = ["stopped; the run in mine is complete, but for suggestions and explanations"]
    assert [line for line in result.err.splitlines() if line.startswith("stopped")] == said
    assert sorted(path.name for path in (here / "mine").iterdir()) == FILES


def test_a_run_that_is_interrupted_early_says_that_nothing_was_kept(here, pugnn_main):
    with watched_epochs(stop_after=1, error=KeyboardInterrupt):
        result = pugnn_main(*FIT)
    assert result.err.splitlines() == ["stopped before the first checkpoint; nothing was kept"]
    assert not (here / "runs").exists()


def test_an_interrupted_run_says_how_to_go_on(here, pugnn_main):
    with watched_epochs(stop_after=25, error=KeyboardInterrupt):
        result = pugnn_main(*FIT[:-1], "30")
    assert result.code not in (0, 2)
    assert "stopped; the same options with --out runs/edges-1 --resume continue" in result.err
    assert "Traceback" not in result.err
    assert [path.name for path in (here / "runs").iterdir()] == ["edges-1.partial"]
    assert pugnn_main(*FIT[:-1], "30", "--out", "runs/edges-1", "--resume").code == 0
    assert [path.name for path in (here / "runs").iterdir()] == ["edges-1"]


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["fit"], ["--dataset NAME, or --edges FILE"]),
        (["fit", "--edges", "edges.csv"], ["--positives FILE"]),
        (["check", *TABLES], ["--positives FILE"]),
        (["export"], ["--dataset NAME"]),
        (["export", "--dataset", "cora", "--out", "edges.csv"], ["edges.csv already exists"]),
        (["export", "--dataset", "cora", "--out", "edges.csv/x"], ["cannot write edges.csv/x", "Choose another place"]),
        (["fit", *TABLES, "--truth", "positives.csv"], ["--truth", "--positives", "Give both"]),
        ([*FIT, "--column", "x"], ["--column takes NAME=KIND", "'x'"]),
        (["fit", *TABLES], ["--positives FILE"]),
        (["fit", *TABLES, "--dataset", "cora"], ["--edges cannot be used with --dataset"]),
        (["fit", "--dataset", "cora", "--positives", "positives.csv"], ["--positives cannot be used with --dataset"]),
        (["fit", "--dataset", "atlantis"], ["no data set named 'atlantis'", "citeseer, cora"]),
        (["fit", "--dataset", "cora", "--labels", "500"], ["cannot label 500 nodes"]),
        (["fit", "--dataset", "cora", "--labels", "0"], ["labels must be a whole number, at least 1; got 0"]),
        (["fit", "--dataset", "cora", "--label-ratio", "2"], ["label_ratio", "2.0"]),
        (["fit", "--dataset", "cora", "--label-ratio-of", "x"], ["label_ratio_of", "'x'"]),
        (["fit", "--dataset", "cora", "--unlabelled", "x"], ["unlabelled", "'x'"]),
        ([*FIT, "--labels", "5"], ["--labels can only be used with --dataset"]),
        ([*FIT, "--unlabelled", "train"], ["--unlabelled can only be used with --dataset"]),
        ([*FIT, "--resume"], ["--resume needs --out"]),
        ([*FIT, "--resume", "--out", "mine"], ["nothing to resume", "mine.partial"]),
        ([*FIT, "--out", "."], ["already exists"]),
        ([*FIT, "--out", "edges.csv"], ["edges.csv already exists", "Choose another --out"]),
        ([*FIT, "--out", "edges.csv/mine"], ["cannot make the folder edges.csv/mine.partial"]),
        ([*FIT, "--out", "x" * 300], ["cannot make the folder", "too long"]),
        ([*FIT, "--threshold", "high"], ["threshold", "'high'"]),
        ([*FIT, "--threshold", "1.5"], ["threshold", "1.5"]),
        ([*FIT_PU_GNN, "--backbone", "cnn"], ["no backbone 'cnn'", "gcn"]),
        ([*FIT, "--dropout", "1"], ["dropout", "1.0"]),
        ([*FIT, "--device", "abacus"], ["no device 'abacus'"]),
        ([*FIT_PU_GNN, "--delta", "0"], ["delta", "0"]),
        ([*FIT_PU_GNN, "--near-prior", "1.2"], ["near_prior", "1.2"]),
        ([*FIT_PU_GNN, "--negatives", "0"], ["negatives", "0"]),
        ([*FIT, "--method", "nnpu", "--correction", "max"], ["correction", "'max'"]),
        ([*FIT_PU_GNN, "--learning-rate", "1e30", "--out", "a/b/mine"], ["the loss became", "Lower the learning rate"]),
        (["check"], ["--dataset NAME, or --edges FILE"]),
        (["demo", "--labels", "2000"], ["cannot label 2000 nodes"]),
        (["demo", "--out", "edges.csv"], ["edges.csv already exists"]),
        (["predict", "nowhere", *TABLES], ["cannot read nowhere: No such file"]),
        (["predict", ".", *TABLES], ["cannot read model.safetensors: No such file"]),
        (["predict", "edges.csv", *TABLES], ["edges.csv is not an intact pugnn file"]),
    ],
)
def test_bad_options(here, pugnn_main, arguments, fragments):
    before = snapshot(here)
    assert_refused(pugnn_main(*arguments), fragments)
    assert snapshot(here) == before


def test_run_folders_that_exist_are_left_alone(here, pugnn_main):
    (here / "mine").mkdir()
    (here / "mine" / "precious").write_text("1")
    (here / "other.partial").mkdir()
    (here / "other.partial" / "checkpoint.safetensors").write_text("not one of ours")
    before = snapshot(here)
    for command in (FIT, ["demo"]):
        assert_refused(pugnn_main(*command, "--out", "mine"), ["mine already exists and is not overwritten", "--out"])
        assert_refused(pugnn_main(*command, "--out", "other"), ["other.partial holds a run that was stopped"])
    assert_refused(pugnn_main(*FIT, "--out", "mine", "--resume"), ["mine already exists"])
    assert_refused(
        pugnn_main(*FIT, "--out", "other", "--resume"), ["checkpoint.safetensors is not an intact pugnn file"]
    )
    assert snapshot(here) == before


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda content: content[:-1], id="truncated"),
        pytest.param(lambda content: b"", id="empty"),
        pytest.param(lambda content: content[:-1] + bytes([content[-1] ^ 1]), id="one bit"),
        pytest.param(lambda content: content[:200] + b"x" + content[201:], id="one byte of the header"),
        pytest.param(lambda content: pickle.dumps({"weights": [1, 2, 3]}), id="pickle"),
    ],
)
def test_a_spoilt_model(here, pugnn_main, run_folder, spoil):
    (here / "model.safetensors").write_bytes(spoil((run_folder / "model.safetensors").read_bytes()))
    before = snapshot(here)
    result = pugnn_main("predict", "model.safetensors", *TABLES)
    assert_refused(result, ["model.safetensors is not an intact pugnn file", "Use another copy or train again"])
    assert snapshot(here) == before


def test_predict_does_not_overwrite(here, pugnn_main, run_folder):
    (here / "scores.csv").write_text("mine\n")
    before = snapshot(here)
    assert_refused(pugnn_main("predict", run_folder, *TABLES), ["scores.csv already exists", "--out"])
    assert_refused(pugnn_main("predict", run_folder, *TABLES, "--out", "."), ["already exists"])
    assert_refused(pugnn_main("predict", run_folder, *TABLES, "--out", "edges.csv/x"), ["cannot write edges.csv/x"])
    assert_refused(pugnn_main("predict", run_folder, *TABLES, "--out", "x" * 300), ["cannot write", "too long"])
    assert snapshot(here) == before


def test_every_option_of_pu_gnn_reaches_the_run(here, pugnn_main):
    method = {
        "delta": 2,
        "near_prior": 0.7,
        "far_prior": 0.2,
        "alpha": 0.02,
        "negatives": 7,
    }
    parameters = {
        "backbone": "sage",
        "hidden": 5,
        "dropout": 0.25,
        "epochs": 3,
        "learning_rate": 0.02,
        "weight_decay": 0.001,
        "threshold": 0.4,
        "seed": 9,
    }
    options = [f"--{name.replace('_', '-')}={value}" for name, value in {**method, **parameters}.items()]
    result = pugnn_main(*FIT_PU_GNN, "--json", *options)
    record = json.loads(result.out)
    assert record["options"] | {"method": "pu-gnn", **method, **parameters} == record["options"]


OPTIONS_OF_METHODS = {
    "views": {"prior": 0.2},
    "smoothed-logistic": {"prior": 0.2, "inverse_penalty": 5.0},
    "centroid": {"prior": 0.2},
    "naive": {"balanced": True, "prior": 0.2},
    "upu": {"prior": 0.2, "surrogate": "logistic"},
    "nnpu": {"prior": 0.2, "surrogate": "logistic", "correction": "clamp", "beta": 0.1, "gamma": 0.5},
    "dist-pu": {"prior": 0.2, "variant": "full"},
    "lsdan": {"prior": 0.2, "hops": 2, "risk": "unbiased"},
    "grab": {"rounds": 1, "homophily": 0.8},
    "label-propagation": {"prior": 0.2, "normalisation": "walk", "restart": 0.3},
    "graphany": {"prior": 0.2},
}


def as_options(values: dict[str, object]) -> list[str]:
    return [f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}") for name, value in values.items()]


@pytest.mark.parametrize("method", OPTIONS_OF_METHODS)
def test_every_option_of_the_other_methods_reaches_the_run(here, pugnn_main, method):
    given = OPTIONS_OF_METHODS[method]
    assert set(given) == {field.name for field in fields(METHODS[method])}, "none is left out"
    assert all(getattr(METHODS[method], name, None) != value for name, value in given.items()), "no defaults"
    parameters = {"hidden": 8, "dropout": 0.25, "epochs": 2, "learning_rate": 0.02, "weight_decay": 0.001, "seed": 9}
    if not METHODS[method].trains:
        parameters = {"seed": 9}
    parameters = {name: value for name, value in parameters.items() if name not in METHODS[method].unused}
    result = pugnn_main(*FIT[:-2], "--json", "--method", method, *as_options({**given, **parameters}))
    assert result.code == 0, result.err
    record = json.loads(result.out)
    assert record["options"] | {"method": method, **given, **parameters} == record["options"]


# ---------------------------------------------------------------------- the other methods


@pytest.mark.parametrize("method", METHODS)
def test_every_method_fits_and_predicts(here, pugnn_main, method):
    needed = ["--prior", "0.3"] if method in ("upu", "nnpu", "dist-pu", "lsdan", "label-propagation") else []
    trains_nothing = not METHODS[method].trains
    fit = FIT[:-2] if trains_nothing else FIT  # it has no epochs
    result = pugnn_main(*fit, "--method", method, *needed, "--out", "mine")
    assert (result.code, result.err) == (0, "")
    assert "2 positives among 12 nodes" in result.out
    files = [name for name in FILES if not (trains_nothing and name == "log.csv")]
    assert sorted(path.name for path in (here / "mine").iterdir()) == files
    record = json.loads((here / "mine" / "run.json").read_text())
    assert record["options"]["method"] == method
    fitted = table(here / "mine" / "scores.csv")
    assert {row["id"] for row in fitted} == set(NODES)
    assert all(0 <= float(row["score"]) <= 1 for row in fitted)
    if not trains_nothing:
        log = table(here / "mine" / "log.csv")
        assert [int(row["epoch"]) for row in log] == list(range(1, len(log) + 1))
    assert pugnn_main("predict", "mine", *TABLES).code == 0
    assert table(here / "scores.csv") == fitted


@pytest.mark.parametrize("method", METHODS)
def test_every_method_remembers_checked_nodes(here, pugnn_main, method):
    needed = ["--prior", "0.3"] if method in ("upu", "nnpu", "dist-pu", "lsdan", "label-propagation") else []
    (here / "checked.csv").write_text("id,verdict\nn2,yes\nn3,no\nn9,no\n")
    fit = FIT if METHODS[method].trains else FIT[:-2]
    assert pugnn_main(*fit, "--method", method, *needed, "--checked", "checked.csv", "--out", "mine").code == 0
    for positives in ([], ["--positives", "positives.csv"]):
        out = f"again-{len(positives)}.csv"
        assert pugnn_main("predict", "mine", *TABLES, *positives, "--out", out).code == 0
        assert table(here / out) == table(here / "mine" / "scores.csv")
    rows = {row["id"]: row for row in table(here / out)}
    assert [(rows[node]["known"], float(rows[node]["score"]), rows[node]["decision"]) for node in ("n3", "n9")] == [
        ("-1", 0.0, "0"),
        ("-1", 0.0, "0"),
    ]
    assert {node for node, row in rows.items() if row["known"] == "1"} == {"n0", "n1", "n2"}


def test_label_propagation_predicts_no_other_graph(here, pugnn_main):
    assert pugnn_main(*FIT[:-2], "--method", "label-propagation", "--prior", "0.3", "--out", "mine").code == 0
    append("edges.csv", "n0,n5\n")(here)
    before = snapshot(here)
    assert_refused(pugnn_main("predict", "mine", *TABLES), ["cannot score a graph it was not fitted on", "Fit it"])
    assert snapshot(here) == before


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["--method", "magic"], ["no method 'magic'", *METHODS]),
        (["--prior", "0.3..0.1"], ["the range of the prior is reversed: '0.3..0.1'; write 0.1..0.3"]),
        (["--prior", "many"], ["prior must be auto, a number, or a range such as 0.02..0.1; got 'many'"]),
        (["--prior", "0.2..1"], ["must lie between 0 and 1; got '0.2..1'"]),
        (["--method", "pu-gnn", "--prior", "0"], ["must lie between 0 and 1; got '0'"]),
        (["--delta", "2"], ["views has no option --delta; it has --prior", "--delta belongs to pu-gnn."]),
        (["--method", "nnpu", "--prior", "0.3", "--delta", "2"], ["nnpu has no option --delta", "it has --prior"]),
        (["--method", "upu", "--prior", "0.3", "--gamma", "1"], ["upu has no option --gamma"]),
        (["--method", "naive", "--rounds", "1"], ["naive has no option --rounds; it has --balanced, --prior"]),
        (["--balanced"], ["views has no option --balanced"]),
        (["--method", "nnpu", "--prior", "1.5"], ["prior is a share of the unlabelled nodes", "1.5"]),
        (["--method", "lsdan", "--prior", "0.3", "--backbone", "gcn"], ["lsdan has its own network", "'gcn'"]),
        (
            ["--method", "dist-pu", "--prior", "0.3", "--variant", "full", "--backbone", "gcn"],
            ["mixes embeddings", "Use gcn-linear, appnp or mlp"],
        ),
        (["--method", "grab", "--homophily", "1"], ["homophily must lie between 0 and 1", "1.0"]),
        (["--method", "label-propagation", "--prior", "0.3", "--restart", "0"], ["restart must lie between 0 and 1"]),
        (["--method", "label-propagation", "--prior", "0.3", "--hidden", "4"], ["trains no network, so hidden"]),
    ],
)
def test_bad_options_of_the_other_methods(here, pugnn_main, arguments, fragments):
    before = snapshot(here)
    assert_refused(pugnn_main(*FIT[:-2], *arguments), fragments)
    assert snapshot(here) == before


@pytest.mark.parametrize(
    ("prior", "in_toml", "source"),
    [
        ("auto", '"auto"', "estimated"),
        ("0.2", "0.2", "given"),
        ("0.2..0.2", '"0.2..0.2"', "given"),
        ("0.1..0.3", '"0.1..0.3"', "range"),
    ],
)
@pytest.mark.parametrize("method", ["centroid", "label-propagation"])
def test_the_prior_is_estimated_or_given_or_kept_within_a_range(here, pugnn_main, method, prior, in_toml, source):
    fit = [*FIT[:-2], "--method", method]
    assert pugnn_main(*fit, "--prior", prior, "--out", "mine").code == 0
    settled = json.loads((here / "mine" / "run.json").read_text())["settled_prior"]
    assert settled["source"] == source
    assert {"given": 0.2, "range": 0.1}.get(source, 0) <= settled["value"]
    assert settled["value"] <= {"given": 0.2, "range": 0.3}.get(source, 1)
    (here / "my.toml").write_text(f"prior = {in_toml}\n")
    for out, config in (("from-toml", "my.toml"), ("again", "mine/run.json")):
        assert pugnn_main(*fit, "--config", config, "--out", out).code == 0
        assert json.loads((here / out / "run.json").read_text())["settled_prior"] == settled


def test_the_seed_of_check_draws_other_positives(pugnn_main):
    rings = [json.loads(pugnn_main("check", "--dataset", "cora", "--json", "--seed", s).out)["rings"] for s in "121"]
    assert rings[0] == rings[2] != rings[1]


def test_demo_can_be_resumed(here, pugnn_main):
    assert_refused(pugnn_main("demo", "--resume"), ["--resume needs --out"])
    assert_refused(pugnn_main("demo", "--resume", "--out", "none"), ["there is nothing to resume"])
