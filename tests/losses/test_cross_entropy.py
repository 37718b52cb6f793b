import math

import pytest
import torch

from pugnn.losses import NearFar, UnlabelledAsNegativeLoss

SETS = NearFar(torch.tensor([0]), torch.tensor([1]), torch.tensor([3]))  # node 2 is in none of them
LOGITS = torch.tensor([0.5, -1.0, 3.0, 2.0], dtype=torch.float64)


def test_terms_by_hand():
    terms = UnlabelledAsNegativeLoss()(LOGITS, SETS)
    sigmoid = [1 / (1 + math.exp(-x)) for x in LOGITS.tolist()]
    assert terms["labelled"].item() == pytest.approx(-math.log(sigmoid[0]) / 3)
    assert terms["unlabelled"].item() == pytest.approx(-(math.log(1 - sigmoid[1]) + math.log(1 - sigmoid[3])) / 3)


def test_gradient_by_finite_differences():
    logits = LOGITS.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda g: sum(UnlabelledAsNegativeLoss()(g, SETS).values()), logits)
