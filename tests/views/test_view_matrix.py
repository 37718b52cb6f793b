from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from conftest import random_graph
from dense_views import attribute_rows, dense_view, side_by_side
from pugnn.errors import PugnnError
from pugnn.features.structure import Structure
from pugnn.graph import Graph
from pugnn.views import (
    VIEWS,
    Attributes,
    View,
    ViewMatrix,
    ViewSource,
    comparable_rows,
    forecast_views,
    keeping,
    view_source,
)

RNG = np.random.default_rng(0)


def unit(rows: np.ndarray) -> np.ndarray:
    return np.array([row / np.sqrt(sum(row**2)) if row.any() else row for row in rows])


def with_features(features) -> Graph:
    source, target = np.nonzero(np.triu(random_graph(20, 0.12, seed=1).to_scipy().toarray()))
    return Graph.from_edges(source, target, num_nodes=20, features=features)


WORDS = (RNG.random((20, 6)) < 0.3).astype(np.float32)


def test_smoothed_rows_by_plain_loops():
    graph = with_features(WORDS)
    adjacency = graph.to_scipy().toarray() + np.eye(20)
    degree = adjacency.sum(axis=1)
    start = unit(WORDS)
    values = start
    for _ in range(10):
        after = np.zeros_like(values)
        for i in range(20):
            for j in range(20):
                after[i] += 0.85 * adjacency[i, j] / np.sqrt(degree[i] * degree[j]) * values[j]
            after[i] += 0.15 * start[i]
        values = after
    assert attribute_rows(graph) == pytest.approx(start, abs=1e-6)
    assert dense_view("own", graph) == pytest.approx(start, abs=1e-6)
    assert dense_view("smoothed", graph) == pytest.approx(unit(values), abs=1e-5)


def test_neighbours_by_plain_loops():
    graph = with_features(WORDS)
    adjacency, start = graph.to_scipy().toarray(), unit(WORDS)
    expected = np.zeros_like(start)
    for i in range(20):
        linked = [j for j in range(20) if adjacency[i, j]]
        if linked:
            expected[i] = sum(start[j] for j in linked) / len(linked)
    assert dense_view("neighbours", graph) == pytest.approx(unit(expected), abs=1e-5)


def test_sparse_and_dense_attributes_are_the_same():
    dense, sparse = with_features(WORDS), with_features(sp.csr_array(WORDS))
    rows = [attribute_rows(graph) for graph in (dense, sparse)]
    assert np.array_equal(*rows)


def test_numbers_are_standardised_and_words_are_not():
    numbers = RNG.normal(loc=[0, 50, 3000], scale=[1, 5, 400], size=(20, 3)).astype(np.float32)
    numbers[:, 2] = 7  # a column without spread
    graph = with_features(numbers)
    spread = numbers.std(axis=0)
    expected = np.hstack([(numbers - numbers.mean(axis=0)) / np.where(spread > 0, spread, 1), np.ones((20, 1))])
    assert attribute_rows(graph) == pytest.approx(unit(expected), abs=1e-4)
    words = Attributes.of(with_features(WORDS))
    assert not words.centre.any()
    assert (words.scale == 1).all()


SIGNS = np.where(np.arange(20) % 2, 1.0, -1.0)
EVEN = {
    "even steps": ((np.arange(20) - 9.5) / np.arange(20).std())[:, None],
    "balanced signs": SIGNS[:, None],
    "signs twice": np.column_stack([SIGNS, np.repeat([1.0, -1.0], 10)]),
}


@pytest.mark.parametrize("values", EVEN.values(), ids=EVEN)
def test_columns_that_are_standardised_already_by_plain_loops(values):
    graph = with_features(values.astype(np.float32))
    attributes = Attributes.of(graph)
    assert attributes.standardised
    assert np.abs(attributes.centre).max() < 1e-6
    adjacency, columns = graph.to_scipy().toarray(), values.shape[1]
    own = np.zeros((20, columns + 1))
    for i in range(20):
        row = [*values[i], 1.0]
        own[i] = [value / np.sqrt(sum(each**2 for each in row)) for value in row]
    degree = adjacency.sum(axis=1) + 1
    smoothed = own
    for _ in range(10):
        smoothed = np.array(
            [
                0.15 * own[i]
                + sum(
                    0.85 * (adjacency[i, j] + (i == j)) / np.sqrt(degree[i] * degree[j]) * smoothed[j]
                    for j in range(20)
                )
                for i in range(20)
            ]
        )
    around = np.array([sum(adjacency[i, j] * own[j] for j in range(20)) for i in range(20)])
    for name, expected in {"own": own, "smoothed": smoothed, "neighbours": around}.items():
        assert dense_view(name, graph) == pytest.approx(unit(expected), abs=1e-5)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e6 / 7])
def test_the_rounding_of_a_constant_is_no_spread(value):
    learned = Attributes.of(with_features(np.column_stack([np.full(20, value), np.arange(20)]).astype(np.float32)))
    assert learned.scale[0] == 1


def test_another_graph_is_read_the_same_way():
    numbers = RNG.normal(size=(20, 3)).astype(np.float32)
    learned = Attributes.of(with_features(numbers))
    shifted = attribute_rows(with_features(numbers + 1), learned)
    assert not np.allclose(shifted, attribute_rows(with_features(numbers), learned))


def test_a_graph_without_attributes_has_structural_ones():
    graph = with_features(None)
    rows = attribute_rows(graph)
    features = Structure().encode(graph)
    attributes = Attributes.of(graph)
    standardised = (features - attributes.centre) / attributes.scale
    assert rows == pytest.approx(unit(np.hstack([standardised, np.ones((20, 1))])), abs=1e-4)


def test_a_single_number_still_tells_large_from_small():
    graph = with_features(np.arange(1, 21, dtype=np.float32)[:, None])
    rows = attribute_rows(graph)
    assert (np.diff(rows[:, 0]) > 0).all()


def test_explicit_zeros_are_zeros():
    stored = sp.csr_array(WORDS + 1)
    stored.data -= 1  # as many entries as the matrix has cells
    assert attribute_rows(with_features(stored)).shape == attribute_rows(with_features(WORDS)).shape == (20, 6)


@pytest.mark.parametrize("features", [WORDS * 1e30, RNG.normal(size=(20, 3)) * 1e38])
def test_attributes_beyond_all_measure_are_rejected(features):
    graph = with_features(features.astype(np.float32))
    columns = graph.num_features
    with np.errstate(over="ignore"), pytest.raises(PugnnError, match="scale them down"):
        attribute_rows(graph, Attributes(np.zeros(columns), np.ones(columns), standardised=False))


def test_edge_weights_count_in_the_smoothed_view_only():
    ends, words = ([0, 0], [1, 2]), np.eye(3, dtype=np.float32)
    graph = Graph.from_edges(*ends, num_nodes=3, features=words, weights=[1.0, 99.0])
    smoothed, neighbours = (dense_view(name, graph)[0] for name in ("smoothed", "neighbours"))
    assert smoothed[2] > 2 * smoothed[1]
    assert neighbours[1] == neighbours[2]


def test_the_difference_and_two_hops_by_plain_loops():
    graph = with_features(WORDS)
    adjacency, start = graph.to_scipy().toarray(), unit(WORDS)
    around = np.zeros_like(start)
    twice = np.zeros_like(start)
    for rows, before in ((around, start), (twice, around)):
        for i in range(20):
            linked = [j for j in range(20) if adjacency[i, j]]
            for j in linked:
                rows[i] += before[j] / len(linked)
    assert dense_view("difference", graph) == pytest.approx(unit(start - around), abs=1e-5)
    assert dense_view("two hops", graph) == pytest.approx(unit(twice), abs=1e-5)


GRAPHS = {
    "words": with_features(WORDS),
    "sparse words": with_features(sp.csr_array(WORDS)),
    "numbers": with_features(RNG.normal(size=(20, 3)).astype(np.float32)),
    "no attributes": with_features(None),
}


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_products_are_those_of_the_views_side_by_side(graph, kept, monkeypatch):
    monkeypatch.setattr(view_source, "worth_keeping", lambda *_: kept)
    views = ViewMatrix(ViewSource(graph, Attributes.of(graph)))
    assert views.kept == kept
    matrix = side_by_side(graph)
    n, count, width = views.shape
    w, r = (RNG.normal(size=shape).astype(np.float32) for shape in ((count, width, 3), (n, 3)))
    assert views @ w == pytest.approx(matrix @ w.reshape(-1, 3), abs=1e-5)
    assert views.transposed(r).reshape(-1, 3) == pytest.approx(matrix.T @ r, abs=1e-5)


def test_views_of_some_nodes(monkeypatch):
    monkeypatch.setattr(view_source, "worth_keeping", lambda *_: True)
    views = ViewMatrix(ViewSource(GRAPHS["words"], Attributes.of(GRAPHS["words"])))
    w, nodes = RNG.normal(size=(*views.shape[1:], 2)).astype(np.float32), np.array([3, 1, 8])
    assert views.subset(nodes) @ w == pytest.approx((views @ w)[nodes], abs=1e-6)


def test_the_length_of_wide_rows_is_estimated():
    wide = with_features(sp.csr_array((RNG.random((20, 3000)) < 0.02).astype(np.float32)))
    attributes = Attributes.of(wide)
    views = ViewMatrix(ViewSource(wide, attributes))
    for name in VIEWS:
        rows = views.source.image(name, attribute_rows(wide))
        lengths = np.sqrt((rows**2).sum(axis=1))
        found = VIEWS[name].weight / views.scales[name][lengths > 0]
        assert found == pytest.approx(lengths[lengths > 0], rel=0.35)
    assert views.scales["own"].tolist() == pytest.approx([VIEWS["own"].weight] * 20), "its rows have the length 1"


def test_rows_of_zeros_stay_zero():
    empty = with_features(np.vstack([WORDS[:19], np.zeros((1, 6))]).astype(np.float32))
    for name in VIEWS:
        assert np.isfinite(dense_view(name, empty)).all()
    assert not dense_view("own", empty)[19].any()


def test_tables_are_kept_where_edges_are_many_and_rows_are_short(monkeypatch):
    dense = Graph.from_edges(*RNG.integers(0, 300, (2, 20_000)), num_nodes=300)
    assert keeping.worth_keeping(dense, 10, 3_000)
    assert not keeping.worth_keeping(dense, 100_000, 3_000)
    monkeypatch.setenv("PUGNN_MEMORY", "20kB")
    assert not keeping.worth_keeping(dense, 10, 3_000), "they would not fit into memory"


def test_the_forecast_counts_tables_that_are_kept(monkeypatch):
    graph = with_features(RNG.random((20, 35)).astype(np.float32))
    monkeypatch.setattr(keeping, "worth_keeping", lambda *_: True)
    assert forecast_views(graph)[0].parts["views of the nodes"] == 4 * 20 * 36 * 4
    monkeypatch.setattr(keeping, "worth_keeping", lambda *_: False)
    forecast, words = forecast_views(graph)
    assert forecast.parts["views of the nodes"] == 20 * 36 * 4
    assert words.startswith("The run takes about 11 kB")


def test_the_forecast_counts_a_new_view(monkeypatch):
    graph = with_features(RNG.random((20, 35)).astype(np.float32))
    dense_graph = SimpleNamespace(num_nodes=10, indices=np.zeros(1000))
    assert not keeping.worth_keeping(dense_graph, 920, 0)
    monkeypatch.setitem(VIEWS, "beyond", View(0.3, {7: 1}))
    assert keeping.worth_keeping(dense_graph, 920, 0), "a product takes 20 passes instead of 13"
    monkeypatch.setattr(keeping, "worth_keeping", lambda *_: True)
    assert forecast_views(graph)[0].parts["views of the nodes"] == 5 * 20 * 36 * 4


@pytest.mark.parametrize("columns", [6, 600])
def test_rows_to_compare_nodes_are_smoothed_and_centred(columns):
    graph = with_features(sp.csr_array((RNG.random((20, columns)) < 0.3).astype(np.float32)))
    smoothed = dense_view("smoothed", graph)
    expected = unit(smoothed - smoothed.mean(axis=0))
    found = comparable_rows(graph, Attributes.of(graph))
    assert found.shape == (20, min(columns, 256))
    tolerance = 1e-4 if columns == 6 else 0.35  # random directions keep angles roughly
    assert found @ found.T == pytest.approx(expected @ expected.T, abs=tolerance)


@pytest.mark.parametrize("kept", [True, False])
def test_a_new_view_is_one_entry(kept, monkeypatch):
    monkeypatch.setattr(view_source, "worth_keeping", lambda *_: kept)
    monkeypatch.setitem(VIEWS, "beyond", View(0.3, {3: 1, "smoothed": -2}))
    graph = GRAPHS["words"]
    views = ViewMatrix(ViewSource(graph, Attributes.of(graph)))
    assert views.names == tuple(VIEWS), "no other place names them"
    own, mean = attribute_rows(graph), graph.to_scipy().toarray() / np.maximum(graph.degrees, 1)[:, None]
    expected = 0.3 * unit(mean @ mean @ mean @ own - 2 * views.source.image("smoothed", own))
    w = RNG.normal(size=(*views.shape[1:], 2)).astype(np.float32)
    w[:-1] = 0
    assert views @ w == pytest.approx(expected @ w[-1], abs=1e-5)
    r = RNG.normal(size=(graph.num_nodes, 2)).astype(np.float32)
    assert views.transposed(r)[-1] == pytest.approx(expected.T @ r, abs=1e-5)
