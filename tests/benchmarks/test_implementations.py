"""The implementations that the benchmarks compare must compute the same."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from conftest import random_graph
from pugnn.task import PUTask

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from implementations import IMPLEMENTATIONS


@pytest.fixture(scope="module")
def models():
    graph = random_graph(60, 0.06, seed=5, features=4)
    task = PUTask.from_positives(graph, np.arange(3))
    torch.manual_seed(0)
    return {name: build(task) for name, build in IMPLEMENTATIONS.items()}


def test_same_regulariser_up_to_the_draws(models):
    z = torch.randn(60, 16, generator=torch.Generator().manual_seed(1))
    values = {name: np.array([model.regulariser(z).item() for _ in range(60)]) for name, model in models.items()}
    ours = values["pugnn"]
    for other in (values["PyG"], values["plain PyTorch"]):
        error = np.sqrt((ours.var() + other.var()) / 60)
        assert abs(ours.mean() - other.mean()) < 4 * error + 1e-6


def test_same_loss(models):
    logit = torch.randn(60, generator=torch.Generator().manual_seed(2))
    expected = sum(models["pugnn"].loss(logit, models["pugnn"].sets).values()).item()
    for name in ("PyG", "plain PyTorch"):
        assert models[name].pu_loss(logit).item() == pytest.approx(expected, rel=1e-6)


def test_same_network(models):
    pyg, plain, ours = models["PyG"], models["plain PyTorch"], models["pugnn"].model
    with torch.no_grad():
        for first, second, b1, b2 in (
            (pyg.conv1.lin.weight, pyg.conv2.lin.weight, pyg.conv1.bias, pyg.conv2.bias),
            (plain.lin1.weight, plain.lin2.weight, plain.b1, plain.b2),
        ):
            first.copy_(ours.first_layer.linear.weight)
            second.copy_(ours.second_layer.weight)
            b1.copy_(ours.first_bias)
            b2.copy_(ours.second_bias)
    expected = models["pugnn"].scores()
    assert np.allclose(pyg.scores(), expected, atol=1e-6)
    assert np.allclose(plain.scores(), expected, atol=1e-6)


def test_every_step_learns(models):
    for model in models.values():
        before = model.scores()
        model.step()
        assert not np.allclose(model.scores(), before)
