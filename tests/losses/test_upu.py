import math

import numpy as np
import pytest
import torch

from pugnn.errors import PugnnError
from pugnn.losses import Sets, UnbiasedLoss

SETS = Sets.of(np.array([0, 1]), np.array([2, 3]))
VALUES = [1.0, -0.5, 2.0, -1.0]
LOGITS = torch.tensor(VALUES, dtype=torch.float64)
MARGIN = {"sigmoid": lambda z: 1 / (1 + math.exp(z)), "logistic": lambda z: math.log(1 + math.exp(-z))}


def by_plain_loops(prior: float, surrogate: str) -> dict[str, float]:
    loss = MARGIN[surrogate]
    positive = negative = 0.0
    for node in (0, 1):
        positive += prior * loss(VALUES[node]) / 2
        negative -= prior * loss(-VALUES[node]) / 2
    for node in (2, 3):
        negative += loss(-VALUES[node]) / 2
    return {"positive": positive, "negative": negative}


@pytest.mark.parametrize("surrogate", ["sigmoid", "logistic"])
@pytest.mark.parametrize("prior", [0.05, 0.3, 0.9])
def test_terms_by_plain_loops(surrogate, prior):
    found = UnbiasedLoss(prior, surrogate)(LOGITS, SETS)
    assert {name: term.item() for name, term in found.items()} == pytest.approx(by_plain_loops(prior, surrogate))


@pytest.mark.parametrize(
    ("surrogate", "positive", "negative"), [("sigmoid", 0.133710, 0.408579), ("logistic", 0.193101, 0.951994)]
)
def test_terms_as_numbers(surrogate, positive, negative):
    found = UnbiasedLoss(0.3, surrogate)(LOGITS, SETS)
    assert found["positive"].item() == pytest.approx(positive, abs=1e-6)
    assert found["negative"].item() == pytest.approx(negative, abs=1e-6)


def test_the_sigmoid_form_of_2014():
    """For a symmetric loss the risk is 2π mean_L ℓ(g) + mean_U ℓ(-g) - π."""
    loss = MARGIN["sigmoid"]
    expected = 2 * 0.3 * (loss(1.0) + loss(-0.5)) / 2 + (loss(-2.0) + loss(1.0)) / 2 - 0.3
    assert sum(UnbiasedLoss(0.3)(LOGITS, SETS).values()).item() == pytest.approx(expected)


def test_the_convex_form_of_2015():
    """For the logistic loss, ℓ(z) - ℓ(-z) = -z, the risk is -π mean_L g + mean_U ℓ(-g)."""
    loss = MARGIN["logistic"]
    expected = -0.3 * (1.0 - 0.5) / 2 + (loss(-2.0) + loss(1.0)) / 2
    assert sum(UnbiasedLoss(0.3, "logistic")(LOGITS, SETS).values()).item() == pytest.approx(expected)


def test_the_risk_is_that_of_all_labels_where_the_unlabelled_are_the_mixture():
    """Unlabelled: three nodes like the labelled one and seven like a negative one, so π = 0.3."""
    logits = torch.tensor([0.8, *[0.8] * 3, *[-0.4] * 7], dtype=torch.float64)
    sets = Sets.of(np.array([0]), np.arange(1, 11))
    for surrogate, loss in MARGIN.items():
        terms = UnbiasedLoss(0.3, surrogate)(logits, sets)
        assert terms["positive"].item() == pytest.approx(0.3 * loss(0.8))
        assert terms["negative"].item() == pytest.approx(0.7 * loss(0.4))


def test_it_may_fall_below_zero():
    logits = torch.tensor([9.0, 9.0, -9.0, -9.0])
    assert sum(UnbiasedLoss(0.5)(logits, SETS).values()).item() < -0.49


def test_near_and_far_nodes_count_as_unlabelled():
    split = Sets.split(torch.tensor([0, 1]), torch.tensor([3]), torch.tensor([2]))
    assert sum(UnbiasedLoss(0.3)(LOGITS, split).values()) == sum(UnbiasedLoss(0.3)(LOGITS, SETS).values())


@pytest.mark.parametrize("surrogate", ["sigmoid", "logistic"])
def test_gradient_by_finite_differences(surrogate):
    logits = LOGITS.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda g: sum(UnbiasedLoss(0.3, surrogate)(g, SETS).values()), logits)


@pytest.mark.parametrize("surrogate", ["sigmoid", "logistic"])
def test_large_logits_stay_finite(surrogate):
    logits = torch.tensor([1000.0, -1000.0, 1000.0, -1000.0], requires_grad=True)
    total = sum(UnbiasedLoss(0.3, surrogate)(logits, SETS).values())
    total.backward()
    assert torch.isfinite(total)
    assert torch.isfinite(logits.grad).all()


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.1, 1.5, float("nan"), None, "0.3"])
def test_bad_priors_are_explained(prior):
    with pytest.raises(PugnnError, match=f"prior is a share .* must lie between 0 and 1; got {prior!r}"):
        UnbiasedLoss(prior)


def test_bad_surrogates_are_explained():
    with pytest.raises(PugnnError, match="surrogate must be one of sigmoid, logistic; got 'hinge'"):
        UnbiasedLoss(0.3, "hinge")
