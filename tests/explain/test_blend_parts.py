import tracemalloc

import numpy as np
import pytest
import torch

from dense_views import attribute_rows
from explained import graphs, random_blend, words
from pugnn.explain.blend import blend_parts
from pugnn.graph import Graph
from pugnn.models import GraphInputs
from pugnn.models.views import RESTART, STEPS, VIEWS, side_by_side, smooth, unit_rows
from pugnn.models.views.rows import Rows

NONE = np.zeros(0, np.int64)


def log_odds(model, graph):
    return model(GraphInputs(graph)).logit.detach().numpy()


@pytest.mark.parametrize("name", list(graphs()))
@pytest.mark.parametrize("views", [(0.5, 0.3, 0.2), (1.0, 0.0, 0.0), (0.0, 0.4, 0.6)])
def test_contributions_add_up_to_the_log_odds_of_the_model(name, views):
    graph = graphs()[name]
    model = random_blend(graph, views=views)
    expected = log_odds(model, graph)
    nodes = np.arange(graph.num_nodes)
    for node, parts in zip(nodes, blend_parts(model, graph, nodes), strict=True):
        assert parts.base + parts.by_node.sum() == pytest.approx(expected[node], abs=1e-5)
        assert parts.total == pytest.approx(parts.base + parts.by_node.sum(), abs=1e-10)
        assert parts.own.sum() == pytest.approx(parts.by_node[node], abs=1e-10)
        assert parts.around.sum() == pytest.approx(parts.by_node.sum() - parts.by_node[node], abs=1e-10)


def test_contributions_are_those_of_the_formula():
    x = np.array([[1, 0, 0], [0, 2, 0], [0, 3, 4], [0, 0, 0]], dtype=np.float32)
    graph = Graph.from_edges([0, 1, 0], [1, 2, 2], num_nodes=4, features=np.pad(x, ((0, 0), (0, 3))), weights=[1, 2, 3])
    model = random_blend(graph)
    n, columns = graph.features.shape
    unit = np.zeros((n, columns))
    for i in range(n):
        length = sum(v * v for v in graph.features[i]) ** 0.5
        for a in range(columns):
            unit[i, a] = graph.features[i, a] / length if length else 0
    adjacency = graph.to_scipy().toarray().astype(float)
    looped = adjacency + np.eye(n)
    degree = looped.sum(axis=1)
    normalised = np.array([[looped[i, j] / (degree[i] * degree[j]) ** 0.5 for j in range(n)] for i in range(n)])
    smoothed = np.eye(n)
    for _ in range(STEPS):
        smoothed = (1 - RESTART) * normalised @ smoothed + RESTART * np.eye(n)
    neighbours = np.array([(adjacency[i] > 0) / max((adjacency[i] > 0).sum(), 1) for i in range(n)])
    spreads = [smoothed, np.eye(n), neighbours]
    part = {name: value.double().numpy() for name, value in model.named_buffers()}
    share = part["shares"] / part["spreads"]
    for v, parts in enumerate(blend_parts(model, graph, np.arange(n))):
        row, weights = [], []
        for view_weight, spread in zip(part["view_weights"], spreads, strict=True):
            total = sum(spread[v, u] * unit[u] for u in range(n))
            length = np.linalg.norm(total)
            weights.append(view_weight**0.5 * spread[v] / length if length else 0 * spread[v])
            row += list(view_weight**0.5 * total / length if length else total)
        direction = share[0] * part["contrast"] + share[1] * part["linear"]
        for unit_number, bias in enumerate(part["hidden_bias"]):
            if np.dot(row, part["hidden"][:, unit_number]) + bias > 0:
                direction = direction + share[2] * part["head"][unit_number] * part["hidden"][:, unit_number]
        for u in range(n):
            expected = 0.0
            for q in range(3):
                for a in range(columns):
                    w = 4.0 * direction[q * columns + a]
                    expected += weights[q][u] * w * (unit[u, a] - unit[:, a].mean())
            assert parts.by_node[u] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", ["words", "weighted"])
def test_a_contribution_is_what_the_log_odds_lose_if_lengths_and_units_stay(name):
    graph = graphs()[name]
    model = random_blend(graph)
    inputs = GraphInputs(graph)
    rows = model.rows(inputs)[:].double()
    own = attribute_rows(graph, model.attributes)
    before = torch.nn.functional.relu(rows.float() @ model.hidden + model.hidden_bias)
    shares = (model.shares / model.spreads).double()
    for node, parts in zip([3, 11, 20], blend_parts(model, graph, np.array([3, 11, 20])), strict=True):
        other = int(np.argsort(-np.abs(parts.by_node))[1])
        averaged = own.clone()
        averaged[other] = own.mean(dim=0)
        moved, at = 0.0, 0
        for name_of_view, weight in zip(VIEWS, model.view_weights, strict=True):
            raw = [_unscaled(name_of_view, each, inputs)[node].double() for each in (own, averaged)]
            change = weight.sqrt().double() * (raw[1] - raw[0]) / raw[0].norm().clamp(min=1e-12)
            width = own.shape[1]
            active = (before[node] > 0).double() * model.head.double()
            direction = (
                shares[0] * model.contrast[at : at + width].double()
                + shares[1] * model.linear[at : at + width].double()
                + shares[2] * (model.hidden[at : at + width].double() @ active)
            )
            moved += float(4.0 * direction @ change)
            at += width
        assert moved == pytest.approx(-parts.by_node[other], abs=1e-5)


def _unscaled(name, attributes, inputs):
    """A view before its rows are scaled."""
    if name == "own":
        return attributes
    return inputs.mean_adjacency @ attributes if name == "neighbours" else smooth(attributes, inputs)


@pytest.mark.parametrize("name", list(graphs()))
def test_without_nodes_is_the_score_of_the_model_with_average_attributes_there(name):
    graph = graphs()[name]
    model = random_blend(graph)
    inputs = GraphInputs(graph)
    own = attribute_rows(graph, model.attributes)
    for node, parts in zip([3, 11], blend_parts(model, graph, np.array([3, 11])), strict=True):
        others = np.argsort(-np.abs(parts.by_node))[:3]
        averaged = own.clone()
        averaged[others] = own.mean(dim=0)
        views = {name: Rows.of(unit_rows(_unscaled(name, averaged, inputs))) for name in VIEWS}
        rows = side_by_side(views, model.view_weights)
        expected = 4.0 * (model.blended(model.scores(rows).double()) - model.cut)
        assert parts.without(others, NONE) == pytest.approx(float(expected[node]), abs=1e-4)
        assert parts.without(NONE, NONE) == pytest.approx(parts.total, abs=1e-10)


def test_without_all_attributes_nothing_but_the_base_would_be_left_if_lengths_stayed():
    graph = graphs()["words"]
    model = random_blend(graph, views=(0.0, 1.0, 0.0), hidden=0)
    (parts,) = blend_parts(model, graph, np.array([3]))
    average = attribute_rows(graph, model.attributes).mean(dim=0)
    scores = model.scores(Rows.of((average / average.norm())[None])).double()
    expected = float(4.0 * (model.blended(scores) - model.cut))
    assert parts.without(NONE, np.arange(graph.num_features)) == pytest.approx(expected, abs=1e-4)


def test_many_nodes_are_explained_in_parts(monkeypatch):
    graph = graphs()["words"]
    model, nodes = random_blend(graph), np.arange(20)
    at_once = [parts.by_node for parts in blend_parts(model, graph, nodes)]
    monkeypatch.setattr("pugnn.explain.blend.MOST_NUMBERS", 3 * graph.num_nodes)
    for one, other in zip(at_once, blend_parts(model, graph, nodes), strict=True):
        np.testing.assert_allclose(one, other.by_node, atol=1e-7)


def peak_of(model, graph, nodes):
    """Bytes that an explanation of some nodes takes at its peak, besides what it needs only once for a graph."""
    list(blend_parts(model, graph, nodes[:1]))
    tracemalloc.start()
    for _ in blend_parts(model, graph, nodes):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_an_explanation_takes_memory_for_its_nodes_and_never_a_copy_of_the_features(kind, monkeypatch):
    rng = np.random.default_rng(0)
    n, columns, count = 6000, 300, 16
    x = rng.random((n, columns), dtype=np.float32) if kind == "dense" else words(n, columns, seed=0, each=100)
    graph = Graph.from_edges(*rng.integers(n, size=(2, 2 * n)), num_nodes=n, features=x)
    model, nodes = random_blend(graph), np.arange(count)
    expected = [parts.by_node for parts in blend_parts(model, graph, nodes)]
    monkeypatch.setattr("pugnn.explain.blend.BLOCK", 2**12)
    found = [parts.by_node for parts in blend_parts(model, graph, nodes)]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    features = 8 * (n * columns if kind == "dense" else graph.features.nnz)
    assert peak_of(model, graph, nodes) < min(3 * 8 * n * count, features)
    monkeypatch.setattr("pugnn.explain.blend.MOST_NUMBERS", n * count)
    assert peak_of(model, graph, np.arange(10 * count)) < 3 * 8 * n * count, "so many nodes at a time"
