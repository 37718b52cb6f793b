import json
from itertools import pairwise

import numpy as np
import pytest

from explained import planted
from pugnn import LabelPropagation, PugnnError, PUNodeClassifier, read_graph
from pugnn.explain import explain, explain_best
from pugnn.graph import Graph
from pugnn.task import PUTask
from pugnn.training.scoring import ABOVE_ALL_SCORES


@pytest.fixture(scope="module")
def fitted():
    task, causes = planted("neighbour")
    return task, causes, PUNodeClassifier(epochs=40, progress=False).fit_task(task)


def test_parts_add_up_to_the_log_odds_of_the_score(fitted):
    task, _, classifier = fitted
    scores = classifier.predict_proba()[:, 1]
    for node, each in zip(range(50), explain(classifier, task, np.arange(50)), strict=True):
        assert each.base + each.own + each.around == pytest.approx(np.log(scores[node] / (1 - scores[node])), abs=1e-5)
        assert (each.rest, each.how, each.unit) == (0, "exact", "log-odds")
        assert each.score == scores[node]


def test_the_parts_that_are_named_are_the_largest(fitted):
    task, _, classifier = fitted
    for each in explain(classifier, task, task.unlabelled[:20]):
        for parts in (each.nodes, each.speak_for, each.speak_against):
            sizes = [abs(part.contribution) for part in parts]
            assert sizes == sorted(sizes, reverse=True)
        assert all(part.contribution > 0 for part in each.speak_for)
        assert all(part.contribution < 0 for part in each.speak_against)
        for part in (*each.speak_for, *each.speak_against):
            assert part.own + part.around == pytest.approx(part.contribution)


def test_known_positives_hops_ranks_and_paths(fitted):
    task, _, classifier = fitted
    scores = classifier.predict_proba()[:, 1]
    order = np.argsort(-scores, kind="stable").tolist()
    known = set(task.labelled.tolist())
    order = [node for node in order if node not in known]
    for node, each in zip(range(60), explain(classifier, task, np.arange(60)), strict=True):
        assert each.rank == (None if node in known else order.index(node) + 1)
        assert each.nodes_ranked == len(order)
        assert (", rank " in each.sentences[0]) == (node not in known)
        assert each.known == ("positive" if node in known else None)
        for part in each.nodes:
            assert (part.known == "positive") == (part.id in known)
            assert (part.hops == 1) == (part.id in task.graph.neighbours(node))
        for path in each.nearest:
            assert path[0] == node
            assert path[-1] in known
            assert all(b in task.graph.neighbours(a) for a, b in pairwise(path))
            assert node in known or len(path) - 1 == task.distances[node]


def test_what_would_change_a_decision_does_change_it(fitted):
    task, _, classifier = fitted
    found = explain(classifier, task, task.unlabelled)
    changes = [(each, change) for each in found for change in each.changes]
    assert len(changes) > 100
    for each, change in changes:
        assert (change.score >= each.threshold) != each.decision
        assert len(change.names) == min(change.count, 5)


def test_a_known_negative_is_named_and_not_decided_positive():
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], features=np.eye(5)[[0, 0, 0, 1, 1]])
    task = PUTask(graph, np.array([0]), np.array([1, 3, 4]), np.array([2]))
    classifier = PUNodeClassifier("centroid").fit(graph, [0])
    one, other = explain(classifier, task, [2, 3])
    assert (one.known, one.decision) == ("negative", False)
    assert [part.known for part in other.nodes if part.id == 2] == ["negative"]
    assert "So its score is fixed" in one.sentences[0]
    assert one.changes == []


def test_with_a_graph_alone_nothing_is_said_of_known_positives(fitted):
    task, _, classifier = fitted
    (each,) = explain(classifier, task.graph, [3])
    assert (each.nearest, {part.known for part in each.nodes}) == (None, {None})
    assert not any("known" in sentence for sentence in each.sentences)


def test_the_best_finds_are_those_of_the_scores(fitted):
    task, _, classifier = fitted
    scores = classifier.decision_function()
    best = explain_best(classifier, task, scores, {"name": np.arange(400).astype(str)}, 3)
    expected = task.unlabelled[np.argsort(-scores[task.unlabelled], kind="stable")[:3]]
    assert [each.id for each in best] == expected.tolist()
    assert [each.shown for each in best] == [{"name": str(node)} for node in expected]
    assert len(explain_best(classifier, task, scores, {})) == 20


def test_explanations_are_plain_for_json_whatever_the_ids():
    ids = [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
    graph = Graph.from_edges([ids[0], ids[1], ids[2]], [ids[1], ids[2], ids[3]], ids=ids, features=np.eye(4))
    classifier = PUNodeClassifier("centroid").fit(graph, [ids[0]])
    (each,) = explain(classifier, PUTask.from_positives(graph, np.array([0])), [1])
    plain = json.loads(json.dumps(each.to_plain(), allow_nan=False))
    assert plain["id"] == "('b', 2)"
    assert plain["nearest"] == [["('b', 2)", "('a', 1)"]]
    assert plain["sentences"] == list(each.sentences)


def test_evidence_that_never_arrives_is_said():
    graph = Graph.from_edges([0, 2, 3], [1, 3, 4])
    classifier = PUNodeClassifier(LabelPropagation(prior=0.3)).fit(graph, [0])
    task = PUTask.from_positives(graph, np.array([0]))
    far, near = explain(classifier, task, [3, 1])
    assert (far.total, far.unit, far.nodes) == (0, "odds", [])
    assert "No known positive reaches it." in far.sentences
    assert "No path leads to a known positive." in far.sentences
    assert near.nodes[0].id == 0
    assert near.total / (1 + near.total) == pytest.approx(near.score, abs=1e-5)
    json.dumps(far.to_plain(), allow_nan=False)


def test_a_network_is_explained_by_gradients_and_says_what_is_missing():
    task, _ = planted("attribute", nodes=120, positive=40, known=15)
    classifier = PUNodeClassifier("naive", backbone="gin", epochs=20, progress=False).fit_task(task)
    (each,) = explain(classifier, task, task.unlabelled[:1])
    assert each.how == "gradients"
    assert each.base + each.own + each.around + each.rest == pytest.approx(each.total)
    assert len(explain_best(classifier, task, classifier.decision_function(), {})) == 3


def test_positions_outside_the_graph_are_refused(fitted):
    task, _, classifier = fitted
    for nodes in ([-1], [400]):
        with pytest.raises(PugnnError, match="is not in the graph; positions run from 0 to 399"):
            explain(classifier, task, nodes)


def test_words_of_texts_are_named():
    nodes = {
        "id": [f"n{at}" for at in range(60)],
        "about": ["sells stamps" if at < 20 else "rides bicycle" for at in range(60)],
    }
    edges = [(f"n{at}", f"n{(at + 1) % 20 if at < 20 else 20 + (at + 1) % 40}") for at in range(60)]
    data = read_graph(edges, nodes, positives=[f"n{at}" for at in range(5)], kinds={"about": "text"})
    classifier = PUNodeClassifier("centroid").fit_task(data.task)
    (each,) = explain(classifier, data.task, [10])
    assert {part.name for part in each.speak_for} >= {"about “stamps”", "about “bicycle”"}
    assert {part.name: part.value for part in each.speak_for}["about “stamps”"] == "present"


@pytest.mark.parametrize("threshold", [0.0, 1.0, ABOVE_ALL_SCORES])
@pytest.mark.parametrize("method", ["centroid", "label-propagation"])
def test_thresholds_that_nothing_or_everything_reaches(method, threshold):
    graph = Graph.from_edges(range(11), range(1, 12), features=np.eye(12))
    classifier = PUNodeClassifier(method, progress=False).fit(graph, [0, 1])
    classifier.threshold_ = threshold
    (found,) = explain(classifier, graph, [3])
    assert found.decision == (threshold == 0)
    assert not found.changes
