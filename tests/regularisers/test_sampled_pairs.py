import math

import numpy as np
import pytest
import torch

from conftest import random_graph, special_graphs
from pugnn.graph import Graph
from pugnn.regularisers import StructuralRegulariser, sample_pairs
from pugnn.regularisers.structural import structural_sums_exact
from pugnn_paper.variants import RegulariserVariant

GRAPH = Graph.from_edges([0, 0, 0, 0, 1, 2], [1, 2, 3, 4, 2, 5], num_nodes=7)  # a hub, an isolated node
Z = torch.randn(7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def mean(values: torch.Tensor) -> torch.Tensor:
    return values.mean()


def similarity(i: int, j: int) -> float:
    return 1 / (1 + math.exp(-float(Z[i] @ Z[j])))


def test_pairs_are_edges_and_non_neighbours():
    graph = random_graph(50, 0.1, seed=0)
    pairs = sample_pairs(graph, 400, seed=3)
    assert pairs.directed == len(graph.indices)
    for i, j, k in zip(pairs.source.tolist(), pairs.target.tolist(), pairs.other.tolist(), strict=True):
        assert j in graph.neighbours(i)
        assert k not in graph.neighbours(i)
        assert k != i


def test_shares_make_up_the_whole():
    whole, first, second = (sample_pairs(GRAPH, 9, 1, share) for share in (slice(None), slice(0, 4), slice(4, 9)))
    for name in ("source", "target", "other", "has_other"):
        assert torch.cat([getattr(first, name), getattr(second, name)]).tolist() == getattr(whole, name).tolist()


def test_terms_by_plain_loops():
    pairs = sample_pairs(GRAPH, 5, seed=2)
    found = StructuralRegulariser(negatives=8).over_pairs(Z, pairs, mean)
    edges = sum((1 - similarity(i, j)) ** 2 for i, j in zip(pairs.source.tolist(), pairs.target.tolist(), strict=True))
    others = sum(similarity(i, k) ** 2 for i, k in zip(pairs.source.tolist(), pairs.other.tolist(), strict=True))
    assert found["edges"].item() == pytest.approx(edges / 5)
    assert found["non_edges"].item() == pytest.approx(8 * others / 5)


@pytest.mark.parametrize("reduction", ["edge-mean", "pair-mean", "sum"])
def test_the_mean_over_many_draws_is_exact(reduction):
    regulariser = RegulariserVariant(4, reduction)
    z = Z.clone().requires_grad_()
    expected = regulariser(z, GRAPH, seed=None)
    (gradient,) = torch.autograd.grad(sum(expected.values()), z)
    found = regulariser.over_pairs(z, sample_pairs(GRAPH, 200_000, seed=5), mean)
    (estimate,) = torch.autograd.grad(sum(found.values()), z)
    for name, term in expected.items():
        assert found[name].item() == pytest.approx(term.item(), rel=0.01)
    assert ((estimate - gradient).norm() / gradient.norm()).item() < 0.02


def test_a_node_that_is_joined_to_all_others_has_no_non_neighbour():
    graph = special_graphs()["complete"]
    pairs = sample_pairs(graph, 6, seed=0)
    z = torch.randn(6, 2)
    found = StructuralRegulariser(negatives=8).over_pairs(z, pairs, mean)
    assert found["non_edges"].item() == 0.0
    assert structural_sums_exact(z, graph, 8)[1].item() == 0.0


def test_pairs_as_rows():
    pairs = sample_pairs(GRAPH, 4, seed=2)
    nodes, rows = np.unique(pairs.ends, return_inverse=True)
    again = pairs.as_rows(torch.from_numpy(rows))
    for name in ("source", "target", "other"):
        assert nodes[getattr(again, name)].tolist() == getattr(pairs, name).tolist()
