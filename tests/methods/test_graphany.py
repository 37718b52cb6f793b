import numpy as np
import pytest
import scipy.sparse as sp
import torch

from conftest import random_graph
from pugnn import PUNodeClassifier
from pugnn.errors import PugnnError
from pugnn.explain import explain
from pugnn.graph import Graph
from pugnn.methods import GraphAny
from pugnn.methods.graphany import PENALTY, channels
from pugnn.models import GraphInputs
from pugnn.task import PUTask
from pugnn.training import TrainingSettings, score

LABELLED, SETTINGS = [0, 3, 4], TrainingSettings()


def fit(graph, **options):
    return GraphAny(**{"prior": 0.3, **options}).fit(PUTask.from_positives(graph, np.array(LABELLED)), SETTINGS)


def formed(graph):
    """The five channels as dense matrices, by loops over nodes, neighbours and columns."""
    x = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    own = []
    for row in x.tolist():
        length = sum(value * value for value in row) ** 0.5
        own.append([value / length if length else 0.0 for value in row])

    def average(rows):
        found = []
        for node in range(graph.num_nodes):
            near = graph.neighbours(node).tolist()
            found.append([sum(rows[j][column] for j in near) / max(1, len(near)) for column in range(len(rows[0]))])
        return found

    def minus(rows, others):
        return [[a - b for a, b in zip(one, other, strict=True)] for one, other in zip(rows, others, strict=True)]

    near, sharp = average(own), minus(own, average(own))
    return [np.array(rows) for rows in (own, near, average(near), sharp, minus(sharp, average(sharp)))]


def by_loops(graph, prior):
    """The logit of every node, with a dense solve for each channel and the intercept as a column of its own."""
    n = graph.num_nodes
    y = np.isin(np.arange(n), LABELLED).astype(float)
    free = [node for node in range(n) if node not in LABELLED]
    mixed = np.zeros(n)
    for z in formed(graph):
        columns = np.hstack([z, np.ones((n, 1))])
        penalty = PENALTY * np.diag([1.0] * z.shape[1] + [0.0])
        predicted = columns @ np.linalg.solve(columns.T @ columns + penalty, columns.T @ y)
        mean = sum(predicted[node] for node in free) / len(free)
        spread = (sum((predicted[node] - mean) ** 2 for node in free) / len(free)) ** 0.5
        mixed += (predicted - mean) / spread / 5
    best = sorted((mixed[node] for node in free), reverse=True)
    count = round(prior * len(free))
    return 4 * (mixed - (best[count - 1] + best[count]) / 2)


def with_zero_row(sparse):
    graph = random_graph(30, 0.1, seed=2, features=6)  # has lone nodes
    x = np.array(graph.features)
    x[[5, 7]] = 0.0
    return Graph.from_edges(graph.sources, graph.indices, num_nodes=30, features=sp.csr_array(x) if sparse else x)


@pytest.mark.parametrize("sparse", [False, True])
def test_equals_plain_loops(sparse):
    graph = with_zero_row(sparse)
    expected = by_loops(graph, 0.3)
    found = fit(graph).model(GraphInputs(graph)).logit.detach().numpy()
    assert found == pytest.approx(expected, abs=2e-3 * np.abs(expected).max())
    assert (found[[node for node in range(30) if node not in LABELLED]] > 0).sum() == round(0.3 * 27)


def test_channels_are_the_products_of_the_formed_ones():
    graph = with_zero_row(sparse=True)
    weights = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    expected = np.stack([z @ weights[:, at].numpy() for at, z in enumerate(formed(graph))], axis=1)
    assert channels(GraphInputs(graph))(weights).numpy() == pytest.approx(expected, abs=1e-5)


def test_without_edges_attributes_decide():
    x = np.random.default_rng(0).random((20, 4)).astype(np.float32)
    graph = Graph.from_edges([], [], num_nodes=20, features=x)
    model = fit(graph).model
    assert model.weights[:, 1:3].abs().max() == 0
    assert np.isfinite(score(model, graph).numpy()).all()


def test_a_saved_model_scores_another_graph(tmp_path):
    graph, other = random_graph(40, 0.1, seed=1, features=6), random_graph(25, 0.2, seed=2, features=6)
    classifier = PUNodeClassifier(GraphAny(0.3), progress=False).fit(graph, LABELLED)
    classifier.save(tmp_path / "model")
    loaded = PUNodeClassifier.load(tmp_path / "model")
    assert loaded.predict_proba(other).tobytes() == classifier.predict_proba(other).tobytes()


@pytest.mark.parametrize("sparse", [False, True])
def test_its_explanation_adds_up(sparse):
    graph = with_zero_row(sparse)
    classifier = PUNodeClassifier(GraphAny(0.3), progress=False).fit(graph, LABELLED)
    for each in explain(classifier, graph, [1, 9]):
        assert each.rest == pytest.approx(0, abs=1e-4), "its logit is linear in the attributes"


def test_attributes_are_needed():
    with pytest.raises(PugnnError, match="graphany reads attributes, and the graph has none; give some, or use label-"):
        fit(Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4]))
