"""Layers: plain graphs of all relations, of each one, and their weighted sum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from conftest import random_graph
from pugnn.errors import PugnnError
from pugnn.graph import Graph, Relation
from pugnn.graph.layers import ALL, fused, has_attributes, layers_of, structural
from small_relations import directed, matrix_of, shop, typed, undirected

# Authors 0 to 2, papers 3 to 5, venues 6 and 7.
KINDS = {"author": 3, "paper": 3, "venue": 2}
WRITES = [(0, 3), (0, 4), (1, 4), (2, 5)]
APPEARS = [(3, 6), (4, 7), (5, 7)]
KNOWS = [(0, 1), (1, 2)]
ADVISES = [(0, 1), (0, 2), (2, 1)]
FEATURES = np.arange(16, dtype=np.float32).reshape(8, 2)


def library(features=FEATURES) -> Graph:
    relations = {
        "appears": undirected(8, *zip(*APPEARS, strict=True), ends=("paper", "venue")),
        "writes": undirected(8, *zip(*WRITES, strict=True), ends=("author", "paper")),
        "knows": undirected(8, *zip(*KNOWS, strict=True), [2.0, 3.0], ends=("author", "author")),
        **directed("advises", 8, *zip(*ADVISES, strict=True), ends=("author", "author")),
    }
    return typed(relations, features, KINDS)


def symmetric(edges: list[tuple[int, int]], weights: list[float] | None = None, n: int = 8) -> np.ndarray:
    dense = np.zeros((n, n))
    for (u, v), weight in zip(edges, weights or [1.0] * len(edges), strict=True):
        dense[u, v] += weight
        dense[v, u] += weight
    return dense


def test_a_layer_has_all_relations_or_one_with_those_that_lead_to_it():
    graph = library()
    layers = layers_of(graph)
    assert list(layers) == [ALL, "appears", "writes", "knows", "advises out", "advises in"]
    whole = symmetric(WRITES) + symmetric(APPEARS) + symmetric(KNOWS, [2.0, 3.0]) + symmetric(ADVISES)
    assert matrix_of(layers[ALL]).tolist() == whole.tolist()
    assert matrix_of(layers["writes"]).tolist() == symmetric(WRITES).tolist()
    assert matrix_of(layers["knows"]).tolist() == symmetric(KNOWS, [2.0, 3.0]).tolist()
    assert matrix_of(layers["appears"]).tolist() == symmetric(WRITES + APPEARS).tolist(), "papers lead to venues"
    for name in (ALL, "appears", "writes", "knows"):
        assert not layers[name].relations
        assert not layers[name].kinds
        assert np.array_equal(layers[name].features, graph.features)
        assert layers[name].ids.tolist() == graph.ids.tolist()


def test_the_shortest_way_leads_to_a_relation():
    n, around = 8, ("x", "y")
    relations = {
        "a to x": undirected(n, [0], [2], ends=("a", "x")),
        "x to y": undirected(n, [2], [4], ends=around),
        "a to y": undirected(n, [1], [4], ends=("a", "y")),
        "y to z": undirected(n, [4], [6], ends=("y", "z")),
    }
    layers = layers_of(typed(relations, None, {"a": 2, "x": 2, "y": 2, "z": 2}))
    assert matrix_of(layers["y to z"]).tolist() == symmetric([(1, 4), (4, 6)]).tolist()
    assert matrix_of(layers["x to y"]).tolist() == symmetric([(0, 2), (2, 4)]).tolist()


def test_a_layer_that_would_have_all_relations_is_left_out():
    some = {name: library().relations[name] for name in ("writes", "appears")}
    assert list(layers_of(typed(some, None, KINDS))) == [ALL, "writes"]
    assert list(layers_of(typed({"writes": some["writes"]}, None, KINDS))) == [ALL]


def test_a_graph_with_one_kind_of_edge_is_its_own_layer():
    graph = random_graph(10, 0.3, seed=0)
    assert layers_of(graph) == {ALL: graph}


def test_layers_are_made_once():
    graph = library()
    first, again = layers_of(graph), layers_of(graph)
    assert all(first[name] is again[name] for name in first)
    assert structural(first[ALL]) is structural(first[ALL])


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 4.0]])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_relation_with_direction_has_every_node_in_two_roles(weights, sparse):
    x = sp.csr_array(FEATURES) if sparse else FEATURES
    both = directed("advises", 8, *zip(*ADVISES, strict=True), weights)
    graph = typed(both, x)
    pointed = np.zeros((8, 8))
    for (u, v), weight in zip(ADVISES, weights or [1.0] * 3, strict=True):
        pointed[u, v] = weight
    nothing = np.zeros((8, 8))
    for name, rows in (("advises out", pointed), ("advises in", pointed.T)):
        layer = layers_of(graph)[name]
        found = matrix_of(layer)
        assert found.tolist() == np.block([[nothing, rows], [rows.T, nothing]]).tolist()
        assert found.tolist() == found.T.tolist()
        for node in range(8):
            assert layer.neighbours(node).tolist() == [8 + other for other in range(8) if rows[node, other]]
        given = layer.features.toarray() if sparse else layer.features
        assert given.tolist() == [*FEATURES.tolist(), *FEATURES.tolist()]
        assert sp.issparse(layer.features) == sparse
        assert layer.ids[:8].tolist() == graph.ids.tolist()
        assert len(set(layer.ids.tolist())) == 16


def test_the_weighted_sum_of_relations_by_plain_loops():
    graph = shop()
    weights = {"knows": 0.25, "buys": 1.0, "pays out": 0.5, "pays in": 0.5}
    expected = np.zeros((graph.num_nodes, graph.num_nodes))
    for name, relation in graph.relations.items():
        expected += weights[name] * matrix_of(relation)
    found = fused(graph, weights)
    np.testing.assert_allclose(matrix_of(found), expected, rtol=1e-6)
    assert np.array_equal(matrix_of(found), matrix_of(found).T)
    assert not found.relations
    assert found.num_targets == graph.num_targets
    assert fused(graph, weights) is found, "what else is made of it is found by its identity"
    assert fused(graph, None) is graph


def test_other_weights_give_another_sum():
    graph = shop()
    for knows in (1.0, 0.25, 1.0):
        found = fused(graph, {"knows": knows, "buys": 1.0, "pays out": 0.5, "pays in": 0.5})
        without = fused(graph, {"knows": 0.0, "buys": 1.0, "pays out": 0.5, "pays in": 0.5})
        difference = matrix_of(found) - matrix_of(without)
        np.testing.assert_allclose(difference, knows * matrix_of(graph.relations["knows"]), atol=1e-6)


def test_a_weight_too_small_for_single_precision_leaves_the_relation_out():
    graph = shop()
    weights = {"knows": 1.0, "buys": 1e-60, "pays out": 0.5, "pays in": 0.5}
    found = fused(graph, weights)
    assert (found.weights > 0).all()
    assert len(found.indices) == len(fused(graph, weights | {"buys": 0.0}).indices)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["knows", "buys", "pays out"], "'pays in' differs"),
        (["knows", "buys", "pays out", "pays in", "likes"], "'likes' differs"),
        ([], "the relations .*, but the graph has .*'knows' differs"),
    ],
)
def test_weights_of_other_relations_are_an_error(names, message):
    with pytest.raises(PugnnError, match=message):
        fused(shop(), dict.fromkeys(names, 1.0))


def test_weights_for_a_graph_with_one_kind_of_edge_are_an_error():
    with pytest.raises(PugnnError, match="the graph has one kind of edge: 'knows' differs"):
        fused(random_graph(10, 0.3, seed=0), {"knows": 1.0})


def test_a_structural_layer_has_the_edges_and_no_attributes():
    layer = layers_of(library())["knows"]
    bare = structural(replace(layer, feature_names=("one", "two"), recipe={"structure": None}))
    assert bare.features.shape == (8, 0)
    assert bare.feature_names is None
    assert bare.recipe is None
    assert matrix_of(bare).tolist() == matrix_of(layer).tolist()


def test_features_of_the_structure_are_no_attributes():
    graph = library()
    assert has_attributes(graph)
    assert not has_attributes(structural(graph))
    assert has_attributes(replace(graph, recipe={"columns": [{"name": "age"}], "structure": None}))
    assert not has_attributes(replace(graph, recipe={"columns": [], "structure": {"width": 2, "hops": 80}}))
    assert not has_attributes(replace(graph, recipe={"recipes": [], "structure": True}))
    assert has_attributes(replace(graph, recipe={"recipes": [], "structure": False}))


def test_columns_beside_the_structure_are_attributes():
    """Where columns describe edges and none the nodes themselves, a recipe has the structure beside them."""
    columns, structure = [{"name": "amount", "kind": "number"}], {"width": 1, "hops": 80}
    assert has_attributes(replace(library(), recipe={"columns": columns, "structure": structure}))
    kinds = [{"kind": "", "columns": [], "structure": structure}, {"kind": "author", "columns": columns}]
    assert has_attributes(replace(library(), recipe={"recipes": kinds, "structure": True}))


def test_a_relation_without_edges_is_a_layer_without_edges():
    relations = {**library().relations, "empty": Relation(np.zeros(9, np.int64), np.zeros(0, np.int32))}
    layers = layers_of(typed(relations, FEATURES, KINDS))
    assert not len(layers["empty"].indices)
