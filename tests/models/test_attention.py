import numpy as np
import pytest
import torch
from torch import Tensor

from conftest import random_graph
from pugnn.graph import Graph
from pugnn.models.attention import Neighbourhoods, attend_pairs, hop_graphs, neighbour_attention
from pugnn.models.attention_cpu import attend_cpu

SHAPES = [(1, 1), (2, 1), (3, 3), (8, 4), (12, 4), (16, 4), (16, 1), (40, 8)]  # values in all, heads


def structure_of(graph: Graph, hops: int = 1) -> Neighbourhoods:
    return Neighbourhoods(*hop_graphs(graph, hops)[-1])


def draw(n: int, d: int, heads: int, spread: float = 1.0, seed: int = 0) -> tuple[Tensor, ...]:
    rng = np.random.default_rng(seed)
    h, s, t = rng.normal(size=(n, d)), spread * rng.normal(size=(n, heads)), spread * rng.normal(size=(n, heads))
    return tuple(torch.from_numpy(x.astype(np.float32)).requires_grad_() for x in (h, s, t))


def dense(h: Tensor, s: Tensor, t: Tensor, structure: Neighbourhoods) -> Tensor:
    """The definition with a mask over all pairs, in double precision."""
    n, heads = s.shape
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        mask[i, structure.indices[structure.indptr[i] : structure.indptr[i + 1]]] = True
    sums = s.double()[:, None, :] + t.double()[None, :, :]
    scores = torch.where(sums > 0, sums, 0.2 * sums).masked_fill(~mask[:, :, None], -torch.inf)
    return torch.einsum("ijh,jhd->ihd", scores.softmax(dim=1), h.double().view(n, heads, -1)).reshape(n, -1)


def plain(h: Tensor, s: Tensor, t: Tensor, structure: Neighbourhoods) -> Tensor:
    return attend_pairs(h, s, t, *structure.pairs)


def value_and_gradients(form, inputs: tuple[Tensor, ...], structure: Neighbourhoods) -> list[Tensor]:
    out = form(*inputs, structure)
    weights = torch.from_numpy(np.random.default_rng(9).normal(size=out.shape)).to(out.device)
    return [out.detach().double(), *torch.autograd.grad((out * weights).sum(), inputs)]


def assert_forms_agree(inputs: tuple[Tensor, ...], structure: Neighbourhoods, tolerance: float = 2e-5) -> None:
    expected = value_and_gradients(dense, inputs, structure)
    for form in (plain, neighbour_attention):
        for found, right in zip(value_and_gradients(form, inputs, structure), expected, strict=True):
            scale = max(1.0, float(right.abs().max()))
            assert torch.allclose(found.double(), right.double(), atol=tolerance * scale, rtol=tolerance)


@pytest.mark.parametrize(("d", "heads"), SHAPES)
@pytest.mark.parametrize("hops", [1, 3])
def test_three_forms_agree(d, heads, hops):
    structure = structure_of(random_graph(60, 0.05, seed=d), hops)
    assert_forms_agree(draw(60, d, heads), structure)


def test_hubs_isolated_nodes_and_others(special_graph):
    if special_graph.num_nodes > 500:
        pytest.skip("a dense mask would be large")
    assert_forms_agree(draw(special_graph.num_nodes, 16, 4), structure_of(special_graph, 2))


def test_isolated_nodes_keep_their_value():
    structure = structure_of(Graph.from_edges([0], [1], num_nodes=4))
    h, s, t = draw(4, 8, 2)
    assert torch.allclose(neighbour_attention(h, s, t, structure)[2:], h[2:])


@pytest.mark.parametrize("spread", [10, 30, 100, 3000])
@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_extreme_scores(spread, shift):
    structure = structure_of(random_graph(60, 0.05, seed=2))
    h, s, t = draw(60, 16, 4, spread)
    s = (s.detach() + shift * 2 * spread).requires_grad_()
    assert_forms_agree((h, s, t), structure, tolerance=1e-6 * max(spread, 30))
    if spread >= 100:
        lost = attend_cpu(h, s, t, structure.indptr, structure.indices)[1]
        assert len(lost) > 0  # so the way round is tested as well


def test_nodes_with_small_weights_are_left_to_the_caller():
    # Nodes 0 and 1 see each other, 2 and 3 too; only the former see a large score.
    structure = structure_of(Graph.from_edges([0, 2], [1, 3]))
    h, s, _ = draw(4, 1, 1)
    t = torch.tensor([[500.0], [499.0], [-500.0], [-499.0]])
    attended, lost = attend_cpu(h, s, t, structure.indptr, structure.indices)
    assert lost.tolist() == [2, 3]
    assert attended[2:].tolist() == [[0.0], [0.0]]
    attended.sum().backward()
    assert h.grad[2:].tolist() == [[0.0], [0.0]]
    assert torch.isfinite(s.grad).all()


def test_scores_that_add_up_to_zero_take_the_lower_slope():
    structure = structure_of(Graph.from_edges([0], [1]))
    h, _, _ = draw(2, 1, 1)
    s, t = torch.full((2, 1), 0.3, requires_grad=True), torch.tensor([[-0.3], [0.7]], requires_grad=True)
    assert_forms_agree((h, s, t), structure)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_scores_that_are_not_finite_stay_visible(bad):
    structure = structure_of(Graph.from_edges([0], [1]))
    h, s, t = draw(2, 4, 2)
    assert neighbour_attention(h, s, t.abs() * bad, structure).isnan().all()


def test_inputs_and_gradients_need_not_be_contiguous():
    structure = structure_of(random_graph(30, 0.1, seed=4))
    both, s, t = draw(30, 16, 2)
    h = both.chunk(2, dim=1)[1]
    out = neighbour_attention(h, s, t, structure)
    (gradient,) = torch.autograd.grad(out.T.sum(), both, retain_graph=True)
    expected = torch.autograd.grad(dense(h, s, t, structure).sum(), both)[0]
    assert torch.allclose(gradient, expected, atol=1e-5)


def test_same_bits_every_time():
    structure = structure_of(random_graph(60, 0.1, seed=5), 2)
    first, second = (value_and_gradients(neighbour_attention, draw(60, 16, 4), structure) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_gradients_of_the_plain_form_by_differences():
    structure = structure_of(random_graph(8, 0.3, seed=6))
    inputs = tuple(x.detach().double().requires_grad_() for x in draw(8, 6, 2))
    # In double precision the plain form is taken.
    assert torch.autograd.gradcheck(lambda h, s, t: neighbour_attention(h, s, t, structure), inputs)


def test_pairs_of_some_nodes():
    structure = structure_of(Graph.from_edges([0, 1, 2], [1, 2, 3], num_nodes=5))
    i, j = structure.pairs_of(np.array([1, 4]))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(1, 0), (1, 1), (1, 2), (4, 4)]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_on_a_cuda_device():
    structure = structure_of(random_graph(60, 0.1, seed=5), 2)
    inputs = draw(60, 16, 4)
    there = Neighbourhoods(structure.indptr, structure.indices, "cuda")
    moved = tuple(x.detach().cuda().requires_grad_() for x in inputs)
    found = value_and_gradients(neighbour_attention, moved, there)
    expected = value_and_gradients(neighbour_attention, inputs, structure)
    assert all(torch.allclose(a.cpu(), b, atol=1e-5) for a, b in zip(found, expected, strict=True))
