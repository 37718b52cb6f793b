import json
from base64 import b64decode
from dataclasses import replace

import numpy as np
import pytest

from estimates import ESTIMATE, MEASURED
from pugnn.graph import UNREACHABLE
from pugnn.runs.report import data as report_data
from pugnn.runs.report.data import island, page_data, slider_steps
from report_contents import path_content, random_content, with_task


def column(data, name):
    return np.frombuffer(b64decode(data["list"][name]), dtype="<f8" if name in ("scores", "log_odds") else "<i4")


def test_counts_are_right_at_every_step_of_the_slider():
    content = random_content(500)
    data = page_data(content)
    unknown = np.setdiff1d(np.arange(500), content.task.labelled)
    for at, step in enumerate(data["steps"]):
        assert sum(ring["reach"][at] for ring in data["rings"]) == (content.scores[unknown] >= step).sum()
        decided, positive = content.scores[content.truth.scored] >= step, content.truth.positive[content.truth.scored]
        assert data["truth"]["reach"][at] == decided.sum()
        assert data["truth"]["right"][at] == (decided & positive).sum()


def test_rings_are_counted_apart():
    data = page_data(path_content([0.9, 0.8, 0.2, 0.7]))
    assert [ring["nodes"] for ring in data["rings"]] == [1, 1, 1]
    assert [ring["reach"][data["start"]] for ring in data["rings"]] == [1, 0, 1]


@pytest.mark.parametrize("threshold", [0.5, 0.123456789123, 0.0, 1.0])
def test_slider_starts_at_the_threshold_of_the_run(threshold):
    data = page_data(random_content(50, threshold=threshold))
    assert data["steps"][data["start"]] == threshold


def test_slider_parts_scores_that_lie_close_together():
    scores = np.sort(0.9 + 1e-6 * np.random.default_rng(0).random(1000))[::-1]
    steps = slider_steps(scores, 0.5)
    reaching = {int((scores >= step).sum()) for step in steps}
    assert reaching >= {1, 2, 5, 10, 20, 50, 100, 200, 500}
    assert len(steps) < 400


def test_slider_with_equal_scores_has_no_step_between_them():
    assert len(slider_steps(np.full(100, 0.3), 0.3)) == 101


def test_list_is_in_the_order_of_the_table_of_scores():
    content = random_content(200)
    data = page_data(content)
    order = np.argsort(-content.scores, kind="stable")
    assert data["list"]["names"][:200] == content.task.graph.ids[order].tolist()
    np.testing.assert_array_equal(column(data, "scores"), content.scores[order])
    np.testing.assert_array_equal(column(data, "log_odds"), content.log_odds[order])
    hops = np.where(content.task.distances == UNREACHABLE, -1, content.task.distances)
    np.testing.assert_array_equal(column(data, "hops"), hops[order])
    for node, near in zip(order, column(data, "nearest"), strict=True):
        expected = content.task.nearest[node]
        assert (near == -1) == (expected == -1)
        assert near == -1 or data["list"]["names"][near] == content.task.graph.ids[expected]


def test_list_of_a_large_graph_holds_the_best_and_names_their_nearest(monkeypatch):
    monkeypatch.setattr(report_data, "MAX_LISTED", 2)
    data = page_data(path_content([0.1, 0.2, 0.8, 0.9]))
    assert data["list"]["kept"] == 2
    assert data["list"]["names"] == ["n3", "n2", "n0"]
    assert column(data, "nearest").tolist() == [2, 2]
    assert sum(ring["nodes"] for ring in data["rings"]) == 3  # counts are of all nodes


def test_list_is_bounded_by_the_bytes_of_its_ids(monkeypatch):
    monkeypatch.setattr(report_data, "MAX_BYTES_OF_IDS", 10_000)
    content = path_content(np.linspace(1, 0, 1000), ids=[f"{'<' * 150}{position}" for position in range(1000)])
    data = page_data(content)
    assert 5 < data["list"]["kept"] < 20
    assert len(island({"names": data["list"]["names"]})) < 12_000


def test_long_ids_are_cut():
    data = page_data(path_content([0.9, 0.1], ids=["a" * 1_000_000, "b"]))
    assert [len(name) for name in data["list"]["names"]] == [200, 1]


def test_equal_scores_are_listed_by_their_log_odds():
    content = path_content([1.0, 1.0, 1.0, 0.5], log_odds=np.array([40.0, 41.0, 42.0, 0.0]))
    assert page_data(content)["list"]["names"] == ["n2", "n1", "n0", "n3"]
    assert content.others.tolist() == [2, 1, 3]


def test_known_negatives_are_listed_and_counted_nowhere():
    content = path_content([0.9, 0.8, 0.7, 0.2])
    rejected = with_task(content, replace(content.task, negative=np.array([2]), unlabelled=np.array([1, 3])))
    data = page_data(rejected)
    assert data["list"]["rejected"] == [2]
    assert sum(ring["nodes"] for ring in data["rings"]) == 2
    assert rejected.found == 1


def test_measured_precision_by_the_number_taken_ends_with_the_decision():
    assert page_data(path_content([0.9, 0.1]))["measured"] == []
    audit = {"drawn": 20, "open": 0, "files": [], "checked": [], "measured": MEASURED}
    data = page_data(path_content([0.9, 0.1], record={"estimate": ESTIMATE, "audit": audit}))
    assert [point["taken"] for point in data["measured"]] == [10, 20, 100, 1000, 3100]
    assert data["measured"][2] == {"taken": 100, "precision": [0.72, 0.58, 0.83]}
    assert data["hidden"] == ESTIMATE["hidden"]["ranks"]


def test_classes_by_name_and_without():
    positive = [True, True, False]
    named = path_content([0.9, 0.8, 0.7], positive=positive, class_of_node=["A", "A", "B"])
    assert page_data(named)["list"]["classes"] == [{"name": "A", "positive": True}, {"name": "B", "positive": False}]
    plain = page_data(path_content([0.9, 0.8, 0.7], positive=positive))["list"]
    assert [each["name"] for each in plain["classes"]] == ["positive", "not positive"]
    assert page_data(path_content([0.9, 0.8, 0.7]))["list"]["classes"] is None


def test_island_cannot_end_its_script():
    text = island({"id": "</script><!--<script>"})
    assert "<" not in text
    assert json.loads(text) == {"id": "</script><!--<script>"}


def test_shown_cells_count_among_the_bytes_of_the_list(monkeypatch):
    cells = np.array(["x" * 500] * 50, dtype=object)
    monkeypatch.setattr(report_data, "MAX_BYTES_OF_IDS", 2000)
    plain, shown = (page_data(random_content(50, **more))["list"] for more in ({}, {"shown": {"about": cells}}))
    assert plain["kept"] == 50
    assert 1 <= shown["kept"] < 10
    assert len(shown["shown"][0]["values"][0]) == report_data.MAX_ID_LENGTH
