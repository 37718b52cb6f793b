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


def by_plain_loops(near_prior, far_prior, set_weights="equal", labelled_weight="sum") -> dict[str, float]:
    n_near, n_far = 2, 3
    share = n_near / (n_near + n_far)
    weight = 2 * (near_prior + far_prior)
    if labelled_weight == "prior":
        weight = 2 * (n_near * near_prior + n_far * far_prior) / (n_near + n_far)
    near_weight, far_weight = (share, 1 - share) if set_weights == "size" else (1, 1)
    return {
        "labelled": weight * abs(mean_score([0, 5]) - 1),
        "near": near_weight * abs(mean_score([1, 2]) - near_prior),
        "far": far_weight * abs(mean_score([3, 4, 6]) - far_prior),
    }


@pytest.mark.parametrize("priors", [(0.6, 0.3), (0.3, 0.1), (0.9, 0.8)])
@pytest.mark.parametrize("set_weights", ["equal", "size"])
@pytest.mark.parametrize("labelled_weight", ["sum", "prior"])
def test_terms_by_plain_loops(priors, set_weights, labelled_weight):
    loss = DistanceAwareLoss(*priors, set_weights=set_weights, labelled_weight=labelled_weight)
    found = loss(LOGITS, SETS)
    expected = by_plain_loops(*priors, set_weights, labelled_weight)
    assert {name: value.item() for name, value in found.items()} == pytest.approx(expected, rel=1e-5)


def test_defaults_are_the_papers():
    loss = DistanceAwareLoss()
    assert (loss.near_prior, loss.far_prior, loss.set_weights, loss.labelled_weight) == (0.6, 0.3, "equal", "sum")
    assert loss(LOGITS, SETS)["labelled"].item() == pytest.approx(1.8 * (1 - mean_score([0, 5])), rel=1e-5)


def test_absolute_value_of_the_mean_not_mean_of_absolute_values():
    logits = torch.tensor([10.0, 20.0, -20.0, -3.0])  # near scores 1 and 0: their mean is exactly one half
    loss = DistanceAwareLoss(near_prior=0.5, far_prior=0.1)
    assert loss(logits, sets([0], [1, 2], [3]))["near"].item() == pytest.approx(0.0, abs=1e-7)


def test_gradient_by_finite_differences():
    logits = LOGITS.double().requires_grad_()
    for loss in (DistanceAwareLoss(), DistanceAwareLoss(set_weights="size", labelled_weight="prior")):
        assert torch.autograd.gradcheck(lambda g, loss=loss: sum(loss(g, SETS).values()), logits)


@pytest.mark.parametrize(("near", "far", "prior"), [([1, 2], [], 0.6), ([], [3, 4], 0.3)])
def test_an_empty_set_is_dropped_or_becomes_dist_pu(near, far, prior):
    which = sets([0, 5], near, far)
    dropped = DistanceAwareLoss()(LOGITS, which)
    kept = "near" if near else "far"
    assert set(dropped) == {"labelled", kept}
    assert dropped["labelled"].item() == pytest.approx(1.8 * (1 - mean_score([0, 5])), rel=1e-5)
    dist_pu = DistanceAwareLoss(empty_set="dist-pu")(LOGITS, which)
    assert dist_pu["labelled"].item() == pytest.approx(2 * prior * (1 - mean_score([0, 5])), rel=1e-5)
    assert dist_pu[kept].item() == pytest.approx(abs(mean_score(near or far) - prior), rel=1e-5)


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
        ({"set_weights": "sizes"}, "set_weights must be one of equal, size; got 'sizes'"),
        ({"labelled_weight": ""}, "labelled_weight must be one of sum, prior"),
        ({"empty_set": "ignore"}, "empty_set must be one of drop, dist-pu"),
    ],
)
def test_bad_settings_are_explained(arguments, message):
    with pytest.raises(PugnnError, match=message):
        DistanceAwareLoss(**arguments)


def test_delta_must_be_positive():
    with pytest.raises(PugnnError, match="delta must be a whole number, at least 1; got 0"):
        split_near_far(PUTask(random_graph(5, 0.5, 0), np.array([0]), np.array([1, 2])), 0)
