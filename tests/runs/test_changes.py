import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import random_graph
from pugnn import PUNodeClassifier
from pugnn.errors import PugnnError
from pugnn.evidence import Band
from pugnn.graph import Graph
from pugnn.runs import changes
from pugnn.runs.changes import EarlierRun, changes_since, measured_prior
from pugnn.task import PUTask

IDS = [f"n{i}" for i in range(8)]
GRAPH = Graph.from_edges(IDS[:-1], IDS[1:], ids=IDS)
TASK = PUTask.from_positives(GRAPH, np.array([0]), np.array([7]))
BEFORE = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.95]
NOW = np.array([0.9, 0.1, 0.7, 0.6, 0.5, 0.4, 0.8, 0.0])


def earlier(scores: list[float]) -> EarlierRun:
    return EarlierRun(Path("runs/first"), None, np.array(scores), confirmed=3, rejected=1)


def test_who_rose_and_who_fell_by_plain_loops():
    found = earlier(BEFORE).changes(TASK, NOW, warm=True)
    assert (found["before"], found["confirmed"], found["rejected"], found["warm"]) == ("first", 3, 1, True)
    free = [i for i in range(8) if i not in (0, 7)]  # known nodes have no rank
    moves = []
    for i in free:
        rank_before = 1 + sum(BEFORE[j] > BEFORE[i] for j in free)
        rank_now = 1 + sum(NOW[j] > NOW[i] for j in free)
        moves.append((math.log(rank_before / rank_now), IDS[i], rank_before, rank_now))
    rose = [(node, before, now) for move, node, before, now in sorted(moves, key=lambda each: -each[0]) if move > 0]
    fell = [(node, before, now) for move, node, before, now in sorted(moves, key=lambda each: each[0]) if move < 0]
    for name, expected in (("rose", rose), ("fell", fell)):
        assert [(each["id"], each["rank_before"], each["rank_now"]) for each in found[name]] == expected
    assert found["rose"][0] == {"id": "n6", "rank_before": 6, "rank_now": 1, "score_before": 0.3, "score_now": 0.8}


def test_no_more_than_twenty_are_listed_and_new_nodes_are_not():
    graph = random_graph(100, 0.05, seed=0)
    task = PUTask.from_positives(graph, np.array([0]))
    before = [node / 100 if node < 90 else math.nan for node in range(100)]
    found = earlier(before).changes(task, 1 - np.arange(100) / 100, warm=False)
    assert len(found["rose"]) == len(found["fell"]) == 20
    assert found["rose"][0]["id"] == 1
    assert found["rose"][0]["rank_before"] == 89


def test_nothing_moved():
    found = earlier(BEFORE).changes(TASK, np.array(BEFORE), warm=False)
    assert found["rose"] == found["fell"] == []


def test_a_run_that_cannot_be_read_says_so(tmp_path):
    found = EarlierRun.of(tmp_path, TASK)
    assert found.classifier is None
    assert [note.split(":")[0] for note in found.notes] == [
        "the training starts afresh, without the model of the earlier run",
        f"what has changed since the earlier run is not known, because {tmp_path / 'scores.parquet'} cannot be read",
    ]
    assert found.changes(TASK, NOW, warm=False)["rose"] == []


@pytest.mark.parametrize("spoil", ["text", "columns"])
def test_scores_that_are_something_else(tmp_path, spoil):
    if spoil == "text":
        (tmp_path / "scores.parquet").write_text("id,score\n")
    else:
        pq.write_table(pa.table({"id": ["n0"], "other": [1.0]}), tmp_path / "scores.parquet")
    assert "cannot be read" in EarlierRun.of(tmp_path, TASK).notes[-1]


def test_model_and_scores_of_a_run(tmp_path):
    graph = random_graph(30, 0.1, seed=1, features=3)
    PUNodeClassifier("centroid", progress=False).fit(graph, [1, 2]).save(tmp_path / "model.safetensors")
    columns = {"id": [2, 3, 4, 5], "score": [0.9, 0.25, 0.5, 0.0], "known": [1, 0, 0, -1]}
    pq.write_table(pa.table(columns), tmp_path / "scores.parquet")
    first = PUTask.from_positives(graph, np.array([1]))
    found = EarlierRun.of(tmp_path, first.with_feedback(np.array([2, 3]), np.array([4, 5, 6])))
    assert found.notes == ()
    assert (found.confirmed, found.rejected) == (1, 2), "3, and 4 and 6: since that run"
    assert found.scores[[3, 4]].tolist() == [0.25, 0.5]
    assert np.isnan(np.delete(found.scores, [2, 3, 4, 5])).all()
    assert found.folder == tmp_path


# ---------------------------------------------------------------------- a later snapshot


def write_earlier(folder, scores: dict[str, float], threshold: float = 0.65):
    decisions = [int(score >= threshold) for score in scores.values()]
    table = {"id": list(scores), "score": list(scores.values()), "decision": decisions}
    pq.write_table(pa.table(table), folder / "scores.parquet", row_group_size=3)
    return folder / "scores.parquet"


def test_what_has_changed_in_a_snapshot(tmp_path):
    before = dict(zip([*IDS[:6], "gone 1", "gone 2"], BEFORE, strict=True))
    file = write_earlier(tmp_path, before)
    found = changes_since(file, GRAPH, TASK, NOW, NOW >= 0.65)
    # n0 and n7 are known; n6 is new; n1 was decided positive and is no longer.
    assert (found["new"], found["new_positive"], found["gone"]) == (2, 1, 2)
    assert (found["became_positive"], found["no_longer_positive"]) == (0, 1)
    assert found["before"] == tmp_path.name
    assert [each["id"] for each in found["fell"]] == ["n1"]
    assert [each["id"] for each in found["rose"]] == ["n2", "n3", "n4", "n5"]
    everyone = changes_since(file, GRAPH, None, 1 - NOW, NOW <= 0.5)
    assert (everyone["became_positive"], everyone["no_longer_positive"]) == (2, 2)


def test_nothing_has_changed_in_a_snapshot(tmp_path):
    file = write_earlier(tmp_path, dict(zip(IDS, BEFORE, strict=True)))
    found = changes_since(file, GRAPH, TASK, np.array(BEFORE), np.array(BEFORE) >= 0.65)
    assert not any(value for name, value in found.items() if name != "before")


@pytest.mark.parametrize("spoil", ["text", "columns", "type"])
def test_scores_of_a_run_that_are_something_else(tmp_path, spoil):
    if spoil == "text":
        (tmp_path / "scores.parquet").write_text("id,score\n")
    else:
        columns = {"other": [1.0]} if spoil == "columns" else {"score": ["high"], "decision": [1]}
        pq.write_table(pa.table({"id": ["n0"], **columns}), tmp_path / "scores.parquet")
    with pytest.raises(PugnnError, match=r"since the earlier run is not known, because .*scores.parquet"):
        changes_since(tmp_path / "scores.parquet", GRAPH, TASK, NOW, NOW >= 0.5)


def test_the_parent_is_named_with_the_time_it_was_finished(tmp_path):
    first, second = tmp_path / "a" / "first", tmp_path / "b" / "second"
    first.mkdir(parents=True)
    found = EarlierRun.of(first, TASK)
    assert found.parent(second) == {"run": "../../a/first", "finished": None, "measured_prior": None}
    (first / "run.json").write_text('{"finished": "2026-05-04T10:11:12+00:00"}')
    found = replace(EarlierRun.of(first, TASK), measured="0.1..0.2")
    at = "2026-05-04T10:11:12+00:00"
    assert found.parent(second) == {"run": "../../a/first", "finished": at, "measured_prior": "0.1..0.2"}


def test_what_an_audit_measured_less_what_has_been_found(monkeypatch):
    """100 unlabelled nodes of which 8 to 30 are positive by the audit; 5 of 20 checks were right."""
    graph = Graph.from_edges([0], [1], num_nodes=110)
    before = PUTask.from_positives(graph, np.arange(10))
    after = before.with_feedback(np.arange(10, 15), np.arange(15, 30))
    drawn = SimpleNamespace(
        sample=lambda: SimpleNamespace(drawn=np.arange(20)),
        estimate=lambda: SimpleNamespace(positives=Band(15.0, 8.0, 30.0)),
    )
    monkeypatch.setattr(changes, "read_audit", lambda _: drawn)
    run = SimpleNamespace(task=before, settings=SimpleNamespace(parent=None))
    assert measured_prior(run, after) == (f"{3 / 80:.4g}..{25 / 80:.4g}", 20)
    drawn.estimate = lambda: SimpleNamespace(positives=Band(5.0, 5.0, 5.0))
    assert measured_prior(run, after) == (f"{0.5 / 80:.4g}..{0.5 / 80:.4g}", 20), "nothing is left, but not quite sure"
    drawn.sample = lambda: SimpleNamespace(drawn=np.arange(0))
    assert measured_prior(run, after) is None
    run.settings.parent = {"run": "first", "finished": None, "measured_prior": "0.1..0.3"}
    assert measured_prior(run, after) == (f"{5 / 80:.4g}..{25 / 80:.4g}", 0), "10 to 30 of 100, 5 of them found"
