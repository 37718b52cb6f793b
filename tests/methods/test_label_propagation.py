import numpy as np
import pytest
import torch

from conftest import random_graph, special_graphs
from pugnn import PUNodeClassifier
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.methods import LabelPropagation
from pugnn.models import GraphInputs
from pugnn.task import PUTask
from pugnn.training import TrainingSettings, load_sealed, save_sealed, score

SETTINGS = TrainingSettings()


def solved(graph: Graph, labelled, normalisation: str, restart: float) -> np.ndarray:
    """(I - (1 - β) S)⁻¹ β y with dense matrices."""
    adjacency = graph.to_scipy().toarray().astype(float)
    degree = adjacency.sum(axis=0)
    s = np.zeros_like(adjacency)
    for i, j in zip(*np.nonzero(adjacency), strict=True):
        by = np.sqrt(degree[i] * degree[j]) if normalisation == "symmetric" else degree[j]
        s[i, j] = adjacency[i, j] / by
    start = np.isin(np.arange(graph.num_nodes), labelled) * restart
    return np.linalg.solve(np.eye(graph.num_nodes) - (1 - restart) * s, start)


def with_weights(graph: Graph) -> Graph:
    source, target = np.nonzero(np.triu(graph.to_scipy().toarray()))
    weights = np.random.default_rng(0).random(len(source)) + 0.1
    return Graph.from_edges(source, target, num_nodes=graph.num_nodes, features=graph.features, weights=weights)


def fit(graph: Graph, labelled, **options):
    task = PUTask.from_positives(graph, np.asarray(labelled))
    return LabelPropagation(**{"prior": 0.3, **options}).fit(task, SETTINGS)


def test_defaults():
    method = LabelPropagation(0.3)
    assert method == LabelPropagation(prior=0.3, normalisation="symmetric", restart=0.1)
    assert method.training == {}
    fitted = fit(random_graph(10, 0.3, 0), [0])
    assert (fitted.prior, fitted.log) == (0.3, [])


@pytest.mark.parametrize("normalisation", ["symmetric", "walk"])
@pytest.mark.parametrize("restart", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_a_linear_solve(normalisation, restart, weighted):
    graph = random_graph(30, 0.08, seed=1)  # has lone nodes
    graph = with_weights(graph) if weighted else graph
    labelled = [2, 5, 11]
    expected = solved(graph, labelled, normalisation, restart)
    model = fit(graph, labelled, normalisation=normalisation, restart=restart).model
    assert model.spread(GraphInputs(graph)).numpy() == pytest.approx(expected, abs=2e-5 * expected.max())
    middle = np.sort(np.delete(expected, labelled))[-round(0.3 * 27)]
    assert score(model, graph).numpy() == pytest.approx(expected / (expected + middle), abs=1e-4)


@pytest.mark.parametrize("normalisation", ["symmetric", "walk"])
@pytest.mark.parametrize("name", [name for name in special_graphs() if name != "bisection"])  # too large to be dense
def test_equals_a_linear_solve_on_special_graphs(name, normalisation):
    graph = special_graphs()[name]
    expected = solved(graph, [0], normalisation, 0.1)
    found = fit(graph, [0], normalisation=normalisation).model.spread(GraphInputs(graph)).numpy()
    assert found == pytest.approx(expected, abs=2e-5 * expected.max())


def test_walks_favour_hubs_more():
    # Node 0 is known; its neighbours are a hub with many leaves and a node with one.
    graph = Graph.from_edges([0, 0, 1, 1, 1, 1, 2], [1, 2, 3, 4, 5, 6, 7])
    symmetric, walk = (
        fit(graph, [0], normalisation=normalisation).model.spread(GraphInputs(graph))
        for normalisation in ("symmetric", "walk")
    )
    assert walk[1] / walk[2] > symmetric[1] / symmetric[2]
    assert walk.sum().item() == pytest.approx(1.0, abs=1e-4), "a walk is always somewhere"


@pytest.mark.parametrize("prior", [0.01, 0.2, 0.5, 0.8])
def test_one_half_is_where_the_prior_cuts(prior):
    graph = with_weights(random_graph(40, 0.2, seed=3))  # weights make ties unlikely; all nodes are reached
    scores = score(fit(graph, [0, 1], prior=prior).model, graph).numpy()
    count = max(1, round(prior * 38))
    best = np.sort(scores[2:])[::-1]
    assert best[count - 1] == 0.5, "to the bit"
    assert (scores[2:] >= 0.5).sum() == count


def test_nodes_out_of_reach_score_nothing():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4], num_nodes=6)
    scores = score(fit(graph, [0], prior=0.2).model, graph).numpy()
    assert scores[3:].tolist() == [0.0, 0.0, 0.0]
    assert scores[1] == 0.5
    assert 0 < scores[2] < 0.5


def test_fewer_nodes_in_reach_than_the_prior_asks_for():
    graph = Graph.from_edges([0, 1, 3], [1, 2, 4], num_nodes=6)
    estimator = PUNodeClassifier(LabelPropagation(0.9), progress=False).fit(graph, [0])
    assert estimator.predict().tolist() == [1, 1, 1, 0, 0, 0]
    assert np.isfinite(estimator.predict_proba()).all()


def test_only_the_tasks_unlabelled_nodes_are_counted():
    path = Graph.from_edges(range(9), range(1, 10))
    task = PUTask(path, np.array([0]), np.array([6, 7, 8, 9]))
    scores = score(LabelPropagation(0.5).fit(task, SETTINGS).model, path).numpy()
    assert scores[7] == 0.5
    assert (scores[[1, 2, 3, 4, 5, 6]] > 0.5).all()


def test_features_are_not_needed_and_play_no_part():
    with_features = random_graph(30, 0.2, seed=1)
    bare = Graph.from_edges(with_features.sources, with_features.indices, num_nodes=30)
    one, two = (PUNodeClassifier(LabelPropagation(0.3)).fit(graph, [0, 1]) for graph in (with_features, bare))
    assert one.predict_proba().tobytes() == two.predict_proba().tobytes()


def test_another_graph_is_refused():
    graph = random_graph(20, 0.2, seed=0)
    estimator = PUNodeClassifier(LabelPropagation(0.3)).fit(graph, [0, 1])
    words = "cannot score a graph it was not fitted on. Fit it on the new graph"
    for other in (random_graph(20, 0.2, seed=1), random_graph(25, 0.2, seed=0), with_weights(graph)):
        with pytest.raises(PugnnError, match=words):
            estimator.predict_proba(other)
    same = Graph.from_edges(graph.sources, graph.indices, num_nodes=20, features=graph.features)
    assert estimator.predict_proba(same).tobytes() == estimator.predict_proba().tobytes()


@pytest.mark.parametrize("normalisation", ["symmetric", "walk"])
def test_a_saved_model_scores_alike(tmp_path, normalisation):
    graph = random_graph(30, 0.1, seed=1)
    estimator = PUNodeClassifier(LabelPropagation(0.3, normalisation, 0.2)).fit(graph, [0, 1, 5])
    estimator.save(tmp_path / "model")
    loaded = PUNodeClassifier.load(tmp_path / "model")
    assert loaded.method == LabelPropagation(0.3, normalisation, 0.2)
    assert loaded.predict_proba(graph).tobytes() == estimator.predict_proba().tobytes()
    with pytest.raises(PugnnError, match="Fit it on the new graph"):
        loaded.predict(random_graph(30, 0.1, seed=2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": 0.0}, "prior is a share of the unlabelled nodes and must lie between 0 and 1; got 0.0"),
        ({"normalisation": "row"}, "normalisation must be one of symmetric, walk; got 'row'"),
        ({"restart": 0.0}, "restart must lie between 0 and 1, got 0.0"),
        ({"restart": 1.0}, "restart must lie between 0 and 1, got 1.0"),
    ],
)
def test_bad_options_are_explained(options, message):
    with pytest.raises(PugnnError, match=message):
        fit(random_graph(10, 0.3, 0), [0], **options)


def test_known_negatives_take_their_share_of_what_arrives():
    graph, labelled, negative = random_graph(30, 0.08, seed=1), [2, 5, 11], [3, 7, 8, 20]
    positive, other = (solved(graph, nodes, "symmetric", 0.1) for nodes in (labelled, negative))
    expected = []
    for good, bad in zip(positive, other, strict=True):
        all_that_arrives = good + 3 / 4 * bad  # four of them count no more than three known positives
        expected.append(good * good / all_that_arrives if all_that_arrives else 0.0)
    task = PUTask.from_positives(graph, np.array(labelled), np.array(negative))
    model = LabelPropagation(0.3).fit(task, SETTINGS).model
    assert model.spread(GraphInputs(graph)).numpy() == pytest.approx(expected, abs=2e-5 * max(expected))


def test_a_model_whose_known_nodes_are_not_in_its_graph_is_refused(tmp_path):
    graph, path = random_graph(20, 0.2, 0), tmp_path / "model.safetensors"
    PUNodeClassifier(LabelPropagation(0.3), progress=False).fit(graph, [0, 1]).save(path)
    weights, metadata = load_sealed(path)
    for wrong in ([0, 10**6], [-1, 0], []):
        weights["labelled"] = torch.tensor(wrong, dtype=torch.int64)
        save_sealed(path, weights, metadata)
        with pytest.raises(PugnnError, match="the model's known nodes are not in its graph"):
            PUNodeClassifier.load(path).predict(graph)
