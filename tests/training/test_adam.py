from __future__ import annotations

import pytest
import torch
from torch import nn

from pugnn.training import Adam

START = [torch.tensor([[1.0, -2.0], [0.5, 3.0]]), torch.tensor([0.3, -0.7]), torch.tensor([4.0])]


def parameters() -> list[nn.Parameter]:
    return [nn.Parameter(value.clone()) for value in START]


def loss(values: list[nn.Parameter]) -> torch.Tensor:
    return (values[0] ** 2).sum().sin() + (values[1] - 1).pow(4).sum()  # the last one never gets a gradient


def steps(values, optimizer, number: int, change_rate) -> None:
    for step in range(number):
        change_rate(0.05 / (1 + step))
        optimizer.zero_grad()
        loss(values).backward()
        optimizer.step()


def test_it_is_torchs_adam_bit_for_bit() -> None:
    ours, theirs = parameters(), parameters()
    optimizer = Adam([(ours[:1], 0.1), (ours[1:], 0.0)], 0.05)
    reference = torch.optim.Adam([{"params": theirs[:1], "weight_decay": 0.1}, {"params": theirs[1:]}], lr=0.05)

    def set_theirs(rate: float) -> None:
        for group in reference.param_groups:
            group["lr"] = rate

    steps(ours, optimizer, 20, lambda rate: setattr(optimizer, "rate", rate))
    steps(theirs, reference, 20, set_theirs)
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))
    assert not torch.equal(ours[0], START[0])
    assert torch.equal(ours[2], START[2])


def test_one_step_is_that_of_the_formula() -> None:
    parameter = nn.Parameter(torch.tensor([2.0, -1.0]))
    parameter.grad = torch.tensor([0.5, 0.25])
    Adam([([parameter], 0.1)], 0.01).step()
    for found, value, gradient in zip(parameter.tolist(), (2.0, -1.0), (0.5, 0.25), strict=True):
        g = gradient + 0.1 * value
        mean, square = 0.1 * g / (1 - 0.9), 0.001 * g * g / (1 - 0.999)
        assert found == pytest.approx(value - 0.01 * mean / (square**0.5 + 1e-8), rel=1e-6)


def test_it_goes_on_from_a_saved_state() -> None:
    whole, halves = parameters(), parameters()
    at_once, first = Adam([(whole, 0.1)], 0.05), Adam([(halves, 0.1)], 0.05)
    steps(whole, at_once, 10, lambda _: None)
    steps(halves, first, 5, lambda _: None)
    second = Adam([(halves, 0.1)], 0.05)
    saved = first.state()
    second.restore(saved)
    steps(halves, second, 5, lambda _: None)
    assert all(torch.equal(a, b) for a, b in zip(whole, halves, strict=True))
    assert {name.split(".")[0] for name in saved} == {"0", "1"}, "what never had a gradient has no state"
    assert saved["0.step"] == 5, "a copy, which later steps leave alone"
