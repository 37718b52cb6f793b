import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import random_graph
from pugnn import PUNodeClassifier
from pugnn.graph import Graph
from pugnn.runs import EarlierRun
from pugnn.task import PUTask

IDS = [f"n{i}" for i in range(8)]
GRAPH = Graph.from_edges(IDS[:-1], IDS[1:], ids=IDS)
TASK = PUTask.from_positives(GRAPH, np.array([0]), np.array([7]))
BEFORE = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.95]
NOW = np.array([0.9, 0.1, 0.7, 0.6, 0.5, 0.4, 0.8, 0.0])


def earlier(scores: dict[str, float]) -> EarlierRun:
    table = pa.table({"id": pa.array(list(scores), pa.large_string()), "score": list(scores.values())})
    return EarlierRun("first", None, table, confirmed=3, rejected=1)


def test_who_rose_and_who_fell_by_plain_loops():
    found = earlier(dict(zip(IDS, BEFORE, strict=True))).changes(TASK, NOW, warm=True)
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
    before = {str(node): node / 100 for node in range(90)}
    found = earlier(before).changes(task, 1 - np.arange(100) / 100, warm=False)
    assert len(found["rose"]) == len(found["fell"]) == 20
    assert found["rose"][0]["id"] == 1
    assert found["rose"][0]["rank_before"] == 89


def test_nothing_moved():
    found = earlier(dict(zip(IDS, BEFORE, strict=True))).changes(TASK, np.array(BEFORE), warm=False)
    assert found["rose"] == found["fell"] == []


def test_a_run_that_cannot_be_read_says_so(tmp_path):
    found = EarlierRun.of(tmp_path, confirmed=1, rejected=0)
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
    assert "cannot be read" in EarlierRun.of(tmp_path, confirmed=0, rejected=0).notes[-1]


def test_model_and_scores_of_a_run(tmp_path):
    graph = random_graph(30, 0.1, seed=1, features=3)
    PUNodeClassifier("centroid", progress=False).fit(graph, [1, 2]).save(tmp_path / "model.safetensors")
    pq.write_table(pa.table({"id": [3, 4], "score": [0.25, 0.5]}), tmp_path / "scores.parquet")
    found = EarlierRun.of(tmp_path, confirmed=0, rejected=0)
    assert found.notes == ()
    assert found.scores.to_pydict() == {"id": ["3", "4"], "score": [0.25, 0.5]}
    assert found.name == tmp_path.name
