import numpy as np
import pytest

from explained import LargestTensor
from pugnn import LabelPropagation, PUNodeClassifier
from pugnn.explain.exact_parts import propagation_parts
from pugnn.graph import Graph
from pugnn.task import PUTask

NONE = np.zeros(0, np.int64)


@pytest.mark.parametrize("normalisation", ["symmetric", "walk"])
def test_each_known_positive_contributes_what_it_would_spread_alone(normalisation):
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(*rng.integers(30, size=(2, 60)), num_nodes=30, weights=rng.random(60) + 0.1)
    classifier = PUNodeClassifier(LabelPropagation(prior=0.3, normalisation=normalisation)).fit(graph, [2, 5, 9])
    adjacency = graph.to_scipy().toarray().astype(float)
    degree = np.maximum(adjacency.sum(axis=1), 1e-300)
    matrix = adjacency / degree if normalisation == "walk" else adjacency / np.sqrt(np.outer(degree, degree))
    spread = 0.1 * np.linalg.inv(np.eye(30) - 0.9 * matrix) / float(classifier.model_.middle)
    scores = classifier.predict_proba()[:, 1]
    nodes = np.arange(30)
    for node, parts in zip(nodes, propagation_parts(classifier.model_, graph, nodes), strict=True):
        np.testing.assert_allclose(parts.by_node[[2, 5, 9]], spread[node, [2, 5, 9]], atol=1e-4)
        assert np.delete(parts.by_node, [2, 5, 9]).sum() == 0
        assert parts.total / (1 + parts.total) == pytest.approx(scores[node], abs=1e-9)
        assert parts.without(np.array([5]), NONE) == pytest.approx(parts.total - parts.by_node[5])


def test_known_negatives_lower_what_each_known_positive_contributes():
    rng = np.random.default_rng(1)
    graph = Graph.from_edges(*rng.integers(30, size=(2, 60)), num_nodes=30)
    task = PUTask.from_positives(graph, np.array([2, 5, 9]))
    task = task.with_feedback(np.zeros(0, np.int64), np.array([4, 11]))
    classifier = PUNodeClassifier(LabelPropagation(prior=0.3)).fit_task(task)
    odds = np.exp(classifier.decision_function())
    fewer = PUNodeClassifier(LabelPropagation(prior=0.3))
    fewer.fit_task(PUTask(graph, np.array([2, 9]), np.setdiff1d(task.unlabelled, [5]), task.negative))
    # Both have as many negatives as count in full, so that only what spreads from node 5 differs.
    expected = np.exp(fewer.decision_function()) * float(fewer.model_.middle / classifier.model_.middle)
    nodes = np.setdiff1d(np.arange(30), [2, 4, 5, 9, 11])
    for node, parts in zip(nodes, propagation_parts(classifier.model_, graph, nodes), strict=True):
        assert parts.by_node.sum() == pytest.approx(odds[node], rel=1e-4)
        assert parts.without(np.array([5]), NONE) == pytest.approx(expected[node], rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("normalisation", ["symmetric", "walk"])
def test_memory_grows_with_the_nodes_that_are_explained_and_not_with_the_known_positives(normalisation, monkeypatch):
    rng = np.random.default_rng(2)
    graph = Graph.from_edges(*rng.integers(2000, size=(2, 3000)), num_nodes=2000)
    known = np.arange(500)
    classifier = PUNodeClassifier(LabelPropagation(prior=0.3, normalisation=normalisation)).fit(graph, known)
    monkeypatch.setattr("pugnn.explain.exact_parts.MAX_NUMBERS", 4 * 2000)
    with LargestTensor() as largest:
        found = list(propagation_parts(classifier.model_, graph, np.arange(1000, 1010)))
    assert largest.numbers <= max(4 * 2000, len(graph.indices)), "four nodes at a time, and never (N, n_L)"
    odds = np.exp(classifier.decision_function())[1000:1010]
    assert [parts.total for parts in found] == pytest.approx(odds, rel=1e-9), "as many steps as the scores have"
    assert [parts.by_node.sum() for parts in found] == pytest.approx(odds, rel=1e-9)
