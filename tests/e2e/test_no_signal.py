"""Known positives that have nothing in common: `pugnn` says so, and claims nothing."""

import csv
import json

import numpy as np
import pytest

COMMAND = [
    "fit",
    "--edges",
    "edges.csv",
    "--nodes",
    "nodes.csv",
    "--positives",
    "positives.csv",
    "--method",
    "centroid",
]


@pytest.fixture
def at_random(here):
    """A random graph of 300 nodes, every twentieth of them known."""
    rng = np.random.default_rng(3)
    edges = [f"{a},{b}" for a, b in rng.integers(0, 300, (900, 2)) if a != b]
    nodes = [f"{node},{','.join(f'{value:.3f}' for value in rng.normal(size=3))}" for node in range(300)]
    (here / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    (here / "nodes.csv").write_text("\n".join(["id,x,y,z", *nodes]) + "\n")
    (here / "positives.csv").write_text("\n".join(["id", *map(str, range(0, 300, 20))]) + "\n")
    return here


def test_nothing_is_claimed_without_a_signal(pugnn_main, at_random):
    result = pugnn_main(*COMMAND, "--out", "mine")
    assert result.code == 0, result.err
    words = " ".join(result.out.split())
    assert "The known positives, when hidden, rank no better than by chance (p = " in words
    assert "To decide all the same, run again with --decide." in words
    record = json.loads((at_random / "mine" / "run.json").read_text())
    assert record["decided_by"] == "none, because no signal was found"
    assert (record["estimate"]["signal"], record["estimate"]["positives"]) == (False, None)
    assert record["suggestions"]["precision"] == []
    with (at_random / "mine" / "scores.csv").open() as file:
        assert {row["decision"] for row in csv.DictReader(file) if row["known"] == "0"} == {"0"}
    assert "(none, because no signal was found)" in (at_random / "mine" / "report.html").read_text()
    suggested = pugnn_main("suggest", "mine")
    assert "no signal was found, so these may not be finds" in suggested.err


@pytest.mark.parametrize(("option", "count"), [(["--budget", "20"], 20), (["--decide"], None)])
def test_the_user_may_decide_and_a_config_repeats_it(pugnn_main, at_random, option, count):
    assert pugnn_main(*COMMAND, *option, "--out", "mine").code == 0
    assert pugnn_main("fit", "--config", "mine/run.json", "--out", "again").code == 0
    records = [json.loads((at_random / name / "run.json").read_text()) for name in ("mine", "again")]
    assert records[0]["decided_by"] == records[1]["decided_by"] != "none, because no signal was found"
    assert records[0]["threshold"] == records[1]["threshold"] < 1
    if count is not None:
        assert records[1]["options"]["budget"] == count


def test_a_budget_and_a_threshold_are_one_too_many(pugnn_main, at_random):
    result = pugnn_main(*COMMAND, "--budget", "20", "--threshold", "0.7")
    assert result.code != 0
    assert "budget and threshold both say who is decided positive" in result.err
