import copy

import numpy as np
import pytest
import torch

from conftest import random_graph
from dense_views import attribute_rows, dense_view
from pugnn.errors import PugnnError
from pugnn.models import Blend, Committee, GraphInputs, RowInputs
from pugnn.models.views import Attributes, rows_held
from pugnn.models.views.rows import Rows

RNG = np.random.default_rng(0)


def drawn(*shape: int) -> torch.Tensor:
    return torch.from_numpy(RNG.normal(size=shape).astype(np.float32))


def filled(graph, weights=(0.75, 0.25, 0.0), hidden=5) -> Blend:
    attributes = Attributes.of(graph)
    width = attributes.width * sum(weight > 0 for weight in weights)
    model = Blend(graph.num_features)
    model.fill(
        **attributes.tensors(),
        view_weights=torch.tensor(weights),
        contrast=drawn(width),
        linear=drawn(width),
        hidden=drawn(width, hidden),
        hidden_bias=drawn(hidden),
        head=drawn(hidden),
        shares=torch.tensor([0.2, 0.3, 0.5], dtype=torch.float64),
    )
    return model


@torch.no_grad()
def test_the_committee_is_a_perceptron_beside_linear_models():
    network = Committee(4, hidden=3, dropout=0.5, linear_models=2).eval()
    torch.nn.init.normal_(network.linear.weight)
    rows = drawn(6, 4)
    output = network(RowInputs(rows))
    for i in range(6):
        hidden = [max(0.0, float(network.hidden.weight[k] @ rows[i] + network.hidden.bias[k])) for k in range(3)]
        perceptron = sum(hidden[k] * float(network.head.weight[0, k]) for k in range(3)) + float(network.head.bias)
        linear = [float(network.linear.weight[m] @ rows[i] + network.linear.bias[m]) for m in range(2)]
        assert output.embedding[i].tolist() == pytest.approx([perceptron, *linear], abs=1e-5)
        assert float(output.logit[i]) == pytest.approx(perceptron, abs=1e-5)


def test_all_weights_of_the_committee_decay():
    network = Committee(4, hidden=3, dropout=0.5, linear_models=2)
    assert {id(p) for p in network.first_layer.parameters()} == {id(p) for p in network.parameters()}


def test_rows_are_weighted_views_side_by_side():
    graph = random_graph(15, 0.2, seed=0, features=4)
    inputs, model = GraphInputs(graph), filled(graph)
    own, smoothed = attribute_rows(graph), dense_view("smoothed", graph)
    expected = np.hstack([np.sqrt(0.75) * smoothed.numpy(), np.sqrt(0.25) * own.numpy()])
    assert model.rows(inputs)[:].numpy() == pytest.approx(expected, abs=1e-6)
    assert np.linalg.norm(expected, axis=1) == pytest.approx(np.ones(15), abs=1e-5)


@pytest.mark.parametrize(("prior", "positive"), [(0.25, 3), (0.001, 1), (0.999, 11)])
def test_the_cut_leaves_the_share_above_it(prior, positive):
    graph = random_graph(15, 0.2, seed=0, features=4)
    model, inputs = filled(graph), GraphInputs(graph)
    unlabelled = torch.arange(3, 15)
    model.cut_at(model.rows(inputs), unlabelled, prior)
    assert int((model(inputs).logit[unlabelled] > 0).sum()) == positive


def test_the_blend_by_plain_loops():
    graph = random_graph(15, 0.2, seed=0, features=4)
    model, inputs = filled(graph), GraphInputs(graph)
    rows = model.rows(inputs)
    model.cut_at(rows, torch.arange(15), 0.4)
    scores = np.zeros((15, 3))
    for i in range(15):
        row = rows[torch.tensor([i])][0].double().numpy()
        hidden = np.maximum(0, model.hidden.double().numpy().T @ row + model.hidden_bias.double().numpy())
        scores[i] = [row @ model.contrast.numpy(), row @ model.linear.numpy(), hidden @ model.head.numpy()]
    standard = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    blended = standard @ [0.2, 0.3, 0.5]
    order = np.sort(blended)[::-1]
    cut = (order[5] + order[6]) / 2  # 0.4 of 15 are 6
    assert model(inputs).logit.numpy() == pytest.approx(4 * (blended - cut), abs=1e-4)


def test_a_direction_alone_ranks_by_it():
    graph = random_graph(15, 0.2, seed=0, features=4)
    inputs, direction = GraphInputs(graph), drawn(Attributes.of(graph).width)
    model = Blend(4)
    model.fill(**Attributes.of(graph).tensors(), **Blend.only(direction))
    model.cut_at(model.rows(inputs), torch.arange(15), 0.4)
    product = dense_view("smoothed", graph) @ direction
    assert model(inputs).logit.argsort().tolist() == product.argsort().tolist()


def test_a_saved_state_comes_back_whatever_its_sizes():
    graph = random_graph(15, 0.2, seed=0, features=4)
    model, inputs = filled(graph), GraphInputs(graph)
    model.cut_at(model.rows(inputs), torch.arange(15), 0.4)
    again = Blend(4)
    again.load_state_dict(model.state_dict())
    assert torch.equal(again(inputs).logit, model(inputs).logit)


@pytest.mark.parametrize("name", ["linear", "hidden", "hidden_bias", "scale", "view_weights", "means", "cut"])
def test_sizes_that_do_not_fit_are_named(name):
    graph = random_graph(15, 0.2, seed=0, features=4)
    model = filled(graph)
    model.cut_at(model.rows(GraphInputs(graph)), torch.arange(15), 0.4)
    state = model.state_dict()
    state[name] = torch.zeros(2, 2, dtype=state[name].dtype)
    with pytest.raises(PugnnError, match=f"weights {name} have the shape"):
        Blend(4).load_state_dict(state)


def test_kept_rows_serve_only_their_graph_and_are_not_copied():
    graph, other = (random_graph(15, 0.2, seed=seed, features=4) for seed in (0, 1))
    model, inputs = filled(graph), GraphInputs(graph)
    model.cut_at(model.rows(inputs), torch.arange(15), 0.4)
    expected = [model(inputs).logit, model(GraphInputs(other)).logit]
    with rows_held():
        with rows_held():
            model.keep(inputs, Rows.of(0 * model.rows(inputs)[:]))
        assert not torch.equal(model(inputs).logit, expected[0])
        assert torch.equal(model(GraphInputs(other)).logit, expected[1])
        assert torch.equal(copy.deepcopy(model)(inputs).logit, expected[0])
    assert torch.equal(model(inputs).logit, expected[0]), "they are gone"


@pytest.mark.parametrize("nodes", [1, 2, 40])
def test_equal_scores_stay_equal(nodes):
    graph = random_graph(15, 0.2, seed=0, features=4)
    model = filled(graph)
    row = Rows.of(model.rows(GraphInputs(graph))[:1].repeat(nodes + 3, 1))
    model.cut_at(row, torch.arange(3, nodes + 3), 0.3)
    logits = Blend.SLOPE * (model.blended(model.scores(row).double()) - model.cut)
    assert logits.abs().max() < 1e-4


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("view_weights", [0.0, 0.0, 0.0], "nor all zero"),
        ("view_weights", [1.5, -0.5, 0.0], "must not be negative"),
        ("scale", [1.0, 0.0, 1.0, 1.0], "scale must be positive"),
        ("spreads", [1.0, 0.0, 1.0], "spreads must be positive"),
        ("centre", [0.0], "centre have the shape"),
    ],
)
def test_values_that_make_no_sense_are_rejected(name, value, words):
    graph = random_graph(15, 0.2, seed=0, features=4)
    model = filled(graph)
    model.cut_at(model.rows(GraphInputs(graph)), torch.arange(15), 0.4)
    state = model.state_dict()
    state[name] = torch.tensor(value, dtype=state[name].dtype)
    with pytest.raises(PugnnError, match=words):
        Blend(4).load_state_dict(state)


@pytest.mark.parametrize("width", [0, 7, 60])
def test_a_contrast_of_another_width_is_rejected(width):
    graph = random_graph(15, 0.2, seed=0, features=4)
    model = filled(graph)
    model.cut_at(model.rows(GraphInputs(graph)), torch.arange(15), 0.4)
    model.fill(contrast=drawn(width), linear=drawn(width), hidden=drawn(width, 5))
    with pytest.raises(PugnnError, match="which 2 views of 4 columns have not"):
        Blend(4).load_state_dict(model.state_dict())


def test_only_what_has_seen_all_labels_starts_from_an_earlier_blend():
    committee = Committee(3, hidden=2, dropout=0.0, linear_models=4)
    earlier = {
        "hidden": torch.arange(6.0).reshape(3, 2),
        "hidden_bias": torch.tensor([7.0, 8.0]),
        "head": torch.tensor([9.0, 10.0]),
        "linear": torch.tensor([1.0, 2.0, 3.0]),
    }
    committee.start_from(earlier)
    assert committee.hidden.weight.t().tolist() == earlier["hidden"].tolist()
    assert committee.hidden.bias.tolist() == [7.0, 8.0]
    assert committee.head.weight.tolist() == [[9.0, 10.0]]
    assert committee.linear.weight.tolist() == [[1.0, 2.0, 3.0], *[[0.0, 0.0, 0.0]] * 3]
