"""`pugnn evaluate --as-of T1 --then T2`: a test over time."""

import json
import re

import numpy as np
import pytest

from e2e.own_tables import assert_refused
from pugnn.errors import PugnnError
from pugnn.estimator import PUNodeClassifier
from pugnn.evaluation import evaluate_over_time
from pugnn.store import read_graph

TABLES = ["--edges", "pays.csv", "--positives", "bad.csv", "--time", "when"]
MOMENTS = ["--as-of", "2025-06-30", "--then", "2025-12-31"]


@pytest.fixture
def stream(tmp_path, monkeypatch):
    """Payments of a year among 60 accounts, a third of them one group; half of it is known by the end of June."""
    monkeypatch.chdir(tmp_path)
    rng, rows = np.random.default_rng(0), []
    for _ in range(900):
        one, other = rng.integers(60, size=2)
        if (one < 20) == (other < 20) or rng.random() < 0.1:
            rows.append(f"n{one},n{other},{10 * (1 + (one < 20)) + rng.random():.2f},2025-{rng.integers(1, 13):02}-15")
    (tmp_path / "pays.csv").write_text("\n".join(["source,target,amount,when", *rows, "n0,new,9,2025-09-15"]) + "\n")
    known = [f"n{node},2025-{2 if node < 10 else 8:02}-01" for node in range(19)]
    (tmp_path / "bad.csv").write_text("\n".join(["id,when", *known, "new,2025-10-01"]) + "\n")
    return tmp_path


def test_those_that_became_known_are_looked_for(pugnn_main, stream):
    result = pugnn_main("evaluate", *TABLES, *MOMENTS, "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)["over_time"]["views"]
    assert (found["known"], found["unlabelled"], found["became_known"], found["absent"]) == (10, 50, 9, 1)
    first = found["beginnings"][0]
    assert first["nodes"] == 10
    assert first["precision"]["value"] >= 0.8
    assert first["lift"]["low"] > 1
    assert found["mean_rank"] < 10
    assert pugnn_main("evaluate", *TABLES, *MOMENTS, "--json").out == result.out


def test_it_is_said_in_words(pugnn_main, stream):
    result = pugnn_main("evaluate", *TABLES, *MOMENTS, "--methods", "centroid")
    assert result.code == 0, result.err
    said = " ".join(result.out.split())
    assert "As of 2025-06-30, with 10 known positives, 50 nodes were ranked; 9 of them became known" in said
    assert "1 more became known, but did not exist as of 2025-06-30" in said
    assert "centroid, with 90 % intervals" in result.out
    assert "rows are later than 2025-06-30" in result.err


def test_a_run_is_tested_with_its_own_method(pugnn_main, stream):
    assert pugnn_main("fit", *TABLES, "--method", "centroid", "--out", "mine").code == 0
    result = pugnn_main("evaluate", "mine", *MOMENTS, "--json")
    assert result.code == 0, result.err
    assert list(json.loads(result.out)["over_time"]) == ["centroid"]
    assert json.loads((stream / "mine" / "over_time.json").read_text()) == json.loads(result.out)


def test_in_python(stream):
    data = read_graph("pays.csv", positives="bad.csv", time="when", as_of="2025-06-30", then="2025-12-31")
    found = evaluate_over_time([PUNodeClassifier("centroid"), PUNodeClassifier("centroid")], data)
    assert list(found) == ["centroid", "centroid'"]
    with pytest.raises(PugnnError, match="needs what read_graph returns with positives, time, as_of and then"):
        evaluate_over_time([], read_graph("pays.csv", positives="bad.csv"))


def test_check_fit_and_predict_as_of(pugnn_main, stream):
    as_of = ["--as-of", "2025-06-30"]
    assert "rows are later than 2025-06-30" in pugnn_main("check", *TABLES, *as_of).err
    assert pugnn_main("fit", *TABLES, *as_of, "--method", "centroid", "--out", "mine").code == 0
    assert json.loads((stream / "mine" / "run.json").read_text())["options"]["as_of"] == "2025-06-30"
    result = pugnn_main("predict", "mine", "--edges", "pays.csv", "--as-of", "2025-12-31", "--out", "scores.csv")
    assert result.code == 0, result.err
    assert "61 nodes scored" in result.out
    store = ["--edges", "pays.csv", "--time", "when", *as_of, "--out", "store"]
    assert "60 nodes" in pugnn_main("build", *store).out


def test_a_config_may_hold_a_date(pugnn_main, stream):
    (stream / "mine.toml").write_text(
        'edges = "pays.csv"\npositives = "bad.csv"\ntime = "when"\nas_of = 2025-06-30\nmethod = "centroid"\n'
    )
    assert pugnn_main("fit", "--config", "mine.toml", "--out", "mine").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*TABLES, "--as-of", "2025-06-30"], "needs both: --as-of"),
        ([*TABLES, "--then", "2025-06-30"], "needs both: --as-of"),
        ([*TABLES, "--as-of", "2025-06-30", "--then", "2025-06-30"], "--then 2025-06-30 must be later"),
        ([*TABLES, "--as-of", "2025-06-30", "--then", "2025-07-15"], "no positive became known between 2025-06-30 and"),
        ([*TABLES[:4], *MOMENTS], "--as-of needs --time"),
        ([*TABLES[:2], *MOMENTS], "specify what to read"),
        ([], "give a run folder"),
        (TABLES, "give a run folder"),
    ],
)
def test_bad_input(pugnn_main, stream, arguments, message):
    assert_refused(pugnn_main("evaluate", *arguments), [message])


@pytest.mark.parametrize("option", ["--as-of", "--time"])
def test_a_store_is_what_it_was_built_as(pugnn_main, stream, option):
    assert pugnn_main("build", "--edges", "pays.csv", "--out", "store").code == 0
    fit = ["fit", "--store", "store", "--positives", "bad.csv", "--method", "centroid"]
    result = pugnn_main(*fit, option, "2025-06-30 12:00")
    moment = "'2025-06-30 12:00'" if option == "--as-of" else "MOMENT"
    command = f"pugnn build --edges FILE … --time COLUMN --as-of {moment} --out FOLDER"
    assert_refused(result, [f"{option} cannot be used with --store: a store keeps no times", command])


@pytest.fixture
def named(stream):
    """The same stream, with other names for the times of payments and positives, and a table of devices without."""
    for file, name in (("pays.csv", "paid_at"), ("bad.csv", "seen_at")):
        (stream / file).write_text((stream / file).read_text().replace("when", name, 1))
    (stream / "device.csv").write_text("source,target\nn1,n2\nn2,n3\n")
    return ["--edges", "pays=pays.csv", "--edges", "device=device.csv", "--positives", "bad.csv"]


TIMES = ["--time", "pays=paid_at", "--time", "positives=seen_at"]


def test_each_table_has_its_column_of_times(pugnn_main, stream, named):
    result = pugnn_main("evaluate", *named, *TIMES, *MOMENTS, "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert found["over_time"]["views"]["became_known"] == 9
    assert "device.csv: has no column of times; all of its rows count as there as of 2025-06-30" in found["notes"]
    (stream / "mine.toml").write_text('[time]\npays = "paid_at"\npositives = "seen_at"\n')
    as_of = ["--as-of", "2025-06-30", "--method", "centroid"]
    assert pugnn_main("fit", *named, "--config", "mine.toml", *as_of, "--out", "mine").code == 0
    assert json.loads((stream / "mine" / "run.json").read_text())["options"]["time"] == [
        "pays=paid_at",
        "positives=seen_at",
    ]
    assert pugnn_main("fit", "--config", "mine/run.json", "--out", "again").code == 0
    assert (stream / "mine" / "scores.csv").read_bytes() == (stream / "again" / "scores.csv").read_bytes()
    assert pugnn_main("evaluate", "mine", *MOMENTS).code == 0
    result = pugnn_main("predict", "mine", *named[:4], "--as-of", "2025-12-31", "--out", "scores.csv")
    assert "61 nodes scored" in result.out, result.err


def test_a_column_of_times_is_named_once(pugnn_main, stream, named):
    result = pugnn_main("fit", *named, "--time", "pays=paid_at", "--time", "pays=seen_at")
    assert_refused(result, ["--time names two columns for the same tables, 'paid_at' and 'seen_at'"])


def test_times_may_be_numbers(pugnn_main, stream):
    for file in ("pays.csv", "bad.csv"):
        text = re.sub(r"2025-(\d\d)-\d\d", lambda found: str(int(found[1])), (stream / file).read_text())
        (stream / file).write_text(text)
    result = pugnn_main("evaluate", *TABLES, "--as-of", "6", "--then", "12", "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)["over_time"]["views"]
    assert (found["as_of"], found["then"], found["became_known"], found["absent"]) == ("6", "12", 9, 1)
    (stream / "mine.toml").write_text("as_of = 6\n")
    assert pugnn_main("fit", *TABLES, "--config", "mine.toml", "--method", "centroid", "--out", "mine").code == 0
    assert_refused(pugnn_main("check", *TABLES, "--as-of", "2025-06-30"), ["are whole numbers, but --as-of 2025-06-30"])
