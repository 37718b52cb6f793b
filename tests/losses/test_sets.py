"""Known negatives in every loss, by plain loops."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from pugnn.losses import (
    DistanceAwareLoss,
    DistPULoss,
    NonNegativeLoss,
    Sets,
    SoftLabelLoss,
    UnbiasedLoss,
    UnlabelledAsNegativeLoss,
    confident_prior_matching,
)

VALUES = [1.0, -0.5, 2.0, -1.0, 0.3, 0.7, -2.0]
LOGITS = torch.tensor(VALUES, dtype=torch.float64)
LABELLED, UNLABELLED, NEGATIVE = [0, 1], [2, 3, 4, 5], [6]
SETS = Sets.of(np.array(LABELLED), np.array(UNLABELLED), np.array(NEGATIVE))
SPLIT = replace(
    Sets.split(torch.tensor(LABELLED), torch.tensor([2, 3]), torch.tensor([4, 5])), negative=torch.tensor(NEGATIVE)
)
SHARE = 0.5 * 1 / 2  # half of one known negative for two known positives
WITHOUT = replace(SETS, negative=torch.zeros(0, dtype=torch.int64))

LOSSES = {
    "naive": UnlabelledAsNegativeLoss(),
    "balanced": UnlabelledAsNegativeLoss(balanced=True),
    "dist-pu": DistPULoss(0.3),
    "upu": UnbiasedLoss(0.3),
    "upu-logistic": UnbiasedLoss(0.3, "logistic"),
    "nnpu": NonNegativeLoss(0.3),
    "nnpu-clamp": NonNegativeLoss(0.3, correction="clamp"),
    "soft-labels": SoftLabelLoss(torch.full((7,), 0.4, dtype=torch.float64)),
    "distance-aware": DistanceAwareLoss(),
}
EXPECTED = {
    "naive": lambda s: -math.log(1 - s) / 7,
    "balanced": lambda s: SHARE * 0.5 * -math.log(1 - s),
    "dist-pu": lambda s: SHARE * 2 * 0.3 * s,
    "upu": lambda s: SHARE * 0.3 * s,
    "upu-logistic": lambda s: SHARE * 0.3 * -math.log(1 - s),
    "nnpu": lambda s: SHARE * 0.3 * s,
    "nnpu-clamp": lambda s: SHARE * 0.3 * s,
    "soft-labels": lambda s: SHARE * s,
    "distance-aware": lambda s: SHARE * 2 * (0.6 + 0.3) * s,
}


def terms(name: str, logits: torch.Tensor, sets: Sets) -> dict[str, float]:
    return {key: term.item() for key, term in LOSSES[name](logits, sets).items()}


def sets_for(name: str) -> Sets:
    return SPLIT if name == "distance-aware" else SETS


@pytest.mark.parametrize("name", LOSSES)
def test_the_term_of_the_known_negatives_by_plain_arithmetic(name):
    score = 1 / (1 + math.exp(2.0))
    found = terms(name, LOGITS, sets_for(name))
    assert list(found)[-1] == "known_negative"
    assert found["known_negative"] == pytest.approx(EXPECTED[name](score))


@pytest.mark.parametrize("name", LOSSES)
def test_the_other_terms_are_as_without_them(name):
    sets = sets_for(name)
    found, without = (terms(name, LOGITS, each) for each in (sets, replace(sets, negative=WITHOUT.negative)))
    changed = {"upu": 1 - SHARE, "nnpu": 1 - SHARE, "naive": 6 / 7}.get(name.split("-")[0], 1.0)
    for key, value in without.items():
        factor = changed if key == "negative" or name == "naive" else 1.0
        assert found[key] == pytest.approx(factor * value)


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_by_finite_differences(name):
    logits = LOGITS.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda g: sum(LOSSES[name](g, sets_for(name)).values()), logits)


@pytest.mark.parametrize("name", LOSSES)
def test_a_step_lowers_the_score_of_a_known_negative(name):
    logits = LOGITS.clone().requires_grad_()
    sum(LOSSES[name](logits, sets_for(name)).values()).backward()
    assert logits.grad[6] > 0


@pytest.mark.parametrize(("negatives", "share"), [(0, 0.0), (1, 0.125), (2, 0.25), (4, 0.5), (40, 0.5)])
def test_many_known_negatives_count_half_as_much_as_all_known_positives(negatives, share):
    sets = Sets(torch.arange(4), torch.arange(4, 8), torch.arange(8, 8 + negatives))
    assert sets.negative_weight == share


def test_confident_prior_matching_takes_the_mean_over_the_models():
    logits = torch.tensor([[0.1, 0.2], [0.3, -0.4], [1.5, -2.0], [0.4, 0.6]], dtype=torch.float64)
    sets = Sets(torch.tensor([0]), torch.tensor([1]), torch.tensor([2, 3]))
    found = confident_prior_matching(logits, sets, torch.ones(1, 2), 0.3, 0.7, 0.0)
    total = 0.0
    for node in (2, 3):
        for model in (0, 1):
            total += 1 / (1 + math.exp(-logits[node, model].item()))
    assert found["known_negative"].item() == pytest.approx(0.5 * 0.7 * total / 4)


def test_when_the_risk_is_too_low_known_negatives_still_count():
    """nnPU then raises R⁻ and ignores R⁺, but what is known of negatives stays."""
    logits = torch.tensor([9.0, 9.0, -9.0, -9.0, -9.0, -9.0, 1.0], requires_grad=True)
    sum(NonNegativeLoss(0.5)(logits, SETS).values()).backward()
    score = 1 / (1 + math.exp(-1.0))
    assert logits.grad[6].item() == pytest.approx(SHARE * 0.5 * score * (1 - score))
