import numpy as np
import pytest
import scipy.sparse as sp
import torch

from conftest import random_graph
from dense_views import attribute_rows, dense_view
from pugnn.errors import PugnnError
from pugnn.features.structural import Structure
from pugnn.graph import Graph
from pugnn.models import GraphInputs
from pugnn.models.views import VIEWS, Attributes, forecast_views, make_views, unit_rows
from pugnn.models.views import attributes as module

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
    assert attribute_rows(graph).numpy() == pytest.approx(start, abs=1e-6)
    assert dense_view("own", graph).numpy() == pytest.approx(start, abs=1e-6)
    assert dense_view("smoothed", graph).numpy() == pytest.approx(unit(values), abs=1e-5)


def test_neighbours_by_plain_loops():
    graph = with_features(WORDS)
    adjacency, start = graph.to_scipy().toarray(), unit(WORDS)
    expected = np.zeros_like(start)
    for i in range(20):
        linked = [j for j in range(20) if adjacency[i, j]]
        if linked:
            expected[i] = sum(start[j] for j in linked) / len(linked)
    assert dense_view("neighbours", graph).numpy() == pytest.approx(unit(expected), abs=1e-5)


@pytest.mark.parametrize(
    ("memory", "shape", "dtype", "tolerance"),
    [("16kB", (2, 20, 32), torch.float32, 1e-6), ("8kB", (3, 20, 16), torch.float16, 2e-3)],
)
def test_what_does_not_fit_into_memory_is_smoothed_in_blocks(monkeypatch, memory, shape, dtype, tolerance):
    graph = with_features(RNG.random((20, 35)).astype(np.float32))
    whole = {name: dense_view(name, graph) for name in VIEWS}
    monkeypatch.setenv("PUGNN_MEMORY", memory)
    views = make_views(Attributes.of(graph), GraphInputs(graph))
    for name, expected in whole.items():
        (table,) = views[name].tables
        assert (table.shape, table.dtype) == (shape, dtype)
        assert torch.allclose(views[name][:], expected, atol=tolerance)


def test_too_little_memory_for_a_single_block(monkeypatch):
    monkeypatch.setenv("PUGNN_MEMORY", "2kB")
    with pytest.raises(PugnnError, match=r"smoothing 20 nodes needs 3\.8 kB of memory, and 2\.0 kB are available"):
        dense_view("own", with_features(WORDS))


def test_a_table_that_fits_and_is_not_smoothed_needs_no_more(monkeypatch):
    monkeypatch.setenv("PUGNN_MEMORY", "3kB")
    assert dense_view("own", with_features(WORDS)).numpy() == pytest.approx(unit(WORDS), abs=1e-6)


def test_sparse_and_dense_attributes_are_the_same():
    dense, sparse = with_features(WORDS), with_features(sp.csr_array(WORDS))
    rows = [attribute_rows(graph) for graph in (dense, sparse)]
    assert torch.equal(*rows)


@pytest.mark.parametrize("features", [WORDS, sp.csr_array(WORDS)])
def test_rows_of_some_nodes_a_few_at_a_time(monkeypatch, features):
    graph = with_features(features)
    whole = attribute_rows(graph).numpy()
    monkeypatch.setattr(module, "CHUNK", 3)
    parts = list(Attributes.of(graph).rows(graph, slice(4, 12)))
    assert [len(part) for part in parts] == [3, 3, 2]
    assert np.array_equal(np.concatenate(parts), whole[4:12])


def test_numbers_are_standardised_and_words_are_not():
    numbers = RNG.normal(loc=[0, 50, 3000], scale=[1, 5, 400], size=(20, 3)).astype(np.float32)
    numbers[:, 2] = 7  # a column without spread
    graph = with_features(numbers)
    spread = numbers.std(axis=0)
    expected = np.hstack([(numbers - numbers.mean(axis=0)) / np.where(spread > 0, spread, 1), np.ones((20, 1))])
    assert attribute_rows(graph).numpy() == pytest.approx(unit(expected), abs=1e-4)
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
        assert dense_view(name, graph).numpy() == pytest.approx(unit(expected), abs=1e-5)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e6 / 7])
def test_the_rounding_of_a_constant_is_no_spread(value):
    learned = Attributes.of(with_features(np.column_stack([np.full(20, value), np.arange(20)]).astype(np.float32)))
    assert learned.scale[0] == 1


def test_another_graph_is_read_the_same_way():
    numbers = RNG.normal(size=(20, 3)).astype(np.float32)
    learned = Attributes.of(with_features(numbers))
    shifted = attribute_rows(with_features(numbers + 1), learned)
    assert not torch.allclose(shifted, attribute_rows(with_features(numbers), learned))


def test_wide_attributes_are_hashed_into_columns_that_keep_products(monkeypatch):
    monkeypatch.setattr(module, "MOST_COLUMNS", 256)
    wide = sp.csr_array((RNG.random((20, 3000)) < 0.02).astype(np.float32))
    graph = with_features(wide)
    rows = attribute_rows(graph).numpy()
    assert rows.shape == (20, 256)
    exact = unit(wide.toarray())
    assert np.abs(rows @ rows.T - exact @ exact.T).max() < 0.35
    assert np.corrcoef((rows @ rows.T).ravel(), (exact @ exact.T).ravel())[0, 1] > 0.95


def test_a_graph_without_attributes_has_structural_ones():
    graph = with_features(None)
    rows = attribute_rows(graph).numpy()
    features = Structure().encode(graph)
    attributes = Attributes.of(graph)
    standardised = (features - attributes.centre) / attributes.scale
    assert rows == pytest.approx(unit(np.hstack([standardised, np.ones((20, 1))])), abs=1e-4)


def test_a_single_number_still_tells_large_from_small():
    graph = with_features(np.arange(1, 21, dtype=np.float32)[:, None])
    rows = attribute_rows(graph).numpy()
    assert (np.diff(rows[:, 0]) > 0).all()


def test_explicit_zeros_are_zeros():
    stored = sp.csr_array(WORDS + 1)
    stored.data -= 1  # as many entries as the matrix has cells
    assert Attributes.of(with_features(stored)).width == Attributes.of(with_features(WORDS)).width == 6


def test_dense_attributes_are_standardised_before_they_are_hashed(monkeypatch):
    monkeypatch.setattr(module, "MOST_COLUMNS", 256)
    dense = RNG.normal(size=(20, 400)).astype(np.float32)
    rows = [attribute_rows(graph) for graph in (with_features(dense), with_features(9 * dense + 5))]
    assert rows[0].shape == (20, 256)
    assert torch.allclose(*rows, atol=1e-4)


def test_many_nodes_have_fewer_columns(monkeypatch):
    monkeypatch.setattr(module, "MOST_NUMBERS", 20 * 300)
    assert Attributes.of(with_features(sp.csr_array((20, 5000), dtype=np.float32))).width == 300
    monkeypatch.setattr(module, "MOST_NUMBERS", 1)
    assert Attributes.of(with_features(sp.csr_array((20, 5000), dtype=np.float32))).width == 256


@pytest.mark.parametrize("features", [WORDS * 1e30, RNG.normal(size=(20, 3)) * 1e38])
def test_attributes_beyond_all_measure_are_rejected(features):
    graph = with_features(features.astype(np.float32))
    columns = graph.num_features
    with np.errstate(over="ignore"), pytest.raises(PugnnError, match="scale them down"):
        attribute_rows(graph, Attributes(np.zeros(columns), np.ones(columns), columns, standardised=False))


def test_edge_weights_count_in_the_smoothed_view_only():
    ends, words = ([0, 0], [1, 2]), np.eye(3, dtype=np.float32)
    graph = Graph.from_edges(*ends, num_nodes=3, features=words, weights=[1.0, 99.0])
    smoothed, neighbours = (dense_view(name, graph)[0] for name in ("smoothed", "neighbours"))
    assert smoothed[2] > 2 * smoothed[1]
    assert neighbours[1] == neighbours[2]


def test_rows_of_zeros_stay_zero():
    assert unit_rows(torch.zeros(2, 3)).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_the_forecast_counts_three_tables(monkeypatch):
    graph = with_features(RNG.random((20, 35)).astype(np.float32))
    forecast, words = forecast_views(graph)
    assert forecast.parts["views of the nodes"] == 3 * 20 * 48 * 4
    assert words.startswith("The run takes about 43 kB (rows at a time 28 kB, views of the nodes 12 kB, scores and")
    monkeypatch.setenv("PUGNN_MEMORY", "8kB")
    forecast, words = forecast_views(graph)
    assert forecast.parts["views of the nodes"] == 3 * 20 * 16 * 4
    assert words.endswith("and 5.8 kB on disk for the views, in half precision.")


def test_the_forecast_knows_how_wide_a_view_is(monkeypatch):
    graph = with_features(RNG.random((20, 400)).astype(np.float32))
    monkeypatch.setattr(module, "MOST_COLUMNS", 256)
    assert Attributes.of(graph).width == 256
    assert forecast_views(graph)[0].parts["views of the nodes"] == 3 * 20 * 256 * 4
