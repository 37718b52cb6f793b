"""The command line as people use it: what it prints, what it leaves on disk, and how it refuses."""

import csv
import hashlib
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import pugnn
from pugnn.cli import app
from pugnn.methods import METHODS
from pugnn.training import load_sealed
from pugnn.training.progress import EpochProgress

COMMANDS = ("demo", "fit", "predict", "info")
TABLES = ["--edges", "edges.csv", "--features", "features.csv"]
FIT = ["fit", *TABLES, "--positives", "positives.csv", "--epochs", "3"]
FILES = ["log.csv", "model.safetensors", "run.json", "scores.csv", "training.png"]
ENTRY = [sys.executable, "-c", "from pugnn.cli import main; main()"]
NODES = [f"n{i}" for i in range(12)]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An own folder with a path of twelve nodes in CSV files, the first two known positives."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("PUGNN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PUGNN_DATA", raising=False)
    write_tables(folder)
    return folder


def write_tables(folder: Path) -> None:
    x = np.random.default_rng(0).normal(size=(12, 3)).round(3)
    edges = [f"{a},{b}" for a, b in pairwise(NODES)]
    features = [f"{node},{','.join(map(str, row))}" for node, row in zip(NODES, x.tolist(), strict=True)]
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    (folder / "features.csv").write_text("\n".join(["id,x,y,z", *features]) + "\n")
    (folder / "positives.csv").write_text("id\nn0\nn1\n")


def snapshot(folder: Path) -> dict[str, tuple[int, str] | None]:
    """Names, sizes and hashes of all there is below a folder."""
    return {
        str(path.relative_to(folder)): (
            None if path.is_dir() else (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        )
        for path in sorted(folder.rglob("*"))
    }


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def scores(path: Path) -> dict[str, str]:
    return {row["id"]: row["score"] for row in table(path)}


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
    for text in ("pugnn fit --dataset cora --labels 10", "scores.csv", "--near-prior", "Default: 0.6."):
        assert text in result.output


def test_version(pugnn_main):
    result = pugnn_main("--version")
    assert (result.code, result.out, result.err) == (0, f"{pugnn.__version__}\n", "")


def test_the_entry_point_in_a_process_of_its_own(here):
    done = subprocess.run([*ENTRY, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == pugnn.__version__
    bad = subprocess.run([*ENTRY, "info", "--edges", "nowhere.csv", "--features", "features.csv"], capture_output=True)
    assert bad.returncode == 2
    assert bad.stdout == b""
    assert bad.stderr.decode() == "error: cannot read nowhere.csv: No such file or directory\n"


@pytest.mark.parametrize(
    "arguments",
    [["fit", "--epochs", "many"], ["demo", "--epochs", "0"], ["fit", "--seed", "-1"], ["dance"], ["predict"]],
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
    assert sorted(path.name for path in (here / "mine").iterdir()) == FILES
    assert {"folder": "mine", **json.loads((here / "mine" / "run.json").read_text())} == record
    assert record["data"]["dataset"] == "cora"
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
    assert f"{record['metrics']['macro_f1']:.1f} % on 2,437 test nodes" in text
    assert f"{record['metrics']['roc_auc']:.1f} %" in text
    assert f"{record['seconds']['training']:.1f} s training" in text
    assert "runs/demo-1" in text
    data = pugnn.load_dataset("cora")
    best = [row for row in table(here / "runs" / "demo-1" / "scores.csv") if row["known"] == "0"][:10]
    for row in best:
        label = data.class_names[data.labels[data.graph.positions([int(row["id"])])[0]]]
        right = "yes" if label in ("Neural_Networks", "Probabilistic_Methods") else "no"
        line = next(line for line in text.splitlines() if line.split()[:1] == [row["id"]])
        assert line.split() == [row["id"], f"{float(row['score']):.4f}", row["distance"], label, right]


def test_every_demo_has_a_folder_of_its_own(here, pugnn_main):
    for number in (1, 2):
        assert json.loads(pugnn_main("demo", "--epochs", 1, "--json").out)["folder"] == f"runs/demo-{number}"
    assert sorted(path.name for path in (here / "runs").iterdir()) == ["demo-1", "demo-2"]
    first, second = (here / "runs" / f"demo-{number}" / "scores.csv" for number in (1, 2))
    assert first.read_bytes() == second.read_bytes(), "the same seed"


# ---------------------------------------------------------------------- fit and predict


def test_fit_then_predict(here, pugnn_main):
    result = pugnn_main(*FIT, "--out", "mine", "--near-prior", 0.7, "--hidden", 5, "--threshold", "prior")
    assert result.code == 0, result.err
    assert "2 positives among 12 nodes" in result.out
    assert sorted(path.name for path in (here / "mine").iterdir()) == FILES
    record = json.loads((here / "mine" / "run.json").read_text())
    assert record["data"]["edges_file"] == "edges.csv"
    assert record["data"]["positives_file"] == "positives.csv"
    assert record["method"]["near_prior"] == 0.7
    assert (record["parameters"]["hidden"], record["parameters"]["epochs"]) == (5, 3)
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
        assert [(row["id"], row["score"], row["decision"], row["rank"]) for row in predicted] == [
            (row["id"], row["score"], row["decision"], row["rank"]) for row in fitted
        ]
        assert json.loads(result.out) == {
            "scores": f"new/scores-{number}.csv",
            "nodes": 12,
            "positive": sum(row["decision"] == "1" for row in fitted),
        }


def test_predict_another_graph(here, pugnn_main):
    assert pugnn_main(*FIT, "--out", "mine").code == 0
    (here / "edges.csv").write_text("source,target\nn0,n1\nn1,new\n")
    (here / "features.csv").write_text("id,x,y,z\nnew,1,2,3\nn1,0,1,0\nn0,1,0,0\n")
    result = pugnn_main("predict", "mine", *TABLES)
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
    result = pugnn_main(*FIT, "--delta", 30, "--out", "mine")
    assert result.code == 0
    assert result.err.startswith("warning: delta=30 leaves none of the 10 unlabelled nodes in the far set")
    assert result.err.count("\n") == 1
    assert len(json.loads((here / "mine" / "run.json").read_text())["warnings"]) == 1


def test_isolated_nodes(here, pugnn_main):
    append("features.csv", "hermit,1,2,3\n")(here)
    assert pugnn_main(*FIT, "--out", "mine").code == 2
    assert pugnn_main(*FIT, "--out", "mine", "--keep-isolated").code == 0
    assert "hermit" in scores(here / "mine" / "scores.csv")


def test_ids_that_look_like_markup(here, pugnn_main):
    for name in ("edges.csv", "features.csv", "positives.csv"):
        path = here / name
        path.write_text(path.read_text().replace("n11", "[red]").replace("n10", "[/]").replace("n9", ":cat:"))
    result = pugnn_main(*FIT, "--out", "[bold]mine")
    assert result.code == 0, result.err
    assert all(text in result.out for text in ("[red]", "[/]", ":cat:", "[bold]mine"))
    again = pugnn_main(*FIT, "--out", "[bold]mine")
    assert again.err.startswith("error: [bold]mine exists already")


# ---------------------------------------------------------------------- info


def test_info_of_tables(here, pugnn_main):
    append("edges.csv", "n1,n0\nn3,n3\n")(here)
    result = pugnn_main("info", *TABLES, "--positives", "positives.csv", "--json")
    assert result.code == 0
    record = json.loads(result.out)
    expected = {"nodes": 12, "edges": 11, "features": 3, "isolated": 0, "components": 1, "largest_component": 12}
    assert {name: record[name] for name in expected} == expected
    assert record["mean_degree"] == pytest.approx(22 / 12)
    assert record["cleaning"] == {"rows": 13, "self_loops": 1, "duplicates": 0, "two_way": 1}
    assert record["labelled"] == 2
    assert record["rings"] == [
        {"distance": hops, "nodes": 1, "share_within": pytest.approx(hops / 10)} for hops in range(1, 11)
    ]
    # The three neighbours of n0 and n1 are n1, n0 and n2; by chance each would be known once in 11.
    assert record["homophily"] == {"links_of_known": 3, "to_known": 2, "expected_by_chance": 0.27}


def test_info_without_positives(here, pugnn_main):
    record = json.loads(pugnn_main("info", *TABLES, "--json").out)
    assert record["nodes"] == 12
    assert not {"rings", "labelled", "homophily"} & set(record)
    assert "add --positives FILE" in pugnn_main("info", *TABLES).out


def test_info_as_a_table(here, pugnn_main):
    append("features.csv", "hermit,1,2,3\n")(here)
    text = pugnn_main("info", *TABLES, "--positives", "positives.csv", "--keep-isolated").out
    lines = [line.split() for line in text.splitlines()]
    assert ["nodes", "13"] in lines
    assert ["isolated", "1"] in lines
    assert ["2", "1", "18.2", "%"] in lines
    assert ["unreachable", "1", "100.0", "%"] in lines
    assert "Of 3 links of known positives, 2 lead to known positives; chance would give 0.2." in text


def test_info_of_a_named_data_set(here, pugnn_main):
    before = snapshot(here)
    record = json.loads(pugnn_main("info", "--dataset", "cora", "--labels", 27, "--json").out)
    assert (record["nodes"], record["edges"], record["components"]) == (2708, 5278, 78)
    assert sum(ring["nodes"] for ring in record["rings"]) == 2681
    positives = sum(ring["nodes"] * ring["positive_share"] for ring in record["rings"])
    assert positives == pytest.approx(1244 - 27, abs=0.5)
    data = pugnn.load_dataset("cora")
    same = sum(data.positive[u] == data.positive[v] for u in range(2708) for v in data.graph.neighbours(u))
    assert record["homophily"]["true_edge_homophily"] == pytest.approx(same / (2 * 5278), abs=1e-4)
    assert "truly positive" in pugnn_main("info", "--dataset", "cora").out
    assert snapshot(here) == before, "info writes nothing"


# ---------------------------------------------------------------------- stopped runs


def test_a_killed_run_goes_on_to_the_same_scores(here, pugnn_main):
    options = [*FIT[:-1], "1500", "--seed", "3", "--negatives", "5"]
    process = subprocess.Popen(
        [*ENTRY, *options, "--out", "mine"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    checkpoint = here / "mine.partial" / "checkpoint.safetensors"
    give_up = time.monotonic() + 60
    while not checkpoint.exists() and process.poll() is None and time.monotonic() < give_up:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (here / "mine").exists()
    assert 20 <= len(load_sealed(checkpoint)[1]["parts"][0]["log"]) < 1500

    refused = pugnn_main(*options, "--out", "mine")
    assert refused.code == 2
    assert "holds a run that was stopped. Add --resume" in refused.err

    assert pugnn_main(*options, "--out", "mine", "--resume").code == 0
    assert pugnn_main(*options, "--out", "whole").code == 0
    assert sorted(path.name for path in (here / "mine").iterdir()) == FILES
    assert not (here / "mine.partial").exists()
    assert (here / "mine" / "scores.csv").read_bytes() == (here / "whole" / "scores.csv").read_bytes()
    assert len(table(here / "mine" / "log.csv")) == 1500


def test_an_interrupted_run_says_how_to_go_on(here, pugnn_main, monkeypatch):
    def update(self, epoch, loss):
        if epoch == 25:
            raise KeyboardInterrupt

    monkeypatch.setattr(EpochProgress, "update", update)
    result = pugnn_main(*FIT[:-1], "30")
    assert result.code not in (0, 2)
    assert "stopped; the same options with --out runs/edges-1 --resume go on" in result.err
    assert "Traceback" not in result.err
    assert [path.name for path in (here / "runs").iterdir()] == ["edges-1.partial"]
    monkeypatch.undo()
    monkeypatch.chdir(here)
    assert CliRunner().invoke(app, [*FIT[:-1], "30", "--out", "runs/edges-1", "--resume"]).exit_code == 0
    assert [path.name for path in (here / "runs").iterdir()] == ["edges-1"]


# ---------------------------------------------------------------------- bad input


def replace(name, old, new):
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return change


def write(name, content):
    def change(folder: Path) -> None:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return change


def append(name, text):
    def change(folder: Path) -> None:
        (folder / name).write_text((folder / name).read_text() + text)

    return change


def cut(name, keep):
    def change(folder: Path) -> None:
        (folder / name).write_bytes((folder / name).read_bytes()[:keep])

    return change


def remove(name):
    return lambda folder: (folder / name).unlink()


BAD_TABLES = {
    "unknown id": (replace("positives.csv", "n1", "n99"), ["positives.csv, row 3", "'n99'", "not a node", "Correct"]),
    "no positives": (write("positives.csv", "id\n"), ["positives.csv names no positives", "at least one"]),
    "empty positives file": (write("positives.csv", ""), ["positives.csv is empty", "header"]),
    "all positive": (write("positives.csv", "\n".join(["id", *NODES])), ["positives.csv names all 12 nodes"]),
    "empty graph": (write("features.csv", "id,x,y,z\n"), ["features.csv holds no nodes"]),
    "empty features file": (write("features.csv", ""), ["features.csv is empty", "header"]),
    "no edges": (write("edges.csv", "source,target\n"), ["edges.csv holds no edges"]),
    "only self loops": (
        write("edges.csv", "\n".join(["source,target", *(f"{node},{node}" for node in NODES)])),
        ["edges.csv holds only self loops"],
    ),
    "not finite": (write("features.csv", "id,x\nn0,1\nn1,nan\n"), ["features.csv, row 3", "'x'", "'nan'", "Replace"]),
    "not a number": (write("features.csv", "id,x\nn0,1\nn1,?\n"), ["features.csv, row 3", "'x'", "'?'"]),
    "edge columns": (replace("edges.csv", "source", "from"), ["edges.csv needs", "'source'", "'from'", "Rename"]),
    "feature columns": (replace("features.csv", "id", "node"), ["features.csv needs", "'id'", "'node'", "Rename"]),
    "positive columns": (replace("positives.csv", "id", "node"), ["positives.csv needs", "'id'", "'node'", "Rename"]),
    "features of a missing node": (
        append("features.csv", "n99,1,2,3\n"),
        ["features.csv, row 14", "'n99'", "no edge in edges.csv", "--keep-isolated"],
    ),
    "edge to a missing node": (
        replace("edges.csv", "n3,n4", "n3,n99"),
        ["edges.csv, row 5", "'n99'", "no row in features.csv", "Add one"],
    ),
    "missing edges file": (remove("edges.csv"), ["cannot read edges.csv: No such file"]),
    "missing features file": (remove("features.csv"), ["cannot read features.csv: No such file"]),
    "missing positives file": (remove("positives.csv"), ["cannot read positives.csv: No such file"]),
    "not text": (write("features.csv", b"\x1f\x8b\x08\x00\xff\xff"), ["features.csv is not a UTF-8 text file", "save"]),
    "truncated row": (cut("features.csv", -9), ["features.csv, row 13", "cells where the header has 4"]),
    "truncated quote": (write("edges.csv", 'source,target\nn0,"n1'), ["edges.csv, row 2", "cut short"]),
}


def assert_refused(result, fragments):
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1, "one message"
    assert "Traceback" not in result.err
    for fragment in fragments:
        assert fragment in result.err


@pytest.mark.parametrize("command", ["fit", "info"])
@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables(here, pugnn_main, command, case):
    change, fragments = BAD_TABLES[case]
    change(here)
    before = snapshot(here)
    result = pugnn_main(command, *TABLES, "--positives", "positives.csv")
    assert_refused(result, fragments)
    assert snapshot(here) == before


@pytest.mark.parametrize("case", [case for case in BAD_TABLES if "positive" not in case and case != "unknown id"])
def test_bad_tables_for_predict(here, pugnn_main, run_folder, case):
    change, fragments = BAD_TABLES[case]
    change(here)
    before = snapshot(here)
    assert_refused(pugnn_main("predict", run_folder, *TABLES), fragments)
    assert snapshot(here) == before


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["fit"], ["--dataset NAME, or --edges FILE --features FILE"]),
        (["fit", "--edges", "edges.csv"], ["--edges FILE --features FILE"]),
        (["fit", *TABLES], ["--positives FILE"]),
        (["fit", *TABLES, "--dataset", "cora"], ["--edges goes with CSV files"]),
        (["fit", "--dataset", "cora", "--positives", "positives.csv"], ["--positives goes with CSV files"]),
        (["fit", "--dataset", "atlantis"], ["no data set named 'atlantis'", "cora, citeseer"]),
        (["fit", "--dataset", "cora", "--labels", "500"], ["cannot label 500 nodes"]),
        (["fit", "--dataset", "cora", "--labels", "0"], ["labels must be a whole number, at least 1; got 0"]),
        (["fit", "--dataset", "cora", "--label-ratio", "2"], ["label_ratio", "2.0"]),
        (["fit", "--dataset", "cora", "--label-ratio-of", "x"], ["label_ratio_of", "'x'"]),
        (["fit", "--dataset", "cora", "--unlabelled", "x"], ["unlabelled", "'x'"]),
        ([*FIT, "--labels", "5"], ["--labels goes with a named --dataset"]),
        ([*FIT, "--unlabelled", "train"], ["--unlabelled goes with a named --dataset"]),
        ([*FIT, "--resume"], ["--resume needs --out"]),
        ([*FIT, "--resume", "--out", "mine"], ["nothing to resume", "mine.partial"]),
        ([*FIT, "--out", "."], ["exists already"]),
        ([*FIT, "--out", "edges.csv"], ["edges.csv exists already", "Choose another --out"]),
        ([*FIT, "--out", "edges.csv/mine"], ["cannot make the folder edges.csv/mine.partial"]),
        ([*FIT, "--out", "x" * 300], ["cannot make the folder", "too long"]),
        ([*FIT, "--threshold", "high"], ["--threshold", "'high'"]),
        ([*FIT, "--threshold", "1.5"], ["threshold", "1.5"]),
        ([*FIT, "--backbone", "cnn"], ["no backbone 'cnn'", "gcn"]),
        ([*FIT, "--dropout", "1"], ["dropout", "1.0"]),
        ([*FIT, "--device", "abacus"], ["no device 'abacus'"]),
        ([*FIT, "--delta", "0"], ["delta", "0"]),
        ([*FIT, "--near-prior", "1.2"], ["near_prior", "1.2"]),
        ([*FIT, "--negatives", "0"], ["negatives", "0"]),
        ([*FIT, "--reduction", "max"], ["reduction", "'max'"]),
        ([*FIT, "--supervision", "none"], ["supervision", "'none'"]),
        ([*FIT, "--learning-rate", "1e30", "--out", "a/b/mine"], ["the loss became", "Lower the learning rate"]),
        (["info"], ["--dataset NAME, or --edges FILE --features FILE"]),
        (["demo", "--labels", "2000"], ["cannot label 2000 nodes"]),
        (["demo", "--out", "edges.csv"], ["edges.csv exists already"]),
        (["predict", "nowhere", *TABLES], ["cannot read nowhere: No such file"]),
        (["predict", ".", *TABLES], ["cannot read model.safetensors: No such file"]),
        (["predict", "edges.csv", *TABLES], ["edges.csv is not a whole pugnn file"]),
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
        assert_refused(pugnn_main(*command, "--out", "mine"), ["mine exists already and is left as it is", "--out"])
        assert_refused(pugnn_main(*command, "--out", "other"), ["other.partial holds a run that was stopped"])
    assert_refused(pugnn_main(*FIT, "--out", "mine", "--resume"), ["mine exists already"])
    assert_refused(pugnn_main(*FIT, "--out", "other", "--resume"), ["checkpoint.safetensors is not a whole pugnn file"])
    assert snapshot(here) == before


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A run of the tables, trained once."""
    folder = tmp_path_factory.mktemp("run")
    write_tables(folder)
    tables = [str(folder / argument) if argument.endswith(".csv") else argument for argument in FIT]
    assert CliRunner().invoke(app, [*tables, "--out", str(folder / "mine")]).exit_code == 0
    return folder / "mine"


@pytest.mark.parametrize(
    ("change", "fragments"),
    [
        (replace("features.csv", "x,y,z", "y,x,z"), ["another order", "reorder"]),
        (replace("features.csv", "x,y,z", "x,y,w"), ["misses 'z'", "does not know 'w'"]),
        (
            write("features.csv", "\n".join(["id,x", *(f"{node},1" for node in NODES)])),
            ["trained with 3 features, the graph has 1"],
        ),
    ],
)
def test_a_model_for_other_features(here, pugnn_main, run_folder, change, fragments):
    change(here)
    before = snapshot(here), snapshot(run_folder)
    assert_refused(pugnn_main("predict", run_folder, *TABLES), fragments)
    assert (snapshot(here), snapshot(run_folder)) == before


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
    assert_refused(result, ["model.safetensors is not a whole pugnn file", "use another copy or train again"])
    assert snapshot(here) == before


def test_predict_does_not_overwrite(here, pugnn_main, run_folder):
    (here / "scores.csv").write_text("mine\n")
    before = snapshot(here)
    assert_refused(pugnn_main("predict", run_folder, *TABLES), ["scores.csv exists already", "--out"])
    assert_refused(pugnn_main("predict", run_folder, *TABLES, "--out", "."), ["exists already"])
    assert_refused(pugnn_main("predict", run_folder, *TABLES, "--out", "edges.csv/x"), ["cannot write edges.csv/x"])
    assert_refused(pugnn_main("predict", run_folder, *TABLES, "--out", "x" * 300), ["cannot write", "too long"])
    assert snapshot(here) == before


def test_every_option_of_fit_reaches_the_run(here, pugnn_main):
    method = {
        "delta": 2,
        "near_prior": 0.7,
        "far_prior": 0.2,
        "alpha": 0.02,
        "negatives": 7,
        "set_weights": "size",
        "labelled_weight": "prior",
        "empty_set": "dist-pu",
        "reduction": "pair-mean",
        "expectation": "exact",
        "representation": "logit",
        "supervision": "cross-entropy",
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
    result = pugnn_main(*FIT, "--json", *options)
    record = json.loads(result.out)
    assert record["method"] == {"name": "pu-gnn", **method}
    assert {name: record["parameters"][name] for name in parameters} == parameters


OPTIONS_OF_METHODS = {
    "naive": {"balanced": True, "prior": 0.2},
    "upu": {"prior": 0.2, "surrogate": "logistic"},
    "nnpu": {"prior": 0.2, "surrogate": "logistic", "correction": "clamp", "beta": 0.1, "gamma": 0.5},
    "dist-pu": {"prior": 0.2, "variant": "full"},
    "lsdan": {"prior": 0.2, "hops": 2, "risk": "unbiased"},
    "grab": {"rounds": 1, "homophily": 0.8, "potentials": "uniform"},
    "label-propagation": {"prior": 0.2, "normalisation": "walk", "restart": 0.3},
}


def as_options(values: dict[str, object]) -> list[str]:
    return [f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}") for name, value in values.items()]


@pytest.mark.parametrize("method", OPTIONS_OF_METHODS)
def test_every_option_of_the_other_methods_reaches_the_run(here, pugnn_main, method):
    given = OPTIONS_OF_METHODS[method]
    assert set(given) == {field.name for field in fields(METHODS[method])}, "none is left out"
    assert all(getattr(METHODS[method], name, None) != value for name, value in given.items()), "no defaults"
    parameters = {"hidden": 8, "dropout": 0.25, "epochs": 2, "learning_rate": 0.02, "weight_decay": 0.001, "seed": 9}
    if method == "label-propagation":
        parameters = {"seed": 9}
    result = pugnn_main(*FIT[:-2], "--json", "--method", method, *as_options({**given, **parameters}))
    assert result.code == 0, result.err
    record = json.loads(result.out)
    assert record["method"] == {"name": method, **given}
    assert {name: record["parameters"][name] for name in parameters} == parameters


# ---------------------------------------------------------------------- the other methods


@pytest.mark.parametrize("method", METHODS)
def test_every_method_fits_and_predicts(here, pugnn_main, method):
    needed = ["--prior", "0.3"] if method in ("upu", "nnpu", "dist-pu", "lsdan", "label-propagation") else []
    fit = FIT[:-2] if method == "label-propagation" else FIT  # it has no epochs
    result = pugnn_main(*fit, "--method", method, *needed, "--out", "mine")
    assert (result.code, result.err) == (0, "")
    assert "2 positives among 12 nodes" in result.out
    trains_nothing = method == "label-propagation"
    files = [name for name in FILES if not (trains_nothing and name in ("log.csv", "training.png"))]
    assert sorted(path.name for path in (here / "mine").iterdir()) == files
    record = json.loads((here / "mine" / "run.json").read_text())
    assert record["method"]["name"] == method
    fitted = table(here / "mine" / "scores.csv")
    assert {row["id"] for row in fitted} == set(NODES)
    assert all(0 <= float(row["score"]) <= 1 for row in fitted)
    if not trains_nothing:
        log = table(here / "mine" / "log.csv")
        assert [int(row["epoch"]) for row in log] == list(range(1, len(log) + 1))
    assert pugnn_main("predict", "mine", *TABLES).code == 0
    assert scores(here / "scores.csv") == scores(here / "mine" / "scores.csv")


def test_label_propagation_predicts_no_other_graph(here, pugnn_main):
    assert pugnn_main(*FIT[:-2], "--method", "label-propagation", "--prior", "0.3", "--out", "mine").code == 0
    append("edges.csv", "n0,n5\n")(here)
    before = snapshot(here)
    assert_refused(pugnn_main("predict", "mine", *TABLES), ["learns nothing that another graph could use", "Fit it"])
    assert snapshot(here) == before


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["--method", "magic"], ["no method 'magic'", *METHODS]),
        *(
            (
                ["--method", name],
                [f"{name} must be told the prior", "--prior 0.1", "if one in ten is", "pu-gnn, grab or naive"],
            )
            for name in ("upu", "nnpu", "dist-pu", "lsdan", "label-propagation")
        ),
        (["--prior", "0.3"], ["pu-gnn has no option 'prior'", "near_prior"]),
        (["--method", "nnpu", "--prior", "0.3", "--delta", "2"], ["nnpu has no option 'delta'", "it has prior"]),
        (["--method", "upu", "--prior", "0.3", "--gamma", "1"], ["upu has no option 'gamma'"]),
        (["--method", "naive", "--rounds", "1"], ["naive has no option 'rounds'; it has balanced, prior"]),
        (["--balanced"], ["pu-gnn has no option 'balanced'"]),
        (["--method", "nnpu", "--prior", "1.5"], ["prior is a share of the unlabelled nodes", "1.5"]),
        (["--method", "lsdan", "--prior", "0.3", "--backbone", "gcn"], ["lsdan is a network of its own", "'gcn'"]),
        (
            ["--method", "dist-pu", "--prior", "0.3", "--variant", "full", "--backbone", "gcn"],
            ["mixes embeddings", "Take gcn-linear, appnp or mlp"],
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


def test_the_seed_of_info_draws_other_positives(pugnn_main):
    rings = [json.loads(pugnn_main("info", "--dataset", "cora", "--json", "--seed", s).out)["rings"] for s in "121"]
    assert rings[0] == rings[2] != rings[1]


def test_demo_can_be_resumed(here, pugnn_main):
    assert_refused(pugnn_main("demo", "--resume"), ["--resume needs --out"])
    assert_refused(pugnn_main("demo", "--resume", "--out", "none"), ["there is nothing to resume"])
