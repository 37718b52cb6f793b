import math

import pytest
import torch

from conftest import random_graph
from pugnn.graph import Graph
from pugnn.models import BACKBONES, MLP, GraphInputs, make_backbone

GRAPH = random_graph(15, 0.2, seed=3, features=4)


def test_two_linear_layers_by_plain_loops():
    torch.manual_seed(0)
    model = MLP(4, hidden=3, dropout=0.5).eval()
    torch.nn.init.normal_(model.first_layer.linear.bias)
    torch.nn.init.normal_(model.head.bias)
    w1, b1 = model.first_layer.linear.weight.tolist(), model.first_layer.linear.bias.tolist()
    w2, b2 = model.head.weight[0].tolist(), model.head.bias.item()
    output = model(GraphInputs(GRAPH))
    for node in range(15):
        x = GRAPH.features[node].tolist()
        z = [b1[k] + math.fsum(w1[k][f] * x[f] for f in range(4)) for k in range(3)]
        assert output.embedding[node].tolist() == pytest.approx(z, abs=1e-5)
        assert output.logit[node].item() == pytest.approx(b2 + sum(w2[k] * max(0.0, z[k]) for k in range(3)), abs=1e-5)


def test_edges_play_no_part():
    torch.manual_seed(0)
    model = MLP(4).eval()
    other = Graph.from_edges(range(14), range(1, 15), features=GRAPH.features)
    assert torch.equal(model(GraphInputs(GRAPH)).logit, model(GraphInputs(other)).logit)


def test_dropout_comes_before_each_layer_in_training():
    torch.manual_seed(0)
    model = MLP(4, dropout=0.5)
    one, two = model(GraphInputs(GRAPH)), model(GraphInputs(GRAPH))
    assert not torch.equal(one.embedding, two.embedding)
    assert not torch.equal(model.logits(one.embedding), model.logits(one.embedding))
    model.eval()
    assert torch.equal(model(GraphInputs(GRAPH)).logit, model(GraphInputs(GRAPH)).logit)


@pytest.mark.parametrize("name", BACKBONES)
def test_a_nodewise_head_leads_from_embeddings_to_logits(name):
    torch.manual_seed(0)
    model = make_backbone(name, 4, hidden=8, dropout=0.5).eval()
    assert model.nodewise_head == (name in ("gcn-linear", "appnp", "mlp"))
    if model.nodewise_head:
        output = model(GraphInputs(GRAPH))
        assert torch.allclose(model.logits(output.embedding), output.logit, atol=1e-6)
        some = torch.tensor([7, 2, 2])
        assert torch.allclose(model.logits(output.embedding[some]), output.logit[some], atol=1e-6)
