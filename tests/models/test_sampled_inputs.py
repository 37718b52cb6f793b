import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from conftest import random_graph, untrained
from pugnn.graph import Graph, Neighbourhood, sample_neighbours
from pugnn.models import GraphInputs, SampledInputs

GRAPH = random_graph(40, 0.15, seed=4, features=6)
SEEDS = np.array([3, 39, 17, 3])
BACKBONES = ["gcn", "gcn-linear", "sage", "gat", "gin"]


def weighted(graph: Graph) -> Graph:
    coo = sp.triu(graph.to_scipy()).tocoo()
    weights = np.random.default_rng(0).random(coo.nnz) + 0.1
    return Graph.from_edges(coo.row, coo.col, num_nodes=graph.num_nodes, features=graph.features, weights=weights)


def sparse(graph: Graph) -> Graph:
    kept = np.where(np.abs(graph.features) > 1, graph.features, 0)
    return Graph(graph.indptr, graph.indices, sp.csr_array(kept), graph.ids)


def with_an_isolated_node(graph: Graph) -> Graph:
    keep = (graph.sources != 39) & (graph.indices != 39)
    return Graph.from_edges(graph.sources[keep], graph.indices[keep], features=graph.features)


@pytest.mark.parametrize("change", [lambda graph: graph, weighted, sparse, with_an_isolated_node])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_with_all_neighbours_the_outputs_are_those_on_the_whole_graph(backbone, change):
    graph = change(GRAPH)
    model = untrained(graph, backbone).eval()
    sample = sample_neighbours(graph, SEEDS, hops=2, fan_out=100, seed=0)
    found, expected = model(SampledInputs(graph, sample)), model(GraphInputs(graph))
    for name in ("logit", "embedding"):
        assert torch.allclose(getattr(found, name)[sample.rows], getattr(expected, name)[SEEDS], atol=1e-5)


def dense(matrix) -> np.ndarray:
    return (matrix @ torch.eye(matrix.shape[1])).numpy()


def all_rows(graph: Graph, name: str, sample: Neighbourhood) -> np.ndarray:
    """Rows of the seeds, over all nodes of the graph."""
    local = dense(getattr(SampledInputs(graph, sample), name))[sample.rows]
    whole = np.zeros((len(sample.rows), graph.num_nodes))
    whole[:, sample.nodes] = local
    return whole


def test_entries_by_plain_loops():
    graph = weighted(GRAPH)
    sample = sample_neighbours(graph, SEEDS, hops=1, fan_out=2, seed=5)
    gcn, mean, total = (all_rows(graph, f"{name}_adjacency", sample) for name in ("gcn", "mean", "sum"))
    adjacency = graph.to_scipy().toarray()
    strength = 1 + adjacency.sum(axis=1)
    for at, i in enumerate(SEEDS.tolist()):
        kept = sample.nodes[sample.indices[sample.indptr[sample.rows[at]] : sample.indptr[sample.rows[at] + 1]]]
        times = len(graph.neighbours(i)) / len(kept)
        for j in range(graph.num_nodes):
            drawn = j in kept
            expected = times * adjacency[i, j] / math.sqrt(strength[i] * strength[j]) if drawn else 0.0
            expected += 1 / strength[i] if i == j else 0.0
            assert gcn[at, j] == pytest.approx(expected, rel=1e-5)
            assert mean[at, j] == pytest.approx(1 / len(kept) if drawn else 0.0)
            assert total[at, j] == pytest.approx(times if drawn else 0.0)


@pytest.mark.parametrize("name", ["gcn_adjacency", "mean_adjacency", "sum_adjacency"])
def test_rows_are_right_on_average(name):
    expected = dense(getattr(GraphInputs(GRAPH), name))[SEEDS]
    draws = 2000
    found = sum(
        all_rows(GRAPH, name, sample_neighbours(GRAPH, SEEDS, hops=1, fan_out=2, seed=seed)) for seed in range(draws)
    )
    assert np.abs(found / draws - expected).max() < 0.1 * expected.max()


@pytest.mark.parametrize("change", [lambda graph: graph, sparse])
@pytest.mark.parametrize("backbone", ["gcn", "gcn-linear", "sage", "gin"])
def test_dropout_of_a_node_is_the_same_in_any_batch(backbone, change):
    graph = change(GRAPH)
    model = untrained(graph, backbone).train()
    for module in model.modules():
        if hasattr(module, "dropout"):
            module.dropout = 0.5
    outputs = []
    for seeds in (np.array([3, 8]), np.array([20, 3, 11])):
        sample = sample_neighbours(graph, seeds, hops=2, fan_out=100, seed=0)
        torch.manual_seed(7)
        outputs.append(model(SampledInputs(graph, sample)).logit[sample.rows[seeds.tolist().index(3)]])
    assert outputs[0].item() == pytest.approx(outputs[1].item(), abs=1e-6)
