import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn

from conftest import random_graph
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.models import BACKBONES, GCN, GIN, GraphInputs, GraphSAGE, make_backbone

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch_geometric import nn as pyg


@pytest.fixture
def graph() -> Graph:
    return random_graph(25, 0.1, seed=3, features=6)


def sparse_twin(graph: Graph) -> Graph:
    source = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    return Graph.from_edges(source, graph.indices, features=sp.csr_array(graph.features))


@pytest.mark.parametrize("weighted", [False, True])
def test_gcn_normalisation_by_plain_loops(graph, weighted):
    if weighted:
        source, target = np.nonzero(np.triu(graph.to_scipy().toarray()))
        rng = np.random.default_rng(0)
        graph = Graph.from_edges(source, target, num_nodes=25, weights=rng.random(len(source)) + 0.1)
    adjacency = graph.to_scipy().toarray()
    n = graph.num_nodes
    expected = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            with_loop = adjacency[i, j] + (i == j)
            degree_i = 1 + sum(adjacency[i, k] for k in range(n))
            degree_j = 1 + sum(adjacency[j, k] for k in range(n))
            expected[i, j] = with_loop / (degree_i * degree_j) ** 0.5
    found = GraphInputs(graph).gcn_adjacency @ torch.eye(n)
    assert np.allclose(found.numpy(), expected, atol=1e-6)


def test_mean_and_sum_adjacency_by_plain_loops(graph):
    inputs = GraphInputs(graph)
    mean, total = inputs.mean_adjacency @ torch.eye(25), inputs.sum_adjacency @ torch.eye(25)
    for i in range(25):
        for j in range(25):
            joined = j in graph.neighbours(i)
            assert total[i, j] == joined
            assert mean[i, j] == pytest.approx(joined / max(1, len(graph.neighbours(i))))


@pytest.mark.parametrize("name", BACKBONES)
def test_shapes_and_gradients(name, graph):
    torch.manual_seed(0)
    model = make_backbone(name, 6, hidden=8, dropout=0.5)
    output = model(GraphInputs(graph))
    assert output.embedding.shape == (25, 8)
    assert output.logit.shape == (25,)
    (output.logit.sum() + output.embedding.sum()).backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in model.parameters())
    first = {id(p) for p in model.first_layer.parameters()}
    assert first < {id(p) for p in model.parameters()}


@pytest.mark.parametrize("name", BACKBONES)
def test_sparse_features_give_the_same_scores_and_are_never_made_dense(name, graph, monkeypatch):
    torch.manual_seed(0)
    model = make_backbone(name, 6, hidden=8, dropout=0.5).eval()
    expected = model(GraphInputs(graph))

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("features were made dense")

    for kind in (sp.csr_array, sp.csc_array, sp.coo_array):
        monkeypatch.setattr(kind, "toarray", refuse)
        monkeypatch.setattr(kind, "todense", refuse)
    monkeypatch.setattr(torch.Tensor, "to_dense", refuse)
    found = model(GraphInputs(sparse_twin(graph)))
    assert torch.allclose(found.logit, expected.logit, atol=1e-5)
    assert torch.allclose(found.embedding, expected.embedding, atol=1e-5)


@pytest.mark.parametrize("name", BACKBONES)
def test_embedding_is_not_rectified(name, graph):
    torch.manual_seed(0)
    embedding = make_backbone(name, 6, hidden=8, dropout=0.0)(GraphInputs(graph)).embedding
    assert (embedding < 0).any()


def test_gcn_equals_pyg(graph):
    torch.manual_seed(0)
    model = GCN(6, hidden=8, dropout=0.0).eval()
    first, second = pyg.GCNConv(6, 8), pyg.GCNConv(8, 1)
    with torch.no_grad():
        nn.init.normal_(model.first_bias)
        first.lin.weight.copy_(model.first_layer.linear.weight)
        first.bias.copy_(model.first_bias)
        second.lin.weight.copy_(model.second_layer.weight)
        second.bias.copy_(model.second_bias)
    data = graph.to_pyg()
    z = first(data.x, data.edge_index)
    output = model(GraphInputs(graph))
    assert torch.allclose(output.embedding, z, atol=1e-5)
    assert torch.allclose(output.logit, second(z.relu(), data.edge_index).squeeze(1), atol=1e-5)


def test_gcn_with_linear_head_embeds_by_its_second_convolution(graph):
    torch.manual_seed(0)
    model = GCN(6, hidden=8, dropout=0.0, linear_head=True).eval()
    inputs = GraphInputs(graph)
    first = inputs.gcn_adjacency @ (inputs.features @ model.first_layer.linear.weight.T)
    second = inputs.gcn_adjacency @ (first.relu() @ model.second_layer.weight.T)
    output = model(inputs)
    assert torch.allclose(output.embedding, second, atol=1e-5)
    assert torch.allclose(output.logit, model.head(second.relu()).squeeze(1), atol=1e-5)


def test_sage_equals_pyg(graph):
    torch.manual_seed(0)
    model = GraphSAGE(6, hidden=8, dropout=0.0).eval()
    layer = pyg.SAGEConv(6, 8)
    own, neighbours = model.first_layer.linear.weight.chunk(2)
    with torch.no_grad():
        layer.lin_r.weight.copy_(own)
        layer.lin_l.weight.copy_(neighbours)
        layer.lin_l.bias.zero_()
    data = graph.to_pyg()
    assert torch.allclose(model(GraphInputs(graph)).embedding, layer(data.x, data.edge_index), atol=1e-5)


def test_gin_equals_pyg(graph):
    torch.manual_seed(0)
    model = GIN(6, hidden=8, dropout=0.0).eval()
    perceptron = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8))
    layer = pyg.GINConv(perceptron, eps=0.3)  # this re-initialises the perceptron, so copy afterwards
    with torch.no_grad():
        model.first_epsilon.fill_(0.3)
        model.first_layer.linear.weight.copy_(perceptron[0].weight)
        model.first_bias.copy_(perceptron[0].bias)
        model.first_output.weight.copy_(perceptron[2].weight)
        model.first_output.bias.copy_(perceptron[2].bias)
    data = graph.to_pyg()
    assert torch.allclose(model(GraphInputs(graph)).embedding, layer(data.x, data.edge_index), atol=1e-5)


def test_appnp_equals_pyg(graph):
    torch.manual_seed(0)
    model = make_backbone("appnp", 6, hidden=8, dropout=0.0).eval()
    data = graph.to_pyg()
    start = model.second_layer(model.first_layer(data.x).relu())
    expected = pyg.APPNP(K=10, alpha=0.1)(start, data.edge_index)
    assert torch.allclose(model(GraphInputs(graph)).embedding, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"backbone": "gnc"}, "no backbone 'gnc'; choose one of appnp, gat, gcn"),
        ({"num_features": 0}, "no features"),
        ({"hidden": 0}, "hidden must be a whole number, from 1 to 65,536; got 0"),
        ({"dropout": 1.0}, r"dropout must lie in \[0, 1\), got 1.0"),
        ({"backbone": "gat", "hidden": 6}, "hidden=6 must be a multiple of the number of attention heads, 4"),
    ],
)
def test_bad_settings_are_explained(arguments, message):
    with pytest.raises(PugnnError, match=message):
        make_backbone(**{"backbone": "gcn", "num_features": 4, "hidden": 8, "dropout": 0.5, **arguments})
