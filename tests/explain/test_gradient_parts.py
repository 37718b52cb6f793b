import numpy as np
import pytest
import scipy.sparse as sp
import torch

from explained import LargestTensor, graphs
from pugnn.explain.gradient_parts import gradient_parts
from pugnn.graph import Graph
from pugnn.models import BACKBONES, Backbone, GraphInputs, Output, make_backbone

NONE = np.zeros(0, np.int64)


def log_odds(model, graph):
    with torch.no_grad():
        return model(GraphInputs(graph)).logit.numpy()


@pytest.mark.parametrize("backbone", [name for name in BACKBONES if name != "views"])
@pytest.mark.parametrize("name", ["words", "dense"])
def test_contributions_add_up_to_the_difference_from_no_features(backbone, name):
    torch.manual_seed(0)
    graph = graphs()[name]
    model = make_backbone(backbone, graph.num_features, hidden=8, dropout=0.5).eval()
    empty = Graph(graph.indptr, graph.indices, np.zeros(graph.features.shape, np.float32), graph.ids)
    full, base = log_odds(model, graph), log_odds(model, empty)
    for node, parts in zip([3, 11], gradient_parts(model, graph, np.array([3, 11])), strict=True):
        assert parts.total == pytest.approx(full[node], abs=1e-5)
        assert parts.base == pytest.approx(base[node], abs=1e-5)
        assert parts.by_node.sum() == pytest.approx(full[node] - base[node], abs=0.05)
        assert parts.own.sum() == pytest.approx(parts.by_node[node], abs=1e-6)
        assert parts.own.sum() + parts.around.sum() == pytest.approx(parts.by_node.sum(), abs=1e-6)


@pytest.mark.parametrize("name", ["words", "dense"])
def test_where_scores_come_from_sampled_neighbours_so_do_the_parts(name, monkeypatch):
    torch.manual_seed(0)
    graph = graphs()[name]
    assert graph.degrees.max() <= 10, "every neighbour is in the sample"
    model = make_backbone("gcn", graph.num_features, hidden=8, dropout=0.5).eval()
    nodes = np.array([3, 11])
    whole = list(gradient_parts(model, graph, nodes))
    monkeypatch.setenv("PUGNN_MEMORY", "1")
    for expected, found in zip(whole, gradient_parts(model, graph, nodes), strict=True):
        assert found.total == pytest.approx(expected.total, abs=1e-5)
        assert found.by_node == pytest.approx(expected.by_node, abs=1e-5)
        assert found.own == pytest.approx(expected.own, abs=1e-5)


class Squares(Backbone):
    """ℓ_v = 3 Σ_a x_va + Σ_(u ~ v) x_u0², whose integrated gradients are known."""

    def __init__(self, columns: int = 0) -> None:
        super().__init__()
        self.first_layer = torch.nn.Identity()
        self.three = torch.nn.Parameter(torch.full((columns, 1), 3.0))
        self.first = torch.nn.Parameter(torch.eye(columns, 1))

    def forward(self, inputs: GraphInputs) -> Output:
        own = inputs.features @ self.three
        return Output(own, (own + inputs.sum_adjacency @ (inputs.features @ self.first).square()).squeeze(1))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_integrated_gradients_of_a_polynomial_are_exact(form):
    x = np.array([[1, 0], [2, 5], [-3, 1], [4, 4]], dtype=np.float32)
    graph = Graph.from_edges([0, 0, 2], [1, 2, 3], features=form(x))
    (parts,) = gradient_parts(Squares(2), graph, np.array([0]))
    np.testing.assert_allclose(parts.by_node, [3, 4, 9, 0], atol=1e-5)
    np.testing.assert_allclose(parts.own, [3, 0], atol=1e-5)
    np.testing.assert_allclose(parts.around, [13, 0], atol=1e-5)
    assert (parts.total, parts.base, parts.how) == (16, 0, "gradients")
    assert parts.without(np.array([2]), NONE) == pytest.approx(7)
    assert parts.without(NONE, np.array([0])) == pytest.approx(0)
    assert parts.without(np.array([0, 1]), np.array([1])) == pytest.approx(9)


@pytest.mark.parametrize("name", ["words", "dense"])
def test_without_is_the_logit_of_the_network_with_features_of_zero_there(name):
    torch.manual_seed(0)
    graph = graphs()[name]
    model = make_backbone("gcn", graph.num_features, hidden=8, dropout=0.5).eval()
    for node, parts in zip([3, 11], gradient_parts(model, graph, np.array([3, 11])), strict=True):
        others = np.argsort(-np.abs(parts.by_node))[:2]
        for nodes, columns in ((others, NONE), (NONE, np.array([1, 2])), (others, np.array([0]))):
            x = sp.csr_array(graph.features).toarray()
            x[nodes] = 0
            x[:, columns] = 0
            expected = log_odds(model, Graph(graph.indptr, graph.indices, x, graph.ids))[node]
            assert parts.without(nodes, columns) == pytest.approx(expected, abs=1e-5)
        assert parts.without(NONE, NONE) == pytest.approx(parts.total, abs=1e-5)


def test_features_are_never_copied_to_double_precision_as_a_whole(monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.random((500, 40), dtype=np.float32)
    graph = Graph.from_edges(*rng.integers(500, size=(2, 900)), num_nodes=500, features=x)
    model = make_backbone("gcn", 40, hidden=2, dropout=0.0).eval()
    (expected,) = gradient_parts(model, graph, np.array([7]))
    monkeypatch.setattr("pugnn.explain.gradient_parts.BLOCK", 64)
    with LargestTensor() as largest:
        (parts,) = gradient_parts(model, graph, np.array([7]))
    assert largest.numbers <= 64 * 40
    assert parts.by_node == pytest.approx(expected.by_node)
    assert parts.around == pytest.approx(expected.around)


def test_the_inputs_that_others_use_are_left_as_they_were():
    from pugnn.models import inputs_on

    graph = graphs()["dense"]
    model = make_backbone("gcn", graph.num_features, hidden=8, dropout=0.5).eval()
    before = inputs_on(graph, torch.device("cpu")).features
    list(gradient_parts(model, graph, np.array([1])))
    assert inputs_on(graph, torch.device("cpu")).features is before
    assert all(parameter.grad is None for parameter in model.parameters())
