"""One case, with all that is needed to decide, and blind."""

import json
import re
from threading import Event

import numpy as np
import pytest

from pugnn.explain import explain
from pugnn.explore.case import CaseFile
from pugnn.explore.surroundings import Surroundings
from pugnn.graph.measures import hop_distances
from rooms import opened


@pytest.fixture
def cases(room):
    return CaseFile(room, Surroundings(room))


def test_a_case_tells_what_explain_tells(room, cases):
    node = int(room.run.others[0])
    found = explain(room.run.estimator, room.run.task, [node], log_odds=room.run.log_odds)[0]
    case = cases.of(node, blind=False)
    why = case["why"]
    assert why["sentences"] == list(found.sentences)
    assert case["whyMissing"] == ""
    assert [part["contribution"] for part in why["parts"]] == [
        part.contribution for part in (*found.speak_for, *found.speak_against)
    ]
    assert [part["id"] for part in why["nodes"]] == [str(part.id) for part in found.nodes]
    assert case["columns"] == [{"name": name, "value": room.run.data.shown[name][node]} for name in ("name", "city")]
    assert case["degree"] == len(room.graph.neighbours(node))


def test_a_blind_case_tells_neither_score_nor_rank(room, cases):
    for node in room.run.others[:5].tolist():
        case = cases.of(node, blind=True)
        text, score = json.dumps(case), f"{room.run.scores[node]:.3f}"
        assert case["row"]["score"] is case["row"]["rank"] is case["row"]["decided"] is None
        assert score not in text
        assert f"Rank {room.rank[node]}" not in text
        numbers = [part[name] for part in case["why"]["parts"] for name in ("own", "around", "contribution")]
        numbers += [part["contribution"] for part in case["why"]["nodes"]]
        assert set(numbers) <= {None}
        names = [part["name"] for part in case["why"]["parts"] if len(part["name"]) == 1]
        assert names == [name for name in ("x", "y", "z") if name in names], "in the order of the columns"
        around = hop_distances(room.graph, [node])[[each["node"] for each in case["why"]["nodes"]]].tolist()
        assert around == sorted(around), "the nearest first"


def test_a_blind_case_tells_links_but_not_what_speaks_for_or_against(room, cases):
    told = []
    for node in room.run.others.tolist():
        case = cases.of(node, blind=True)
        told += (words := case["why"]["sentences"])
        assert not re.search(r"\b(for it|against it|speaks?|odds|score|decided|decision)\b", " ".join(words), re.I)
        known = int((room.run.known[room.graph.neighbours(node)] == 1).sum())
        assert any(f"Linked to {known} known positive" in each for each in words) == (known > 0)
        assert case["nearest"] or "No path leads to a known positive." in words
        assert case["why"]["parts"]
    assert any("Linked to" in each for each in told)
    assert any("hops away" in each for each in told)


def test_the_nearest_that_was_only_confirmed_is_marked(room, cases):
    node = int(room.run.others[0])
    other = next(each for each in room.graph.neighbours(node).tolist() if not room.run.known[each])
    room.decide(other, "yes", None, "list")
    nearest = {each["node"]: each["confirmed"] for each in cases.of(node, blind=False)["nearest"]}
    assert nearest.pop(other)
    assert not any(nearest.values())


def test_history_and_note(room, cases):
    node = int(room.run.others[0])
    room.decide(node, "yes", "first", "finds")
    room.decide(node, "note", "second", "finds")
    room.undo(1)
    case = cases.of(node, blind=False)
    assert case["note"] == "second"
    assert [(event["verdict"], event["note"]) for event in case["history"]] == [
        ("undo", ""),
        ("note", "second"),
        ("yes", "first"),
    ]
    assert all(event["who"] == "me" and event["at"] for event in case["history"])


def test_similar_cases_are_decided_ones_most_alike_first(room, cases):
    node, decided = int(room.run.others[0]), room.run.others[1:12].tolist()
    assert cases.of(node, blind=False)["similar"] == []
    for other in decided:
        room.decide(other, "no", f"note on {other}", "list")
    similar = cases.of(node, blind=False)["similar"]
    looks = cases._looks
    alike = {other: float(np.dot(looks[other], looks[node])) for other in decided}
    expected = sorted(alike.values(), reverse=True)[:5]
    assert np.allclose([alike[each["node"]] for each in similar], expected)
    assert all(each["status"] == "rejected" and each["note"] == f"note on {each['node']}" for each in similar)


def test_nearest(room, cases):
    for node in range(0, 60, 7):
        for each in cases.of(node, blind=True)["nearest"]:
            assert room.positives[each["node"]]
            assert len(each["path"]) == each["hops"] + 1
            assert each["path"][0]["node"] == node
            assert each["path"][-1]["id"] == each["id"]


def test_relations_are_told(relations_run):
    room = opened(relations_run)
    case = CaseFile(room, Surroundings(room)).of(int(room.run.others[0]), blind=False)
    assert {each["name"] for each in case["why"]["relations"]} <= set(room.graph.relations)


def test_what_cannot_be_explained_says_why(room, cases, monkeypatch):
    monkeypatch.setattr("pugnn.explore.case.MAX_NODES_EXPLAINED", 10)
    case = cases.of(0, blind=False)
    assert case["why"] is None
    assert "pugnn explain" in case["whyMissing"]


def test_few_explanations_are_kept(cases, monkeypatch):
    monkeypatch.setattr("pugnn.explore.case.KEPT", 3)
    for node in range(6):
        cases.of(node, blind=True)
    assert len(cases._explained) == 3


def test_a_case_does_not_wait_for_a_slow_explanation(cases, monkeypatch):
    monkeypatch.setattr("pugnn.explore.case.PATIENCE", 0.0)
    began, go_on = Event(), Event()
    explain_now = cases._explain

    def explain_slowly(node):
        began.set()
        assert go_on.wait(60)
        return explain_now(node)

    monkeypatch.setattr(cases, "_explain", explain_slowly)
    case = cases.of(30, blind=True)
    assert case["why"] is None
    assert case["whyPending"]
    assert "still" in case["whyMissing"]
    go_on.set()
    monkeypatch.setattr("pugnn.explore.case.PATIENCE", 60.0)
    case = cases.of(30, blind=True)
    assert case["why"]
    assert not case["whyPending"]


def test_the_next_of_a_queue_are_explained_ahead(room, cases):
    nodes = room.run.others[:6].tolist()
    cases.ahead(nodes)
    assert set(cases._explained) == set(nodes[:2])
    cases.of(nodes[2], blind=True)
    assert set(cases._explained) == set(nodes[:5])
