"""Every statement of an explanation, checked by computing it anew with the model itself."""

import re
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.special import expit, logit

from dense_views import attribute_rows
from explained import planted
from planted import evidence
from pugnn import LabelPropagation, PUNodeClassifier
from pugnn.datasets import load_dataset
from pugnn.explain import explain
from pugnn.explain.attribute_columns import CLOSENESS, PLACE, Columns
from pugnn.graph import Graph
from pugnn.models import GraphInputs
from pugnn.task import PUTask, draw_benchmark
from pugnn.views import FAR, ROUNDING, relative_walks

TASKS = {
    "cora": lambda: draw_benchmark(load_dataset("cora"), labels=27, seed=0).task,
    "a ring": lambda: ring(),
    "a word": lambda: planted("attribute")[0],
    "a neighbour": lambda: planted("neighbour")[0],
    "dense attributes": lambda: evidence(0.2, nodes=600).task,
    "no attributes": lambda: without_features(planted("attribute")[0]),
}
NETWORKS = [("a word", "gcn"), ("a neighbour", "sage"), ("dense attributes", "gin"), ("dense attributes", "mlp")]


def without_features(task):
    graph = Graph.from_edges(task.graph.sources, task.graph.indices, num_nodes=task.graph.num_nodes)
    return type(task).from_positives(graph, task.labelled)


def ring():
    """Twenty nodes, ten of them known, that are linked to each other; attributes say nothing."""
    rng = np.random.default_rng(0)
    source, target = np.hstack([rng.integers(0, 600, (2, 1200)), rng.integers(0, 20, (2, 80))])
    features = rng.normal(size=(600, 5))
    graph = Graph.from_edges(source[source != target], target[source != target], num_nodes=600, features=features)
    return PUTask.from_positives(graph, np.arange(0, 20, 2))


def explained(task, classifier, count=6):
    """The best finds and as many others, and what is said of them."""
    log_odds = classifier.decision_function()
    order = task.unlabelled[np.argsort(-log_odds[task.unlabelled], kind="stable")]
    others = np.random.default_rng(0).choice(order[count:], count, replace=False)
    nodes = np.concatenate([order[:count], others, task.labelled[:2]])
    return zip(nodes.tolist(), explain(classifier, task, nodes), strict=True)


@cache
def fitted(name, network=None):
    task = TASKS[name]()
    method = "views" if network is None else "naive"
    settings = {} if network is None else {"backbone": network}
    return task, PUNodeClassifier(method, epochs=20, progress=False, **settings).fit_task(task)


class ViewsAnew:
    """The log-odds of a model of views, with average attributes of some nodes or in some columns.

    Nothing comes from known positives among these nodes, and the last column is for closeness to known positives.
    """

    def __init__(self, classifier, graph):
        self.model = classifier.model_
        seeds = np.zeros((graph.num_nodes, 1), np.float32)
        seeds[classifier.labelled_] = 1
        self.known, self.relative = classifier.labelled_, relative_walks(graph, seeds)[:, 0].astype(np.float64)
        self.columns = Columns(graph, self.model.views(graph).width + 1, closeness=True)
        self.views = self.model.views(graph)
        self.own = attribute_rows(graph, self.model.attributes).astype(np.float64)
        itself = np.eye(graph.num_nodes, dtype=np.float32)
        self.spreads = [self.views.source.image(name, itself) for name in self.views.names]

    def __call__(self, node, nodes=(), columns=()):
        changed = self.own.copy()
        changed[list(nodes)] = self.own.mean(axis=0)
        linked = self.own.shape[1] not in columns
        columns = [column for column in columns if column < self.own.shape[1]]
        changed[:, columns] = self.own.mean(axis=0)[columns]
        walks, itself = self.spreads[0][self.known, node], self.known == node
        stays = itself | (linked & ~np.isin(self.known, list(nodes)))
        walks = self.relative[node] * walks[stays].sum() / max(walks.sum(), 1e-30)
        closeness = np.log(walks + FAR) - np.log(self.relative + FAR).mean()
        total = float(self.model.constant) + float(self.model.by_closeness) * closeness
        for name, spread, direction in zip(self.views.names, self.spreads, self.model.direction.numpy(), strict=True):
            before, after = spread[node] @ self.own, spread[node] @ changed
            length = np.linalg.norm(after)
            if length > ROUNDING:  # as the model estimates the length, in proportion
                scale = self.views.scales[name][node] * np.linalg.norm(before) / length
                total += scale * float(after @ direction)
        return total


class NetworkAnew:
    """The logit of a network, with features of 0 of some nodes or in some columns."""

    def __init__(self, classifier, graph):
        self.model, self.graph = classifier.model_, graph

    @torch.no_grad()
    def __call__(self, node, nodes=(), columns=()):
        x = sp.csr_array(self.graph.features).toarray()
        x[list(nodes)] = 0
        x[:, list(columns)] = 0
        changed = Graph(self.graph.indptr, self.graph.indices, x, self.graph.ids)
        return float(self.model(GraphInputs(changed)).logit[node])


def check_parts(each, node, task, anew, columns):
    """That what speaks for a node raises its log-odds, what speaks against it lowers them, and scores are as told."""
    position = {name: at for at, name in enumerate(task.graph.ids.tolist())}
    at = {name: np.array([place]) for place, name in enumerate(columns.names)}
    total = anew(node)
    assert total == pytest.approx(each.total, abs=1e-4)
    parts = [(part, {"nodes": [position[part.id]]}) for part in each.nodes]
    parts += [
        (part, {"columns": columns.of_attributes(at[part.name])}) for part in (*each.speak_for, *each.speak_against)
    ]
    for part, left_out in parts:
        without = anew(node, **left_out)
        assert np.sign(total - without) == np.sign(part.contribution), (part, total, without)
        assert np.sign(each.score - part.score_without) == np.sign(part.contribution)
        assert part.score_without == pytest.approx(expit(without), abs=1e-4)
    assert each.score_without_own == pytest.approx(expit(anew(node, nodes=[node])), abs=1e-4)


def check_sums(each):
    """That the numbers which are told add up to the total that is told."""
    (sentence,) = (sentence for sentence in each.sentences if sentence.startswith("Its log-odds"))
    total, *terms = (float(number.replace("−", "-")) for number in re.findall(r"[+−]\d+\.\d\d", sentence))
    assert total == round(each.total, 2)
    assert total == pytest.approx(sum(terms), abs=0.025)
    for part in (*each.speak_for, *each.speak_against):
        assert part.own + part.around == pytest.approx(part.contribution)
        told = next((sentence for sentence in each.sentences if f" {part.name} (" in sentence), None)
        if told is not None:  # by name, with the value of the node itself only beside what that contributes
            words = told[told.index(f" {part.name} (") + len(part.name) + 3 :].split(")")[0]
            if part.name not in (CLOSENESS, PLACE):
                assert ("its own value" in words) == (abs(part.own) >= 0.005)
                assert ("around it" in words) == (abs(part.around) >= 0.005)
            numbers = [float(number.replace("−", "-")) for number in re.findall(r"[+−]\d+\.\d\d", words)]
            assert numbers[0] == pytest.approx(sum(numbers[1:]) if len(numbers) > 1 else part.contribution, abs=0.016)


def check_changes(each, node, task, anew, columns):
    """That what would change the decision does; a longer list than is told cannot be checked from outside."""
    position = {name: at for at, name in enumerate(task.graph.ids.tolist())}
    for change in each.changes:
        assert (change.score >= each.threshold) != each.decision
        if change.count > len(change.names):
            continue
        if change.kind == "nodes":
            without = anew(node, nodes=[position[name] for name in change.names])
        else:
            places = np.array([columns.names.index(name) for name in change.names])
            without = anew(node, columns=columns.of_attributes(places))
        assert change.score == pytest.approx(expit(without), abs=1e-4)


@pytest.mark.parametrize("name", list(TASKS))
def test_statements_about_the_default_method_are_true(name):
    task, classifier = fitted(name)
    anew = ViewsAnew(classifier, task.graph)
    columns = anew.columns
    named, linked = 0, []
    for node, each in explained(task, classifier, count=2 if name == "cora" else 6):
        named += len(each.nodes) + len(each.speak_for) + len(each.speak_against)
        check_parts(each, node, task, anew, columns)
        check_sums(each)
        check_changes(each, node, task, anew, columns)
        assert each.total == pytest.approx(logit(each.score), abs=1e-4)
        linked.append(any("no path led from it to a known positive" in sentence for sentence in each.sentences))
    assert named > 30
    assert name != "a ring" or any(linked)


@pytest.mark.parametrize(("name", "network"), NETWORKS)
def test_statements_about_networks_are_true(name, network):
    task, classifier = fitted(name, network)
    anew = NetworkAnew(classifier, task.graph)
    columns = Columns(task.graph, task.graph.num_features)
    named = 0
    for node, each in explained(task, classifier, count=4):
        named += len(each.nodes) + len(each.speak_for) + len(each.speak_against)
        check_parts(each, node, task, anew, columns)
        check_sums(each)
        check_changes(each, node, task, anew, columns)
        everywhere = anew(node, nodes=range(task.graph.num_nodes))
        assert each.base == pytest.approx(everywhere, abs=1e-4), "all features 0"
    assert named > 15


@pytest.mark.parametrize("normalisation", ["symmetric", "walk"])
def test_statements_about_label_propagation_are_true(normalisation):
    task = planted("attribute")[0]
    task = task.with_feedback(np.zeros(0, np.int64), task.unlabelled[:3])
    classifier = PUNodeClassifier(LabelPropagation(prior=0.3, normalisation=normalisation)).fit_task(task)
    model, graph = classifier.model_, task.graph
    adjacency = graph.to_scipy().toarray().astype(float)
    degree = np.maximum(adjacency.sum(axis=1), 1)
    matrix = adjacency / degree if normalisation == "walk" else adjacency / np.sqrt(np.outer(degree, degree))
    spread = 0.1 * np.linalg.inv(np.eye(len(degree)) - 0.9 * matrix)

    def odds(node, left_out=()):
        positive = spread[node, np.setdiff1d(task.labelled, left_out)].sum()
        negative = spread[node, task.negative].sum()
        return positive**2 / max(positive + negative, 1e-300) / float(model.middle)

    for node, each in explained(task, classifier):
        total = odds(node)
        assert each.total == pytest.approx(total, rel=1e-3, abs=1e-4)
        assert each.base + each.own + each.around == pytest.approx(each.total)
        for part in each.nodes:
            without = odds(node, [part.id])
            assert without < total
            assert part.score_without < each.score
            assert part.score_without == pytest.approx(without / (1 + without), abs=1e-4)
        told = [sentence for sentence in each.sentences if "come from known positives" in sentence]
        shares = [int(share) for sentence in told for share in re.findall(r"(\d+) %", sentence)]
        assert not told or abs(sum(shares) - 100) <= 3
        for change in each.changes:
            assert (change.score >= each.threshold) != each.decision
