"""A model meets a later snapshot: new nodes, changed edges, other columns."""

import csv
import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from e2e.own_tables import assert_refused, scores, snapshot, table
from pugnn import Graph, PUNodeClassifier
from pugnn.cli import app

CITIES = ["Bern", "Basel", "Chur"]
Row = dict[str, str]


def write_csv(path: Path, rows: list[Row]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def make_nodes(names: list[str], seed: int) -> list[Row]:
    rng = np.random.default_rng(seed)
    return [
        {
            "id": name,
            "age": "" if rng.random() < 0.1 else str(rng.integers(18, 90)),
            "city": "" if rng.random() < 0.1 else str(rng.choice(CITIES)) if rng.random() < 0.95 else f"village-{at}",
            "vip": str(rng.random() < 0.3),
            "v": json.dumps(rng.normal(size=3).round(3).tolist()),
        }
        for at, name in enumerate(names)
    ]


def make_edges(names: list[str], count: int, seed: int) -> list[Row]:
    rng = np.random.default_rng(seed)
    ends = [rng.choice(len(names), 2, replace=False) for _ in range(count)]
    return [{"source": names[u], "target": names[v]} for u, v in ends]


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    """Tables of 200 nodes, a run on them, and a snapshot with 5 % new nodes and 10 % changed edges."""
    folder = tmp_path_factory.mktemp("snapshot")
    old_names = [f"user {i}" for i in range(200)]
    old_nodes, old_edges = make_nodes(old_names, 0), make_edges(old_names, 400, 0)
    new_names = [*old_names, *(f"new {i}" for i in range(10))]
    new_nodes = [*old_nodes, *make_nodes(new_names[200:], 1)]
    new_edges = [*old_edges[40:], *make_edges(new_names, 40, 2)]
    np.random.default_rng(3).shuffle(new_nodes)
    write_csv(folder / "nodes.csv", old_nodes)
    write_csv(folder / "edges.csv", old_edges)
    write_csv(folder / "positives.csv", [{"id": name} for name in old_names[:12]])
    write_csv(
        folder / "new_nodes.csv",
        [{name: row[name] for name in ("v", "vip", "id", "city", "age")} for row in new_nodes],
    )
    write_csv(folder / "new_edges.csv", new_edges)
    tables = [word for name in ("edges", "nodes", "positives") for word in (f"--{name}", str(folder / f"{name}.csv"))]
    result = CliRunner().invoke(app, ["fit", *tables, "--epochs", "20", "--out", str(folder / "run")])
    assert result.exit_code == 0, result.output
    return folder, old_nodes, new_nodes, new_edges


@pytest.fixture
def trained(made_once, tmp_path, monkeypatch):
    """A copy of the tables and the run, to work in."""
    folder, *rows = made_once
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return rows


def by_hand(learned: list[Row], nodes: list[Row], names: tuple[str, ...]) -> np.ndarray:
    """The recipe in plain steps: what it learns from one table, made into features of another."""
    ages = [float(row["age"]) for row in learned if row["age"]]
    mean = sum(ages) / len(ages)
    deviation = math.sqrt(sum((age - mean) ** 2 for age in ages) / len(ages))
    features = []
    for row in nodes:
        known = row["city"] in CITIES
        values = {
            "age": (float(row["age"]) - mean) / deviation if row["age"] else 0.0,
            "age missing": row["age"] == "",
            **{f"city={city}": row["city"] == city for city in CITIES},
            "city other": row["city"] != "" and not known,
            "city missing": row["city"] == "",
            "vip": row["vip"] == "True",
            **{f"v[{at}]": value for at, value in enumerate(json.loads(row["v"]))},
        }
        assert set(values) == set(names)
        features.append([float(values[name]) for name in names])
    return np.asarray(features)


def test_a_snapshot_is_scored_as_the_merged_graph(trained, pugnn_main):
    old_nodes, new_nodes, new_edges = trained
    tables = ["--edges", "new_edges.csv", "--nodes", "new_nodes.csv"]
    result = pugnn_main("predict", "run", *tables, "--positives", "positives.csv", "--out", "new.csv")
    assert result.code == 0, result.err
    model = PUNodeClassifier.load("run/model.safetensors")
    merged = Graph.from_edges(
        [edge["source"] for edge in new_edges],
        [edge["target"] for edge in new_edges],
        ids=[row["id"] for row in new_nodes],
        features=by_hand(old_nodes, new_nodes, model.feature_names_),
        feature_names=model.feature_names_,
    )
    expected = dict(zip(merged.ids.tolist(), model.predict_proba(merged)[:, 1].tolist(), strict=True))
    found = {node: float(score) for node, score in scores(Path("new.csv")).items()}
    assert len(found) == 210
    assert found == pytest.approx(expected, abs=1e-6)
    header = Path("new.csv").read_text().splitlines()[0]
    assert header == "id,score,log_odds,decision,rank,known,distance,nearest"


def test_parts_in_several_files_are_the_merged_table(trained, pugnn_main):
    *_, new_edges = trained
    write_csv(Path("part-1.csv"), new_edges[:100])
    write_csv(Path("part-2.csv"), new_edges[100:])
    for edges, out in (("new_edges.csv", "whole.parquet"), ("part-*.csv", "parts.parquet")):
        assert pugnn_main("predict", "run", "--edges", edges, "--nodes", "new_nodes.csv", "--out", out).code == 0
    assert Path("whole.parquet").read_bytes() == Path("parts.parquet").read_bytes()


def test_columns_that_were_named_for_the_training_need_no_names_again(trained, pugnn_main):
    old_nodes, *_ = trained
    write_csv(Path("people.csv"), [{("who" if name == "id" else name): row[name] for name in row} for row in old_nodes])
    tables = ["--edges", "edges.csv", "--nodes", "people.csv", "--positives", "positives.csv", "--id", "who"]
    write_csv(Path("positives.csv"), [{"who": row["id"]} for row in old_nodes[:12]])
    assert pugnn_main("fit", *tables, "--epochs", 2, "--out", "named").code == 0
    result = pugnn_main("predict", "named", "--edges", "edges.csv", "--nodes", "people.csv", "--out", "again.csv")
    assert result.code == 0, result.err
    assert scores(Path("again.csv")) == scores(Path("named/scores.csv"))


def test_a_missing_column_counts_as_missing_everywhere(trained, pugnn_main):
    _, new_nodes, _ = trained
    write_csv(Path("less.csv"), [{name: row[name] for name in row if name != "city"} for row in new_nodes])
    write_csv(Path("blank.csv"), [{**row, "city": ""} for row in new_nodes])
    less = pugnn_main("predict", "run", "--edges", "new_edges.csv", "--nodes", "less.csv", "--out", "less-scores.csv")
    assert less.code == 0
    assert "less.csv: column 'city' is absent: missing for all nodes" in less.err
    blank = pugnn_main(
        "predict", "run", "--edges", "new_edges.csv", "--nodes", "blank.csv", "--out", "blank-scores.csv"
    )
    assert blank.code == 0
    assert scores(Path("less-scores.csv")) == scores(Path("blank-scores.csv"))


def test_an_extra_column_is_passed_over(trained, pugnn_main):
    _, new_nodes, _ = trained
    write_csv(Path("more.csv"), [{**row, "shoe size": "40"} for row in new_nodes])
    more = pugnn_main("predict", "run", "--edges", "new_edges.csv", "--nodes", "more.csv", "--out", "more-scores.csv")
    assert more.code == 0
    assert "more.csv: not used, since the model was trained without: 'shoe size'" in more.err
    assert pugnn_main("predict", "run", "--edges", "new_edges.csv", "--nodes", "new_nodes.csv").code == 0
    assert scores(Path("more-scores.csv")) == scores(Path("scores.csv"))


def test_values_that_training_has_not_seen(trained, pugnn_main):
    _, new_nodes, _ = trained
    write_csv(Path("other.csv"), [{**row, "city": "Genf"} for row in new_nodes])
    result = pugnn_main("predict", "run", "--edges", "new_edges.csv", "--nodes", "other.csv")
    assert result.code == 0
    assert "unseen in training ('Genf'); it counts as other" in result.err


@pytest.mark.parametrize(
    ("change", "fragments"),
    [
        ({"age": "old"}, ["new.csv, row 2, column 'age'", "'old'"]),
        ({"v": "[1, 2]"}, ["new.csv, row 2, column 'v'"]),
        ({"vip": "perhaps"}, ["new.csv, row 2, column 'vip'", "'perhaps'"]),
    ],
)
def test_cells_that_the_recipe_cannot_read(trained, pugnn_main, tmp_path, change, fragments):
    _, new_nodes, _ = trained
    write_csv(Path("new.csv"), [{**new_nodes[0], **change}, *new_nodes[1:]])
    before = snapshot(tmp_path)
    assert_refused(pugnn_main("predict", "run", "--edges", "new_edges.csv", "--nodes", "new.csv"), fragments)
    assert snapshot(tmp_path) == before


def test_tables_without_any_of_the_columns_are_refused(trained, pugnn_main):
    _, new_nodes, _ = trained
    write_csv(Path("new.csv"), [{"id": row["id"], "height": "1"} for row in new_nodes])
    predict = ["predict", "run", "--edges", "new_edges.csv"]
    assert_refused(pugnn_main(*predict), ["trained on the attributes 'age'", "none were given"])
    wrong = pugnn_main(*predict, "--nodes", "new.csv")
    assert_refused(wrong, ["trained on the attributes 'age'", "has only 'height'"])


def test_a_bare_edge_list(tmp_path, monkeypatch, pugnn_main):
    monkeypatch.chdir(tmp_path)
    names = [f"n{i}" for i in range(60)]
    edges = make_edges(names, 150, 5)
    write_csv(Path("edges.csv"), edges)
    write_csv(Path("positives.csv"), [{"id": edge["source"]} for edge in edges[:5]])
    assert (
        pugnn_main("fit", "--edges", "edges.csv", "--positives", "positives.csv", "--epochs", 5, "--out", "run").code
        == 0
    )
    np.random.default_rng(0).shuffle(edges)
    write_csv(Path("shuffled.csv"), edges)
    assert pugnn_main("predict", "run", "--edges", "shuffled.csv").code == 0
    fitted, predicted = (
        {node: float(score) for node, score in scores(path).items()}
        for path in (Path("run/scores.csv"), Path("scores.csv"))
    )
    assert predicted == pytest.approx(fitted, abs=1e-5), "features depend on the graph, not on the order of its rows"


def test_checked_nodes_are_remembered_and_changes_told(trained, pugnn_main):
    _, new_nodes, _ = trained
    ranked = [node for node in scores(Path("run/scores.csv")) if int(node.split()[1]) >= 12]
    rejected, confirmed = ranked[:3], ranked[3:5]
    verdicts = [{"id": node, "verdict": "no"} for node in rejected] + [
        {"id": node, "verdict": "yes"} for node in confirmed
    ]
    write_csv(Path("checked.csv"), verdicts)
    assert pugnn_main("fit", "--config", "run/run.json", "--checked", "checked.csv", "--out", "second").code == 0
    later = ["--edges", "new_edges.csv", "--nodes", "later.csv"]
    write_csv(Path("later.csv"), new_nodes[:-4])
    result = pugnn_main("predict", "second", *later, "--out", "new.csv", "--json")
    assert result.code == 0, result.err
    before, now = ({row["id"]: row for row in table(Path(path))} for path in ("second/scores.csv", "new.csv"))
    there = [node for node in rejected if node in now]
    assert all(
        (now[node]["known"], float(now[node]["score"]), now[node]["decision"]) == ("-1", 0.0, "0") for node in there
    )
    assert all(now[node]["known"] == before[node]["known"] for node in now.keys() & before.keys())
    changes = json.loads(result.out)["changes"]
    both = [node for node in now.keys() & before.keys() if now[node]["known"] == "0"]
    assert changes["new"] == len(now.keys() - before.keys())
    assert changes["gone"] == len(before.keys() - now.keys())
    for name, old, new in (("became_positive", "0", "1"), ("no_longer_positive", "1", "0")):
        moved = [node for node in both if (before[node]["decision"], now[node]["decision"]) == (old, new)]
        assert changes[name] == len(moved)
    shown = pugnn_main("predict", "second", *later, "--out", "shown.csv").out
    assert "Since second" in shown
    assert changes["rose"][0]["id"] in shown


def test_a_positive_that_the_training_rejected_is_refused(trained, pugnn_main):
    write_csv(Path("wrong.csv"), [{"id": "user 50"}])
    assert pugnn_main("fit", "--config", "run/run.json", "--rejected", "wrong.csv", "--out", "second").code == 0
    predict = ["predict", "second", "--edges", "new_edges.csv", "--nodes", "new_nodes.csv", "--positives", "wrong.csv"]
    assert_refused(pugnn_main(*predict), ["wrong.csv names 'user 50', which was rejected when", "Train again"])


def test_a_model_alone_and_a_run_whose_scores_cannot_be_read(trained, pugnn_main):
    predict = ["--edges", "new_edges.csv", "--nodes", "new_nodes.csv", "--json"]
    shutil.copy("run/model.safetensors", "model.safetensors")
    assert json.loads(pugnn_main("predict", "model.safetensors", *predict).out)["changes"] is None
    Path("run/scores.parquet").write_text("something else")
    result = pugnn_main("predict", "run", *predict, "--out", "other.csv")
    assert result.code == 0
    assert json.loads(result.out)["changes"] is None
    assert "note: what has changed since the earlier run is not known, because" in result.err
