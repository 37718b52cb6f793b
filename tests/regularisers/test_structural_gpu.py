"""Runs where there is a CUDA device: PYTHONPATH=src:tests pytest -m gpu."""

import pytest
import torch

from conftest import random_graph, whole
from pugnn.graph import Graph
from pugnn.methods import PUGNN
from pugnn.regularisers import structural as dispatch
from pugnn.regularisers import structural_sums
from pugnn_paper.variants import PUGNNVariant
from regularisers.reference import reference

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]


def sums_and_gradients(function, z):
    z = z.detach().clone().requires_grad_()
    edges, non_edges = function(z)
    (grad_edges,) = torch.autograd.grad(edges, z, retain_graph=True)
    grad_non_edges = torch.autograd.grad(non_edges, z)[0] if non_edges.item() else torch.zeros_like(z)
    return [value.cpu().double() for value in (edges, non_edges, grad_edges, grad_non_edges)]


def assert_close(found, expected, tolerance=1e-5):
    for mine, theirs in zip(found, expected, strict=True):
        assert (mine - theirs).norm() <= tolerance * theirs.norm().clamp_min(1e-30)


def embedding(graph: Graph, dimensions: int) -> torch.Tensor:
    return 0.5 * torch.randn(graph.num_nodes, dimensions, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("dimensions", [1, 16, 40])
@pytest.mark.parametrize("seed", [7, 2**63 + 12345])
def test_sampled_equals_the_reference(special_graph, dimensions, seed):
    z = embedding(special_graph, dimensions)
    found = sums_and_gradients(lambda z: structural_sums(z, special_graph, 50, seed=seed), z.cuda())
    expected = sums_and_gradients(lambda z: reference(z, special_graph, 50, seed), z.double())
    assert_close(found, expected)


@pytest.mark.parametrize("dimensions", [1, 16, 40])
def test_exact_equals_the_blocked_form_in_double_precision(special_graph, dimensions):
    z = embedding(special_graph, dimensions)
    found = sums_and_gradients(lambda z: structural_sums(z, special_graph, 50, seed=None), z.cuda())
    expected = sums_and_gradients(lambda z: structural_sums(z, special_graph, 50, seed=None), z.double())
    assert_close(found, expected, 1e-4)


def test_exact_repeats_bit_for_bit():
    graph = random_graph(500, 0.02, 0)
    z = embedding(graph, 16).cuda()
    one, two = (sums_and_gradients(lambda z: structural_sums(z, graph, 50, seed=None), z) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


def star(nodes: int) -> Graph:
    """A hub joined to all but the last node, and a ring through all of them."""
    spokes = [(0, other) for other in range(1, nodes - 1)]
    return Graph.from_edges(*zip(*spokes, *((i, i + 1) for i in range(1, nodes - 1)), strict=True), num_nodes=nodes)


@pytest.mark.parametrize("seed", [1, None])
def test_every_row_is_right_around_a_large_hub(seed):
    graph = star(4000 if seed is None else 20_000)
    z = embedding(graph, 16)
    found = sums_and_gradients(lambda z: structural_sums(z, graph, 50, seed=seed), z.cuda())
    expected = sums_and_gradients(lambda z: structural_sums(z, graph, 50, seed=seed), z.double())
    assert_close(found, expected, 1e-5)
    error = (found[3] - expected[3]).norm(dim=1) / expected[3].norm(dim=1)
    assert error.median() < 1e-5


def test_double_precision_is_computed_on_the_cpu():
    graph = random_graph(30, 0.1, 0)
    z = embedding(graph, 4).double()
    found = sums_and_gradients(lambda z: structural_sums(z, graph, 5, seed=3), z.cuda())
    assert_close(found, sums_and_gradients(lambda z: structural_sums(z, graph, 5, seed=3), z), 1e-9)


def test_without_triton_the_other_forms_run(monkeypatch):
    dispatch.has_fused_gpu_kernel.cache_clear()
    monkeypatch.setattr(dispatch, "find_spec", lambda name: None)
    graph = random_graph(30, 0.1, 0)
    z = embedding(graph, 16)
    found = sums_and_gradients(lambda z: structural_sums(z, graph, 5, seed=3), z.cuda())
    exact = sums_and_gradients(lambda z: structural_sums(z, graph, 5, seed=None), z.cuda())
    dispatch.has_fused_gpu_kernel.cache_clear()
    assert_close(found, sums_and_gradients(lambda z: structural_sums(z, graph, 5, seed=3), z.double()))
    assert_close(exact, sums_and_gradients(lambda z: structural_sums(z, graph, 5, seed=None), z.double()), 1e-4)


def test_the_seed_may_be_a_tensor_on_the_device():
    graph = random_graph(50, 0.1, 0)
    z = embedding(graph, 16).cuda()
    number, tensor = (structural_sums(z, graph, 5, seed=s)[1] for s in (9, torch.tensor([9], device="cuda")))
    assert torch.allclose(number, tensor)


def test_epochs_with_dropout_differ_and_a_resumed_training_goes_on(tmp_path):
    from pugnn.training import Checkpoint, TrainingSettings, train

    graph = random_graph(60, 0.06, 1, features=5)
    settings = TrainingSettings(epochs=25, device="cuda")

    def objective(output, batch, seed):
        return {"loss": (output.logit - 1).square().mean()}

    loader = whole(graph, "cuda")
    uninterrupted = train(loader, objective, settings).log
    assert len({record["loss"] for record in uninterrupted}) == 25
    checkpoint = Checkpoint(tmp_path / "state", "mine", every=10)
    train(loader, objective, settings, checkpoint=checkpoint)  # leaves the state after 20 epochs
    resumed = train(loader, objective, settings, checkpoint=checkpoint).log
    assert [r["loss"] for r in resumed] == pytest.approx([r["loss"] for r in uninterrupted], rel=1e-3)


@pytest.mark.parametrize("backbone", ["gcn", "gcn-linear", "gat", "gin", "sage", "appnp"])
def test_every_backbone_trains_on_the_gpu(backbone):
    from pugnn.task import PUTask
    from pugnn.training import TrainingSettings

    graph = random_graph(60, 0.06, 1, features=5)
    task = PUTask.from_positives(graph, torch.arange(3).numpy())
    settings = TrainingSettings(epochs=60, dropout=0.0, device="cuda", backbone=backbone)
    log = PUGNN(delta=1, near_prior=0.6, far_prior=0.3).fit(task, settings).log
    assert log[-1]["total"] < 0.9 * log[0]["total"]
    assert len({record["non_edges"] for record in log}) == 60


@pytest.mark.parametrize("hub", [False, True])
@pytest.mark.parametrize("expectation", ["sampled", "exact"])
def test_a_whole_training_on_the_gpu(expectation, hub):
    from pugnn.task import PUTask
    from pugnn.training import TrainingSettings, score

    graph = random_graph(60, 0.06, 1, features=5)
    if hub:  # joined to all but the last two: what is special about it must not stop the recording of an epoch
        spokes = range(1, 58)
        ends = [*graph.sources, *[0] * len(spokes)], [*graph.indices, *spokes]
        graph = Graph.from_edges(*ends, features=graph.features)
    task = PUTask.from_positives(graph, torch.arange(3).numpy())
    method = PUGNNVariant(delta=1, near_prior=0.6, far_prior=0.3, alpha=0.1, expectation=expectation)
    found = method.fit(task, TrainingSettings(epochs=20, dropout=0.0, device="cuda"))
    expected = method.fit(task, TrainingSettings(epochs=20, dropout=0.0))
    assert torch.allclose(score(found.model, graph), score(expected.model, graph), atol=1e-3)
