"""Where positives have one known cause, explanations name it first."""

import numpy as np
import pytest

from explained import planted
from pugnn import LabelPropagation, PUNodeClassifier
from pugnn.explain import explain


def found(task, causes, classifier):
    """True positives that were not known and are decided positive."""
    scores = classifier.predict_proba()[:, 1]
    return task.unlabelled[(causes[task.unlabelled] >= 0) & (scores[task.unlabelled] >= classifier.threshold_)]


@pytest.mark.parametrize("method", ["views", "centroid", "smoothed-logistic"])
def test_an_attribute_that_is_the_only_cause_is_named_first(method):
    task, causes = planted("attribute")
    settings = {"epochs": 60} if method == "views" else {}
    classifier = PUNodeClassifier(method, progress=False, **settings).fit_task(task)
    finds = found(task, causes, classifier)
    assert len(finds) >= 40
    named = [each.speak_for[0].name == "feature 0" for each in explain(classifier, task, finds)]
    assert np.mean(named) >= 0.95


def test_a_neighbour_that_is_the_only_cause_is_named_first():
    task, causes = planted("neighbour")
    classifier = PUNodeClassifier(epochs=60, progress=False).fit_task(task)
    finds = found(task, causes, classifier)
    assert len(finds) >= 40
    named = [
        each.nodes[0].id == causes[find] for find, each in zip(finds, explain(classifier, task, finds), strict=True)
    ]
    assert np.mean(named) >= 0.95


def test_the_known_positive_next_to_a_node_is_named_first_by_label_propagation():
    task, _ = planted("attribute")
    classifier = PUNodeClassifier(LabelPropagation(prior=0.3)).fit_task(task)
    known = np.zeros(task.graph.num_nodes, dtype=bool)
    known[task.labelled] = True
    linked = [node for node in task.unlabelled.tolist() if known[task.graph.neighbours(node)].sum() == 1]
    assert len(linked) >= 40
    named = [
        task.graph.ids.tolist().index(each.nodes[0].id) in task.graph.neighbours(node)
        for node, each in zip(linked, explain(classifier, task, linked), strict=True)
    ]
    assert np.mean(named) >= 0.95


def test_a_network_names_the_attribute_first_by_its_gradients():
    task, causes = planted("attribute")
    classifier = PUNodeClassifier("naive", backbone="mlp", epochs=100, progress=False).fit_task(task)
    finds = task.unlabelled[causes[task.unlabelled] >= 0][:45]
    named = [each.speak_for[0].name == "feature 0" for each in explain(classifier, task, finds)]
    assert np.mean(named) >= 0.95


def test_cutting_the_link_to_the_named_neighbour_lowers_the_score():
    from pugnn.graph import Graph

    task, causes = planted("neighbour")
    classifier = PUNodeClassifier(epochs=60, progress=False).fit_task(task)
    finds = found(task, causes, classifier)[:40]
    before, lower = classifier.predict_proba()[:, 1], 0
    for find, each in zip(finds.tolist(), explain(classifier, task, finds), strict=True):
        sources, targets = task.graph.sources, task.graph.indices
        link = ((sources == find) & (targets == each.nodes[0].id)) | ((targets == find) & (sources == each.nodes[0].id))
        cut = Graph.from_edges(sources[~link], targets[~link], num_nodes=len(before), features=task.graph.features)
        lower += classifier.predict_proba(cut)[find, 1] < before[find]
    assert lower >= 0.95 * len(finds)
