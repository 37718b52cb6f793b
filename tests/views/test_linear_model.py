import copy
import dataclasses

import numpy as np
import pytest
import torch

from conftest import random_graph
from dense_views import side_by_side
from explained import random_model
from pugnn.errors import PugnnError
from pugnn.models import GraphInputs
from pugnn.task import PUTask
from pugnn.views import VIEWS, Attributes, LinearModel, closeness, views_of

GRAPH = random_graph(25, 0.2, seed=0, features=4)


@pytest.mark.parametrize("views", [1, len(VIEWS)])
def test_log_odds_are_products_of_rows_with_the_direction(views):
    model = random_model(GRAPH, views=views)
    rows = side_by_side(GRAPH, tuple(VIEWS)[:views])
    near = (
        float(model.by_closeness) * closeness(GRAPH, np.eye(25, 2, dtype=np.float32).sum(axis=1, keepdims=True))[:, 0]
    )
    expected = near + rows @ model.direction.double().numpy().ravel() + float(model.constant)
    output = model(GraphInputs(GRAPH))
    assert output.logit.tolist() == pytest.approx(expected, abs=1e-4)
    assert output.logit.dtype == torch.float64


def test_the_share_is_decided_and_log_odds_have_the_standard_deviation_4():
    attributes, unlabelled = Attributes.of(GRAPH), np.arange(5, 25)
    direction = np.random.default_rng(1).normal(size=(len(VIEWS), 5))
    for share, count in ((0.25, 5), (0.0001, 1), (0.9999, 19)):
        model = LinearModel.ranking(PUTask(GRAPH, np.zeros(0, np.int64), unlabelled), attributes, direction, share)
        logits = model(GraphInputs(GRAPH)).logit.numpy()[unlabelled]
        assert (logits > 0).sum() == count, "neither nobody nor everybody"
        assert logits.std() == pytest.approx(4, rel=1e-5)


def test_rounding_is_no_ranking():
    task = PUTask(GRAPH, np.zeros(0, np.int64), np.arange(25))
    model = LinearModel.ranking(task, Attributes.of(GRAPH), np.zeros((5, 5)), 0.3)
    assert model(GraphInputs(GRAPH)).logit.tolist() == [0.0] * 25


def test_views_of_the_last_graph_are_made_once():
    attributes = Attributes.of(GRAPH)
    assert views_of(GRAPH, attributes).source is views_of(GRAPH, copy.deepcopy(attributes), ("smoothed",)).source
    assert views_of(GRAPH, attributes, ("smoothed",)).names == ("smoothed",)
    other = Attributes(attributes.centre + 1, attributes.scale, attributes.standardised)
    assert views_of(GRAPH, other).source is not views_of(GRAPH, attributes).source


def test_a_saved_state_is_loaded_with_its_sizes():
    model = random_model(GRAPH)
    loaded = LinearModel(GRAPH.num_features)
    loaded.load_state_dict(model.state_dict())
    assert loaded.needs_known
    loaded.know(GRAPH, np.arange(2))
    assert torch.equal(loaded(GraphInputs(GRAPH)).logit, model(GraphInputs(GRAPH)).logit)


def test_known_positives_are_those_of_their_graph():
    model, same = random_model(GRAPH), dataclasses.replace(GRAPH)
    assert model.known_in(GRAPH).tolist() == [0, 1]
    assert not len(model.known_in(same))
    without = (
        float(model.by_closeness) * closeness(GRAPH, np.eye(25, 2, dtype=np.float32).sum(axis=1, keepdims=True))[:, 0]
    )
    found = model(GraphInputs(GRAPH)).logit - model(GraphInputs(same)).logit
    assert found.tolist() == pytest.approx(without.tolist(), abs=1e-4)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("direction", torch.zeros(7, 5), r"direction have the shape \(7, 5\), not \(5, 5\)"),
        ("direction", torch.zeros(5, 4), r"direction have the shape \(5, 4\), not \(5, 5\)"),
        ("direction", torch.zeros(()), r"direction have the shape \(\), not"),
        ("centre", torch.zeros(2), r"centre have the shape \(2,\), not \(4,\)"),
        ("constant", torch.zeros(1), r"constant have the shape \(1,\), not \(\)"),
        ("standardised", torch.zeros(0, dtype=torch.bool), r"standardised have the shape \(0,\)"),
        ("scale", torch.zeros(4), "scale must be positive"),
    ],
)
def test_a_state_that_does_not_fit_is_named(name, value, message):
    state = random_model(GRAPH).state_dict() | {name: value}
    with pytest.raises(PugnnError, match=message):
        LinearModel(GRAPH.num_features).load_state_dict(state)
