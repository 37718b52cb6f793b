import math
import os
import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import random_graph
from pugnn.errors import PugnnError
from pugnn.graph import NO_NEGATIVE, Graph, sample_non_neighbours
from pugnn.regularisers import StructuralRegulariser, structural_sums
from pugnn.regularisers.structural_cpu import WORTH_THREADS
from regularisers.reference import reference


def embedding(graph: Graph, dimensions: int = 5, dtype=torch.float64, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(graph.num_nodes, dimensions, dtype=dtype, generator=generator).requires_grad_()


def sums_by_plain_loops(z: torch.Tensor, graph: Graph, negatives: int, seed: int) -> tuple[float, float]:
    """The formula, pair by pair."""

    def similarity(i: int, j: int) -> float:
        return 1 / (1 + math.exp(-sum(a * b for a, b in zip(z[i].tolist(), z[j].tolist(), strict=True))))

    sources = [i for i in range(graph.num_nodes) for _ in graph.neighbours(i)]
    drawn = sample_non_neighbours(graph, sources, negatives, seed=seed)
    edges = non_edges = 0.0
    for e, i in enumerate(sources):
        edges += (similarity(i, int(graph.indices[e])) - 1) ** 2
        for k in drawn[e].tolist():
            if k != NO_NEGATIVE:
                non_edges += similarity(i, k) ** 2
    return edges, non_edges


def kernel(z: torch.Tensor, graph: Graph, negatives: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    return structural_sums(z, graph, negatives, seed=seed)


def with_gradient(function, z, graph, negatives, seed):
    z = z.detach().clone().requires_grad_()
    edges, non_edges = function(z, graph, negatives, seed)
    (grad_edges,) = torch.autograd.grad(edges, z, retain_graph=True)
    (grad_non_edges,) = torch.autograd.grad(non_edges, z) if non_edges.requires_grad else (torch.zeros_like(z),)
    return edges, non_edges, grad_edges, grad_non_edges


@pytest.mark.parametrize("function", [reference, kernel])
def test_sums_by_plain_loops(function, special_graph):
    z = embedding(special_graph)
    expected = sums_by_plain_loops(z, special_graph, 4, seed=9)
    found = function(z, special_graph, 4, 9)
    assert [value.item() for value in found] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("function", [reference, kernel])
def test_gradient_by_finite_differences(function):
    graph = random_graph(8, 0.3, seed=0)
    z = embedding(graph, 3)
    assert torch.autograd.gradcheck(lambda z: function(z, graph, 3, 5), z)


def relative_error(found: torch.Tensor, expected: torch.Tensor) -> float:
    return ((found - expected).norm() / expected.norm().clamp_min(1e-30)).item()


@pytest.mark.parametrize("negatives", [3, 50])  # few draws one by one, many by counts
def test_kernel_agrees_with_the_reference_in_single_precision(special_graph, negatives):
    z = embedding(special_graph, 16, torch.float32)
    found = with_gradient(kernel, z, special_graph, negatives, 1)
    expected = with_gradient(reference, z.double(), special_graph, negatives, 1)
    for mine, theirs in zip(found, expected, strict=True):
        assert relative_error(mine, theirs) < 1e-5


@settings(max_examples=150, deadline=None)
@given(
    nodes=st.integers(2, 40),
    probability=st.floats(0, 1),
    dimensions=st.integers(1, 20),
    negatives=st.integers(1, 7),
    seed=st.integers(0, 2**63 - 1),
)
def test_kernel_agrees_with_the_reference_on_random_graphs(nodes, probability, dimensions, negatives, seed):
    graph = random_graph(nodes, probability, seed % 1000)
    z = embedding(graph, dimensions, torch.float32, seed % 997)
    found = with_gradient(kernel, z, graph, negatives, seed)
    expected = with_gradient(reference, z.double(), graph, negatives, seed)
    for mine, theirs in zip(found, expected, strict=True):
        assert relative_error(mine, theirs) < 1e-5


def test_threads_do_not_change_a_bit():
    graph = random_graph(2000, 0.002, seed=3)
    negatives = 1 + WORTH_THREADS // len(graph.indices)
    z = embedding(graph, 16, torch.float32)
    before = torch.get_num_threads()
    results = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        results.append(with_gradient(kernel, z, graph, negatives, 4))
    torch.set_num_threads(before)
    for one, *others in zip(*results, strict=True):
        assert all(torch.equal(one, other) for other in others)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("sign", [1, -1])
def test_extreme_products_leave_the_gradient_finite(dtype, sign):
    graph = Graph.from_edges([0, 1], [1, 2], num_nodes=4)
    z = torch.full((4, 16), 30.0, dtype=dtype)
    z[2:] *= sign
    for value in with_gradient(kernel, z, graph, 5, 0):
        assert torch.isfinite(value).all()


def test_sampled_sum_estimates_the_expectation():
    """The mean over many draws comes close to K times the exact mean over all non-neighbours."""
    graph = random_graph(12, 0.3, seed=2)
    z = embedding(graph, 4)
    similarity = torch.sigmoid(z.detach() @ z.detach().T)
    exact = 0.0
    for i in range(12):
        others = [k for k in range(12) if k != i and k not in graph.neighbours(i)]
        exact += len(graph.neighbours(i)) * 3 * sum(similarity[i, k].item() ** 2 for k in others) / len(others)
    drawn = [kernel(z.detach(), graph, 3, seed)[1].item() for seed in range(2000)]
    standard_error = np.std(drawn) / np.sqrt(len(drawn))
    assert abs(np.mean(drawn) - exact) < 4 * standard_error


def exact(z, graph, negatives, seed=None):
    return structural_sums(z, graph, negatives, seed=None)


def test_exact_expectation_by_plain_loops(special_graph):
    graph = special_graph
    z = embedding(graph, 4)
    similarity = torch.sigmoid(z.detach() @ z.detach().T).tolist()
    edges = non_edges = 0.0
    for i in range(graph.num_nodes):
        near = set(graph.neighbours(i).tolist())
        others = [k for k in range(graph.num_nodes) if k != i and k not in near]
        edges += sum((similarity[i][j] - 1) ** 2 for j in near)
        if others:
            non_edges += len(near) * 7 * sum(similarity[i][k] ** 2 for k in others) / len(others)
    found = [value.item() for value in exact(z, graph, 7)]
    assert found == pytest.approx((edges, non_edges), rel=1e-9)


@pytest.mark.parametrize("pairs", [1, 50, 4_000_000])
def test_exact_gradient_by_finite_differences_in_blocks_of_any_size(pairs, monkeypatch):
    monkeypatch.setattr("pugnn.regularisers.structural.PAIRS", pairs)
    graph = random_graph(9, 0.3, seed=4)
    assert torch.autograd.gradcheck(lambda z: exact(z, graph, 3), embedding(graph, 3))


def test_draws_average_out_to_the_exact_gradient():
    graph = random_graph(20, 0.2, seed=8)
    z = embedding(graph, 4)
    expected = with_gradient(exact, z, graph, 5, None)[3]
    drawn = torch.stack([with_gradient(kernel, z, graph, 5, seed)[3] for seed in range(400)])
    standard_error = drawn.std(dim=0) / 20
    assert ((drawn.mean(dim=0) - expected).abs() < 5 * standard_error + 1e-9).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    graph = random_graph(2000, 0.002, seed=3)
    z = embedding(graph, 16, torch.float32).detach()
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    expected = kernel(z, graph, 50, 4)[1]
    child = os.fork()
    if not child:
        os._exit(int(kernel(z, graph, 50, 4)[1] != expected))
    for _ in range(6000):  # five minutes, if it hangs
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.05)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
    torch.set_num_threads(before)
    assert ended
    assert status == 0


def test_second_derivatives_are_refused():
    graph = random_graph(8, 0.3, seed=0)
    z = embedding(graph, 3)
    (gradient,) = torch.autograd.grad(kernel(z, graph, 3, 5)[1].square(), z, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


def test_terms_are_means_over_edges():
    graph = random_graph(15, 0.3, seed=1)
    z = embedding(graph)
    a, b = sums_by_plain_loops(z, graph, 6, seed=2)
    m = 2 * graph.num_edges
    terms = StructuralRegulariser(negatives=6)(z, graph, seed=2)
    assert (terms["edges"].item(), terms["non_edges"].item()) == pytest.approx((a / m, b / m), rel=1e-9)


def test_defaults_are_the_papers():
    assert StructuralRegulariser().negatives == 50


def test_a_graph_without_edges_costs_nothing():
    graph = Graph.from_edges([], [], num_nodes=3)
    terms = StructuralRegulariser()(embedding(graph), graph, seed=0)
    assert {name: term.item() for name, term in terms.items()} == {"edges": 0.0, "non_edges": 0.0}


def test_bad_settings_are_explained():
    with pytest.raises(PugnnError, match="negatives must be a whole number"):
        StructuralRegulariser(negatives=0)
