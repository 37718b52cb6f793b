import math
import warnings

import numpy as np
import pytest
import torch

from conftest import random_graph
from pugnn.errors import PugnnError, PugnnWarning
from pugnn.graph import Graph
from pugnn.losses import DistanceAwareLoss, Sets, split_near_far
from pugnn.task import PUTask

LOGITS = torch.tensor([2.0, -1.0, 0.3, 0.7, -2.0, 1.5, 0.1])


def sets(labelled, near, far) -> Sets:
    return Sets.split(*(torch.tensor(nodes, dtype=torch.long) for nodes in (labelled, near, far)))


SETS = sets([0, 5], [1, 2], [3, 4, 6])


def mean_score(nodes: list[int]) -> float:
    return sum(1 / (1 + math.exp(-LOGITS[node].item())) for node in nodes) / len(nodes)


@pytest.mark.parametrize("priors", [(0.6, 0.3), (0.3, 0.1), (0.9, 0.8)])
def test_terms_by_plain_loops(priors):
    found = DistanceAwareLoss(*priors)(LOGITS, SETS)
    expected = {
        "labelled": 2 * sum(priors) * abs(mean_score([0, 5]) - 1),
        "near": abs(mean_score([1, 2]) - priors[0]),
        "far": abs(mean_score([3, 4, 6]) - priors[1]),
    }
    assert {name: value.item() for name, value in found.items()} == pytest.approx(expected, rel=1e-5)


def test_defaults_are_the_papers():
    loss = DistanceAwareLoss()
    assert (loss.near_prior, loss.far_prior) == (0.6, 0.3)
    assert loss(LOGITS, SETS)["labelled"].item() == pytest.approx(1.8 * (1 - mean_score([0, 5])), rel=1e-5)


def test_absolute_value_of_the_mean_not_mean_of_absolute_values():
    logits = torch.tensor([10.0, 20.0, -20.0, -3.0])  # near scores 1 and 0: their mean is exactly one half
    loss = DistanceAwareLoss(near_prior=0.5, far_prior=0.1)
    assert loss(logits, sets([0], [1, 2], [3]))["near"].item() == pytest.approx(0.0, abs=1e-7)


def test_gradient_by_finite_differences():
    logits = LOGITS.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda g: sum(DistanceAwareLoss()(g, SETS).values()), logits)


@pytest.mark.parametrize(("near", "far"), [([1, 2], []), ([], [3, 4])])
def test_the_term_of_an_empty_set_is_dropped(near, far):
    which = sets([0, 5], near, far)
    dropped = DistanceAwareLoss()(LOGITS, which)
    assert set(dropped) == {"labelled", "near" if near else "far"}
    assert dropped["labelled"].item() == pytest.approx(1.8 * (1 - mean_score([0, 5])), rel=1e-5)


def test_prior_of_all_unlabelled_nodes_is_weighted_by_size():
    assert DistanceAwareLoss(0.6, 0.3).prior(SETS) == pytest.approx((2 * 0.6 + 3 * 0.3) / 5)


@pytest.mark.parametrize("delta", [1, 2, 3])
def test_split_by_networkx_distances(delta):
    import networkx as nx

    graph = random_graph(60, 0.035, 0)
    labelled, unlabelled = np.array([3, 17]), np.setdiff1d(np.arange(60), [3, 17])
    other = nx.Graph(graph.to_scipy())
    reached = {v for s in (3, 17) for v in nx.single_source_shortest_path_length(other, s, cutoff=delta)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PugnnWarning)
        found = split_near_far(PUTask(graph, labelled, unlabelled), delta)
    assert found.near.tolist() == [v for v in range(60) if v in reached and v not in (3, 17)]
    assert found.far.tolist() == [v for v in range(60) if v not in reached]
    assert found.unlabelled.tolist() == [*found.near.tolist(), *found.far.tolist()]
    share = len(found.near) / 58
    assert DistanceAwareLoss(0.6, 0.3).prior(found) == pytest.approx(0.6 * share + 0.3 * (1 - share))


def test_distances_are_measured_on_the_whole_graph():
    path = Graph.from_edges([0, 1, 2], [1, 2, 3])  # node 2 is reached through node 1, which is not in U
    with pytest.warns(PugnnWarning, match="delta=2 leaves none of the 1 unlabelled nodes in the far set"):
        found = split_near_far(PUTask(path, np.array([0]), np.array([2])), 2)
    assert found.near.tolist() == [2]


def test_unreachable_is_far_for_any_delta():
    graph = Graph.from_edges([0, 2], [1, 3])
    found = split_near_far(PUTask(graph, np.array([0]), np.array([1, 2, 3])), 2**31 - 1)
    assert (found.near.tolist(), found.far.tolist()) == ([1], [2, 3])


def test_warnings_name_the_set_and_a_remedy():
    two = Graph.from_edges([0, 2], [1, 3], num_nodes=100)
    everyone = np.arange(1, 100)
    with pytest.warns(PugnnWarning, match="only 1 of the 99 unlabelled nodes in the near set.*Try a larger delta"):
        split_near_far(PUTask(two, np.array([0]), everyone), 3)
    star = Graph.from_edges(np.zeros(99, dtype=int), np.arange(1, 100))
    with pytest.warns(PugnnWarning, match="none of the 99 unlabelled nodes in the far set.*Try a smaller delta"):
        split_near_far(PUTask(star, np.array([0]), everyone), 1)


def test_warning_when_near_is_no_more_likely_than_far():
    with pytest.warns(PugnnWarning, match=r"near_prior=0\.3 is not above far_prior=0\.3.*Raise near_prior"):
        DistanceAwareLoss(0.3, 0.3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"near_prior": 1.0}, "near_prior must lie between 0 and 1"),
        ({"far_prior": 0.0}, "far_prior must lie between 0 and 1"),
    ],
)
def test_bad_settings_are_explained(arguments, message):
    with pytest.raises(PugnnError, match=message):
        DistanceAwareLoss(**arguments)


def test_delta_must_be_positive():
    with pytest.raises(PugnnError, match="delta must be a whole number, at least 1; got 0"):
        split_near_far(PUTask(random_graph(5, 0.5, 0), np.array([0]), np.array([1, 2])), 0)
