import math

import numpy as np
import pytest
import torch

from pugnn.losses import Sets, SoftLabelLoss

SETS = Sets.of(np.array([0, 1]), np.array([2, 3]))
VALUES = [1.0, -0.5, 2.0, -1.0]
BELIEFS = [0.1, 0.2, 0.7, 0.4]
LOGITS = torch.tensor(VALUES, dtype=torch.float64)


def loss_with(beliefs) -> SoftLabelLoss:
    return SoftLabelLoss(torch.tensor(beliefs, dtype=torch.float64))


def sigmoid_loss(margin: float) -> float:
    return 1 / (1 + math.exp(margin))


@pytest.mark.parametrize("beliefs", [BELIEFS, [0.0] * 4, [1.0] * 4, [0.5, 0.5, 0.0, 1.0]])
def test_terms_by_plain_loops(beliefs):
    labelled = sum(sigmoid_loss(VALUES[node]) for node in (0, 1)) / 2
    unlabelled = 0.0
    for node in (2, 3):
        unlabelled += beliefs[node] * sigmoid_loss(VALUES[node]) / 2
        unlabelled += (1 - beliefs[node]) * sigmoid_loss(-VALUES[node]) / 2
    found = loss_with(beliefs)(LOGITS, SETS)
    assert {name: term.item() for name, term in found.items()} == pytest.approx(
        {"labelled": labelled, "unlabelled": unlabelled}
    )


def test_terms_as_numbers():
    found = loss_with(BELIEFS)(LOGITS, SETS)
    assert found["labelled"].item() == pytest.approx(0.445700, abs=1e-6)
    assert found["unlabelled"].item() == pytest.approx(0.400735, abs=1e-6)


def test_beliefs_of_labelled_nodes_play_no_part():
    one, two = loss_with(BELIEFS)(LOGITS, SETS), loss_with([0.9, 0.9, 0.7, 0.4])(LOGITS, SETS)
    assert {name: term.item() for name, term in one.items()} == {name: term.item() for name, term in two.items()}


def test_no_belief_at_all_takes_unlabelled_nodes_as_negative():
    found = loss_with([0.0] * 4)(LOGITS, SETS)
    assert found["unlabelled"].item() == pytest.approx((sigmoid_loss(-2.0) + sigmoid_loss(1.0)) / 2)


def test_gradient_by_finite_differences():
    logits = LOGITS.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda g: sum(loss_with(BELIEFS)(g, SETS).values()), logits)
