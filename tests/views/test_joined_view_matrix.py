import numpy as np
import pytest

from conftest import random_graph
from dense_views import side_by_side
from pugnn.graph import Graph
from pugnn.graph.layers import structural
from pugnn.views import VIEWS, Attributes, JoinedViewMatrix, ViewMatrix, ViewSource, view_source

GRAPH = random_graph(25, 0.2, seed=0, features=4)
FACTORS = (0.45, 2.0)
SOME = ("own",)
RNG = np.random.default_rng(0)


@pytest.fixture(params=[True, False], ids=["kept", "not kept"])
def joint(request, monkeypatch) -> JoinedViewMatrix:
    monkeypatch.setattr(view_source, "worth_keeping", lambda *_: request.param)
    parts: list[tuple[Graph, tuple[str, ...]]] = [(GRAPH, tuple(VIEWS)), (structural(GRAPH), SOME)]
    views = [ViewMatrix(ViewSource(graph, Attributes.of(graph)), names) for graph, names in parts]
    assert [each.kept for each in views] == [request.param] * 2
    return JoinedViewMatrix(list(zip(views, FACTORS, strict=True)))


@pytest.fixture
def dense() -> np.ndarray:
    """The matrices side by side, each times its factor."""
    return np.hstack([FACTORS[0] * side_by_side(GRAPH), FACTORS[1] * side_by_side(structural(GRAPH), SOME)])


def test_both_products_are_those_of_the_matrices_side_by_side(joint, dense):
    assert joint.shape == (25, 1, dense.shape[1])
    w = RNG.normal(size=(1, dense.shape[1], 3)).astype(np.float32)
    np.testing.assert_allclose(joint @ w, dense @ w[0], atol=1e-4)
    r = RNG.normal(size=(25, 3)).astype(np.float32)
    found = joint.transposed(r)
    assert found.shape == w.shape
    np.testing.assert_allclose(found[0], dense.T @ r, atol=1e-4)


def test_directions_are_split_by_part_and_have_its_factor(joint, dense):
    w = RNG.normal(size=(1, dense.shape[1], 2)).astype(np.float32)
    first, second = joint.split(w)
    assert (first.shape, second.shape) == ((5, 5, 2), (1, 33, 2)), "numbers have a column of ones beside them"
    for view in range(5):
        for column in range(5):
            np.testing.assert_allclose(first[view, column], 0.45 * w[0, 5 * view + column], rtol=1e-6)
    np.testing.assert_allclose(second[0], 2 * w[0, 25:], rtol=1e-6)


@pytest.mark.parametrize("joint", [True], indirect=True)
def test_a_subset_has_the_rows_of_some_nodes(joint, dense):
    nodes = np.array([7, 3, 20])
    some = joint.subset(nodes)
    w = RNG.normal(size=(1, dense.shape[1], 2)).astype(np.float32)
    np.testing.assert_allclose(some @ w, dense[nodes] @ w[0], atol=1e-4)
    r = RNG.normal(size=(3, 2)).astype(np.float32)
    np.testing.assert_allclose(some.transposed(r)[0], dense[nodes].T @ r, atol=1e-4)


def test_rows_are_kept_if_all_parts_keep_them(monkeypatch):
    views = []
    for kept in (True, False):
        monkeypatch.setattr(view_source, "worth_keeping", lambda *_, kept=kept: kept)
        views.append(ViewMatrix(ViewSource(GRAPH, Attributes.of(GRAPH))))
    assert JoinedViewMatrix([(views[0], 1.0), (views[0], 1.0)]).kept
    assert not JoinedViewMatrix([(views[0], 1.0), (views[1], 1.0)]).kept


def test_the_graph_is_that_of_the_first_part(joint):
    assert joint.graph is GRAPH
