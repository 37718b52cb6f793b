import math

import numpy as np
import pytest
import torch

from pugnn.errors import PugnnError
from pugnn.losses import DistPULoss, Sets, mean_entropy
from pugnn_paper.variants import LossVariant

SETS = Sets.of(np.array([0, 1]), np.array([2, 3]))
VALUES = [1.0, -0.5, 2.0, -1.0]
LOGITS = torch.tensor(VALUES, dtype=torch.float64)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


@pytest.mark.parametrize("prior", [0.1, 0.3, 0.574, 0.9])  # the unlabelled mean is 0.5749: above and below it
def test_terms_by_plain_loops(prior):
    labelled = sum(sigmoid(VALUES[node]) for node in (0, 1)) / 2
    unlabelled = sum(sigmoid(VALUES[node]) for node in (2, 3)) / 2
    found = DistPULoss(prior)(LOGITS, SETS)
    expected = {"labelled": 2 * prior * abs(labelled - 1), "unlabelled": abs(unlabelled - prior)}
    assert {name: term.item() for name, term in found.items()} == pytest.approx(expected)


def test_terms_as_numbers():
    found = DistPULoss(0.3)(LOGITS, SETS)
    assert found["labelled"].item() == pytest.approx(0.267420, abs=1e-6)
    assert found["unlabelled"].item() == pytest.approx(0.274869, abs=1e-6)


def test_absolute_value_of_the_mean_not_mean_of_absolute_values():
    logits = torch.tensor([20.0, 20.0, 20.0, -20.0])
    assert DistPULoss(0.5)(logits, SETS)["unlabelled"].item() == pytest.approx(0.0, abs=1e-7)


def test_the_trivial_answer_costs_nothing_on_the_unlabelled_nodes():
    logit = math.log(0.3 / 0.7)
    logits = torch.tensor([50.0, 50.0, logit, logit], dtype=torch.float64)
    assert sum(DistPULoss(0.3)(logits, SETS).values()).item() == pytest.approx(0.0, abs=1e-12)


def test_it_is_the_distance_aware_loss_of_one_set():
    one_set = Sets.split(torch.tensor([0, 1]), torch.tensor([2, 3]), torch.tensor([], dtype=torch.long))
    other = LossVariant(near_prior=0.3, far_prior=0.1, empty_set="dist-pu")(LOGITS, one_set)
    assert sum(DistPULoss(0.3)(LOGITS, SETS).values()).item() == pytest.approx(sum(other.values()).item())


@pytest.mark.parametrize("prior", [0.3, 0.9])
def test_gradient_by_finite_differences(prior):
    logits = LOGITS.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda g: sum(DistPULoss(prior)(g, SETS).values()), logits)


@pytest.mark.parametrize("prior", [0.0, 1.0, -1.0, float("nan"), None])
def test_bad_priors_are_explained(prior):
    with pytest.raises(PugnnError, match="prior is a share of the unlabelled nodes and must lie between 0 and 1"):
        DistPULoss(prior)


def test_mean_entropy_by_plain_loops():
    expected = 0.0
    for value in VALUES:
        s = sigmoid(value)
        expected += -(s * math.log(s) + (1 - s) * math.log(1 - s)) / 4
    assert mean_entropy(LOGITS).item() == pytest.approx(expected)
    assert mean_entropy(LOGITS).item() == pytest.approx(0.548147, abs=1e-6)
    assert mean_entropy(torch.zeros(3, dtype=torch.float64)).item() == pytest.approx(math.log(2))


def test_mean_entropy_of_decided_nodes_is_zero_and_has_a_gradient():
    logits = torch.tensor([1000.0, -1000.0], requires_grad=True)
    entropy = mean_entropy(logits)
    entropy.backward()
    assert entropy.item() == 0.0
    assert logits.grad.tolist() == [0.0, 0.0]


def test_gradient_of_mean_entropy_by_finite_differences():
    assert torch.autograd.gradcheck(mean_entropy, LOGITS.clone().requires_grad_())
