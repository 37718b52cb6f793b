import tracemalloc

import numpy as np
import pytest

from dense_views import attribute_rows, matrices, relative
from explained import graphs, random_model, words
from pugnn.explain.exact_parts import view_parts
from pugnn.graph import Graph
from pugnn.models import GraphInputs
from pugnn.views import FAR, VIEWS

NONE = np.zeros(0, np.int64)


def log_odds(model, graph):
    return model(GraphInputs(graph)).logit.detach().numpy()


@pytest.mark.parametrize("name", list(graphs()))
@pytest.mark.parametrize("views", [1, len(VIEWS)])
def test_contributions_add_up_to_the_log_odds_of_the_model(name, views):
    graph = graphs()[name]
    model = random_model(graph, views=views)
    expected = log_odds(model, graph)
    nodes = np.arange(graph.num_nodes)
    for node, parts in zip(nodes, view_parts(model, graph, nodes), strict=True):
        assert parts.base + parts.by_node.sum() == pytest.approx(expected[node], abs=1e-4)
        assert parts.total == pytest.approx(parts.base + parts.by_node.sum(), abs=1e-9)
        assert parts.own.sum() == pytest.approx(parts.by_node[node], abs=1e-9)
        assert parts.around.sum() == pytest.approx(parts.by_node.sum() - parts.by_node[node], abs=1e-9)


def test_contributions_are_those_of_the_formula():
    x = np.array([[1, 0, 0], [0, 2, 0], [0, 3, 4], [0, 0, 0]], dtype=np.float32)
    graph = Graph.from_edges([0, 1, 0], [1, 2, 2], num_nodes=4, features=np.pad(x, ((0, 0), (0, 3))), weights=[1, 2, 3])
    model = random_model(graph)
    n, columns = graph.features.shape
    unit = np.zeros((n, columns))
    for i in range(n):
        length = sum(v * v for v in graph.features[i]) ** 0.5
        for a in range(columns):
            unit[i, a] = graph.features[i, a] / length if length else 0
    direction, weight_of_links = model.direction.double().numpy(), float(model.by_closeness)
    walks = relative(matrices(graph)[0], graph, [0, 1])
    for v, parts in enumerate(view_parts(model, graph, np.arange(n))):
        for u in range(n):
            expected = 0.0
            if u in (0, 1) and u != v and walks[v]:
                share = matrices(graph)[0][v, u] / matrices(graph)[0][v, :2].sum()
                expected = weight_of_links * np.log(1 + 10 * walks[v]) * share
            for q, (view, matrix) in enumerate(zip(VIEWS.values(), matrices(graph), strict=True)):
                length = np.linalg.norm(sum(matrix[v, j] * unit[j] for j in range(n)))
                for a in range(columns):
                    if length > 1e-5:
                        weight = view.weight * matrix[v, u] / length
                        expected += weight * direction[q, a] * (unit[u, a] - unit[:, a].mean())
            assert parts.by_node[u] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("name", ["words", "dense", "weighted"])
def test_without_nodes_is_the_score_of_the_model_with_average_attributes_there(name):
    graph = graphs()[name]
    model = random_model(graph)
    own = attribute_rows(graph, model.attributes).astype(np.float64)
    for node, parts in zip([3, 11], view_parts(model, graph, np.array([3, 11])), strict=True):
        others = np.union1d(np.argsort(-np.abs(parts.by_node))[:3], [1])  # node 1 is a known positive, as is node 0
        averaged = own.copy()
        averaged[others] = own.mean(axis=0)
        before = relative(matrices(graph)[0], graph, [0, 1])
        after = relative(matrices(graph)[0], graph, [0, 1], np.setdiff1d([0, 1], others))
        near = np.log(after[node] + FAR) - np.log(before + FAR).mean()
        expected = float(model.constant) + float(model.by_closeness) * near
        for view, matrix, direction in zip(
            VIEWS.values(), matrices(graph), model.direction.double().numpy(), strict=True
        ):
            row = matrix[node] @ averaged
            length = np.linalg.norm(row)
            expected += view.weight * float(row @ direction) / length if length > 1e-5 else 0.0
        assert parts.without(others, NONE) == pytest.approx(expected, abs=1e-3)
        assert parts.without(NONE, NONE) == pytest.approx(parts.total, abs=1e-4)
        none = parts.total - parts.own[-1] - parts.around[-1]
        assert parts.without(NONE, np.array([own.shape[1]])) == pytest.approx(none, abs=1e-4), "without any link"


def test_many_nodes_are_explained_in_parts(monkeypatch):
    graph = graphs()["words"]
    model, nodes = random_model(graph), np.arange(20)
    at_once = [parts.by_node for parts in view_parts(model, graph, nodes)]
    monkeypatch.setattr("pugnn.explain.parts.MAX_NUMBERS", 3 * graph.num_nodes)
    for one, other in zip(at_once, view_parts(model, graph, nodes), strict=True):
        np.testing.assert_allclose(one, other.by_node, atol=1e-7)


def peak_of(model, graph, nodes):
    """Bytes that an explanation of some nodes takes at its peak, besides what it needs only once for a graph."""
    list(view_parts(model, graph, nodes[:1]))
    tracemalloc.start()
    for _ in view_parts(model, graph, nodes):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_an_explanation_takes_memory_for_its_nodes_and_never_a_copy_of_the_features(kind, monkeypatch):
    rng = np.random.default_rng(0)
    n, columns, count = 6000, 300, 16
    x = rng.random((n, columns), dtype=np.float32) if kind == "dense" else words(n, columns, seed=0, each=100)
    graph = Graph.from_edges(*rng.integers(n, size=(2, 2 * n)), num_nodes=n, features=x)
    model, nodes = random_model(graph), np.arange(count)
    expected = [parts.by_node for parts in view_parts(model, graph, nodes)]
    monkeypatch.setattr("pugnn.explain.exact_parts.BLOCK", 2**12)
    found = [parts.by_node for parts in view_parts(model, graph, nodes)]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    features = 8 * (n * columns if kind == "dense" else graph.features.nnz)
    assert peak_of(model, graph, nodes) < min(5 * 8 * n * count, features)
    monkeypatch.setattr("pugnn.explain.parts.MAX_NUMBERS", n * count)
    assert peak_of(model, graph, np.arange(10 * count)) < 5 * 8 * n * count, "so many nodes at a time"
