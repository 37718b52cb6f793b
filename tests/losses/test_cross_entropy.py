import math

import pytest
import torch

from pugnn.losses import Sets, UnlabelledAsNegativeLoss

SETS = Sets.split(torch.tensor([0]), torch.tensor([1]), torch.tensor([3]))  # node 2 is in none of them
LOGITS = torch.tensor([0.5, -1.0, 3.0, 2.0], dtype=torch.float64)


def test_terms_by_hand():
    terms = UnlabelledAsNegativeLoss()(LOGITS, SETS)
    sigmoid = [1 / (1 + math.exp(-x)) for x in LOGITS.tolist()]
    assert terms["labelled"].item() == pytest.approx(-math.log(sigmoid[0]) / 3)
    assert terms["unlabelled"].item() == pytest.approx(-(math.log(1 - sigmoid[1]) + math.log(1 - sigmoid[3])) / 3)


def test_gradient_by_finite_differences():
    logits = LOGITS.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda g: sum(UnlabelledAsNegativeLoss()(g, SETS).values()), logits)


def test_balanced_terms_by_hand():
    terms = UnlabelledAsNegativeLoss(balanced=True)(LOGITS, SETS)
    sigmoid = [1 / (1 + math.exp(-x)) for x in LOGITS.tolist()]
    assert terms["labelled"].item() == pytest.approx(-math.log(sigmoid[0]) / 2)
    assert terms["unlabelled"].item() == pytest.approx(-(math.log(1 - sigmoid[1]) + math.log(1 - sigmoid[3])) / 4)
    assert terms["labelled"].item() == pytest.approx(0.237038, abs=1e-6)
    assert terms["unlabelled"].item() == pytest.approx(0.610047, abs=1e-6)


def test_balanced_sets_weigh_the_same_whatever_their_sizes():
    logits = torch.zeros(11)
    terms = UnlabelledAsNegativeLoss(balanced=True)(logits, Sets(torch.tensor([0]), torch.arange(1, 11)))
    assert terms["labelled"].item() == terms["unlabelled"].item() == pytest.approx(math.log(2) / 2)


def test_gradient_of_the_balanced_form_by_finite_differences():
    logits = LOGITS.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda g: sum(UnlabelledAsNegativeLoss(balanced=True)(g, SETS).values()), logits)
