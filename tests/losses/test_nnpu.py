import math

import numpy as np
import pytest
import torch

from pugnn.errors import PugnnError
from pugnn.losses import NonNegativeLoss, Sets, UnbiasedLoss

SETS = Sets.of(np.array([0, 1]), np.array([2, 3]))
FINE = [1.0, -0.5, 2.0, -1.0]  # R⁻ is above zero
LEARNT_BY_HEART = [3.0, 2.0, -3.0, -4.0]  # R⁻ is below it
SURROGATES = ["sigmoid", "logistic"]


def tensor(values) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def risks(values, prior, surrogate="sigmoid") -> tuple[float, float]:
    """R⁺ and R⁻ by plain loops."""
    loss = {"sigmoid": lambda z: 1 / (1 + math.exp(z)), "logistic": lambda z: math.log(1 + math.exp(-z))}[surrogate]
    positive = prior * sum(loss(values[node]) for node in (0, 1)) / 2
    negative = sum(loss(-values[node]) for node in (2, 3)) / 2 - prior * sum(loss(-values[n]) for n in (0, 1)) / 2
    return positive, negative


def slopes(values, prior, surrogate="sigmoid") -> tuple[list[float], list[float]]:
    """Gradients of R⁺ and R⁻ by the formula."""

    def slope(z):  # dℓ/dz
        s = 1 / (1 + math.exp(-z))
        return -s * (1 - s) if surrogate == "sigmoid" else s - 1

    positive = [prior * slope(values[n]) / 2 if n < 2 else 0.0 for n in range(4)]
    negative = [prior * slope(-values[n]) / 2 if n < 2 else -slope(-values[n]) / 2 for n in range(4)]
    return positive, negative


def gradient(loss, values) -> list[float]:
    logits = tensor(values)
    sum(loss(logits, SETS).values()).backward()
    return logits.grad.tolist()


@pytest.mark.parametrize("correction", ["ascent", "clamp"])
@pytest.mark.parametrize("surrogate", SURROGATES)
def test_above_the_floor_it_is_the_unbiased_risk(correction, surrogate):
    loss = NonNegativeLoss(0.3, surrogate, correction)
    positive, negative = risks(FINE, 0.3, surrogate)
    assert negative > 0
    found = loss(tensor(FINE), SETS)
    assert {name: term.item() for name, term in found.items()} == pytest.approx(
        {"positive": positive, "negative": negative}
    )
    up, down = slopes(FINE, 0.3, surrogate)
    assert gradient(loss, FINE) == pytest.approx([a + b for a, b in zip(up, down, strict=True)])


@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("gamma", [0.0, 0.25, 1.0, 2.0])
@pytest.mark.parametrize("beta", [0.0, 0.01])
def test_below_the_floor_the_ascent_raises_the_negative_risk_alone(surrogate, gamma, beta):
    loss = NonNegativeLoss(0.6, surrogate, "ascent", beta, gamma)
    positive, negative = risks(LEARNT_BY_HEART, 0.6, surrogate)
    assert negative < -beta
    found = loss(tensor(LEARNT_BY_HEART), SETS)
    assert found["positive"].item() == pytest.approx(positive)
    assert found["negative"].item() == pytest.approx(-beta, abs=1e-15)
    _, down = slopes(LEARNT_BY_HEART, 0.6, surrogate)
    assert gradient(loss, LEARNT_BY_HEART) == pytest.approx([-gamma * slope for slope in down], rel=1e-12)


@pytest.mark.parametrize("surrogate", SURROGATES)
@pytest.mark.parametrize("beta", [0.0, 0.01])
def test_below_the_floor_the_clamp_goes_on_with_the_positive_risk(surrogate, beta):
    loss = NonNegativeLoss(0.6, surrogate, "clamp", beta, gamma=7.0)
    positive, _ = risks(LEARNT_BY_HEART, 0.6, surrogate)
    assert sum(loss(tensor(LEARNT_BY_HEART), SETS).values()).item() == pytest.approx(positive - beta)
    up, _ = slopes(LEARNT_BY_HEART, 0.6, surrogate)
    assert gradient(loss, LEARNT_BY_HEART) == pytest.approx(up)


def test_terms_as_numbers():
    found = NonNegativeLoss(0.6, beta=0.01)(tensor(LEARNT_BY_HEART), SETS)
    assert found["positive"].item() == pytest.approx(0.04998864, abs=1e-7)
    assert found["negative"].item() == pytest.approx(-0.01)
    # Raise R⁻: labelled nodes down, unlabelled ones up, as a step against this gradient does.
    expected = [0.01355300, 0.03149807, -0.02258833, -0.00883135]
    assert gradient(NonNegativeLoss(0.6), LEARNT_BY_HEART) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("correction", ["ascent", "clamp"])
def test_the_border_itself_belongs_to_the_unbiased_side(correction):
    border = -UnbiasedLoss(0.6)(tensor(LEARNT_BY_HEART), SETS)["negative"].item()
    up, down = slopes(LEARNT_BY_HEART, 0.6)
    whole = [a + b for a, b in zip(up, down, strict=True)]
    below = [-slope for slope in down] if correction == "ascent" else up
    for beta, expected in ((border, whole), (math.nextafter(border, 1), whole), (math.nextafter(border, 0), below)):
        loss = NonNegativeLoss(0.6, correction=correction, beta=beta)
        assert gradient(loss, LEARNT_BY_HEART) == pytest.approx(expected)
        positive, negative = risks(LEARNT_BY_HEART, 0.6)
        assert sum(loss(tensor(LEARNT_BY_HEART), SETS).values()).item() == pytest.approx(positive + negative)


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_gradient_by_finite_differences(surrogate):
    """The value's own gradient: above the floor for both corrections, below it for the clamp."""
    for correction, values in (("ascent", FINE), ("clamp", FINE), ("clamp", LEARNT_BY_HEART)):
        loss = NonNegativeLoss(0.6, surrogate, correction)
        assert torch.autograd.gradcheck(lambda g, loss=loss: sum(loss(g, SETS).values()), tensor(values))


def test_a_step_of_ascent_does_raise_the_negative_risk():
    raising = gradient(NonNegativeLoss(0.6), LEARNT_BY_HEART)
    moved = [x - 0.5 * slope for x, slope in zip(LEARNT_BY_HEART, raising, strict=True)]
    assert risks(moved, 0.6)[1] > risks(LEARNT_BY_HEART, 0.6)[1]


def test_defaults_are_the_authors():
    loss = NonNegativeLoss(0.3)
    assert (loss.surrogate, loss.correction, loss.beta, loss.gamma) == ("sigmoid", "ascent", 0.0, 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": 0.0}, "prior is a share of the unlabelled nodes and must lie between 0 and 1; got 0.0"),
        ({"prior": 1.0}, "prior is a share .* got 1.0"),
        ({"surrogate": "ramp"}, "surrogate must be one of sigmoid, logistic; got 'ramp'"),
        ({"correction": "none"}, "correction must be one of ascent, clamp; got 'none'"),
        ({"beta": -0.1}, "beta must be a number and not negative, got -0.1"),
        ({"beta": math.nan}, "beta must be a number"),
        ({"gamma": -1.0}, "gamma must be a number and not negative, got -1.0"),
        ({"gamma": math.inf}, "gamma must be a number and not negative, got inf"),
    ],
)
def test_bad_settings_are_explained(options, message):
    with pytest.raises(PugnnError, match=message):
        NonNegativeLoss(**{"prior": 0.3, **options})
