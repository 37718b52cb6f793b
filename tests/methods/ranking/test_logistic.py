import numpy as np
import pytest
from scipy import optimize

from conftest import random_graph
from dense_views import side_by_side
from pugnn.evidence.hidden_positives import FoldedTask
from pugnn.graph import Graph
from pugnn.methods.ranking.logistic import logistic_regression
from pugnn.task import PUTask
from pugnn.views import Attributes, views_of

RNG = np.random.default_rng(0)


def losses_by_loops(point, rows, target, counts, inverse_penalty):
    total = 0.5 * sum(w * w for w in point[:-1])
    for row, y, count in zip(rows, target, counts, strict=True):
        g = float(row @ point[:-1]) + point[-1]
        total += inverse_penalty * count * (np.log(1 + np.exp(g)) - y * g)
    return total


@pytest.mark.parametrize("sampled", [None, 12])
def test_the_directions_minimise_the_penalised_loss_of_the_whole_and_without_each_fold(sampled, monkeypatch):
    words = (RNG.random((40, 6)) < 0.3).astype(np.float32)
    graph = Graph.from_edges(*RNG.integers(0, 40, (2, 70)), num_nodes=40, features=words)
    task = PUTask.from_positives(graph, np.arange(6)).with_feedback([], [30, 31])
    known = FoldedTask.of(task, 0)
    special, positive, each = known.targets()
    others = np.ones(40)
    if sampled is not None:
        monkeypatch.setattr("pugnn.views.view_source.worth_keeping", lambda *_: True)
        monkeypatch.setattr("pugnn.methods.ranking.logistic.MAX_UNLABELLED", sampled)
        drawn = np.random.default_rng(0).permutation(np.setdiff1d(np.arange(40), special))[:sampled]
        others = np.where(np.isin(np.arange(40), drawn), 32 / sampled, 0)  # stand for 40 − 6 − 2 nodes
    found = logistic_regression(views_of(graph, Attributes.of(graph)), known, 2.0)
    rows = side_by_side(graph)
    for column in range(known.turns + 1):
        target, counts = np.zeros(40), others.copy()
        target[special], counts[special] = positive[:, column], each[:, column]
        expected = optimize.minimize(losses_by_loops, np.zeros(31), args=(rows, target, counts, 2.0), tol=1e-9).x
        scores = rows @ found[:, :, column].ravel(), rows @ expected[:-1]
        assert scores[0] == pytest.approx(scores[1], abs=0.02)


def test_rare_positives_do_not_end_the_solver_before_its_first_step():
    graph = random_graph(400, 0.01, seed=0, features=5)
    known = FoldedTask.of(PUTask.from_positives(graph, np.arange(3)), 0)
    assert np.abs(logistic_regression(views_of(graph, Attributes.of(graph)), known, 1.0)).max() > 0
