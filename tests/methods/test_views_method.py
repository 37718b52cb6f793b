import gc
import math
import tracemalloc
import weakref
from typing import get_args
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from conftest import random_graph
from dense_views import dense_view
from pugnn import PUNodeClassifier
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.losses import Sets, confident_prior_matching
from pugnn.methods import Centroid, SmoothedLogistic, Views
from pugnn.methods.evidence import KnownPositives
from pugnn.methods.views import Part
from pugnn.metrics import average_precision, roc_auc
from pugnn.models import Blend
from pugnn.models.views import make_views
from pugnn.models.views.rows import Rows
from pugnn.task import PUTask
from pugnn.training import Checkpoint, TrainingSettings, score

RNG = np.random.default_rng(0)


def two_groups(*, homophily: float | None, signal: float, size: int = 150, seed: int = 0) -> tuple[Graph, np.ndarray]:
    """Positives are the first third. Edges join equals with this probability, or anybody; words show the class."""
    rng = np.random.default_rng(seed)
    positive = np.arange(size) < size // 3
    source = rng.integers(0, size, 4 * size)
    same = rng.random(4 * size) < (homophily or 0)
    target = np.array(
        [rng.choice(np.flatnonzero((positive == positive[s]) == equal)) for s, equal in zip(source, same, strict=True)]
        if homophily is not None
        else rng.integers(0, size, 4 * size)
    )
    chance = 0.2 + signal * np.where(np.arange(20) < 10, 1, -1) * np.where(positive, 1, -1)[:, None]
    words = (rng.random((size, 20)) < chance).astype(np.float32)
    keep = source != target
    return Graph.from_edges(source[keep], target[keep], num_nodes=size, features=words), positive


def fit(graph: Graph, labelled, method=None, **settings) -> PUNodeClassifier:
    method = method or Views()
    return PUNodeClassifier(method, progress=False, **settings).fit(
        graph, np.isin(np.arange(graph.num_nodes), labelled)
    )


HOMOPHILOUS = two_groups(homophily=0.9, signal=0.05)
LABELLED = np.arange(0, 50, 4)  # 13 of 50


def test_the_three_terms_by_plain_loops():
    logits = torch.from_numpy(RNG.normal(size=(7, 2)))
    sets = Sets(torch.tensor([0, 1, 2]), torch.tensor([3, 4, 5, 6]))
    seen = torch.tensor([[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    labelled = unlabelled = entropy = 0.0
    for m, labels in enumerate([[0, 1, 2], [0, 2]]):
        s = [1 / (1 + math.exp(-float(logits[i, m]))) for i in range(7)]
        labelled += 0.7 * abs(sum(s[i] for i in labels) / len(labels) - 1) / 2
        unlabelled += abs(sum(s[3:]) / 4 - 0.3) / 2
        entropy += 0.6 * sum(-p * math.log(p) - (1 - p) * math.log(1 - p) for p in s[3:]) / 4 / 2
    terms = confident_prior_matching(logits, sets, seen, 0.3, 0.7, 0.6)
    assert {name: float(term) for name, term in terms.items()} == pytest.approx(
        {"labelled": labelled, "unlabelled": unlabelled, "entropy": entropy}
    )


def test_it_is_the_default_and_needs_nothing():
    graph, positive = HOMOPHILOUS
    classifier = PUNodeClassifier(progress=False).fit(graph, graph.ids[LABELLED])
    free = np.setdiff1d(np.arange(graph.num_nodes), LABELLED)
    assert classifier.settings_["method"]["name"] == "views"
    assert roc_auc(positive[free], classifier.predict_proba()[free, 1]) > 0.9
    assert 0.02 < classifier.predict()[free].mean() < 0.6


@pytest.mark.parametrize("prior", [0.05, 0.3, 0.6])
def test_the_share_of_the_prior_is_decided_positive(prior):
    graph, _ = HOMOPHILOUS
    classifier = fit(graph, LABELLED, Views(prior=prior), epochs=20)
    free = np.setdiff1d(np.arange(graph.num_nodes), LABELLED)
    assert classifier.predict()[free].sum() == round(prior * len(free))
    assert classifier.prior_ == prior


def test_a_graph_that_does_not_help_is_ignored():
    graph, _ = two_groups(homophily=None, signal=0.1, size=600)
    notes = fit(graph, np.arange(0, 200, 2), epochs=5).notes_
    assert "smoothed 0 %, own 100 %, neighbours 0 % (the smoothed one has the node's own attributes in it" in notes[0]


def test_a_graph_that_helps_is_used():
    graph, _ = two_groups(homophily=0.9, signal=0.02, size=300)
    notes = fit(graph, np.arange(0, 100, 2), epochs=5).notes_
    assert "own 0 %" in notes[0]


def test_neighbours_count_where_opposites_attract():
    graph, positive = two_groups(homophily=0.05, signal=0.05, size=300)
    labelled = np.arange(0, 100, 2)
    classifier = fit(graph, labelled)
    free = np.setdiff1d(np.arange(300), labelled)
    alone = fit(graph, labelled, Views(leave_out="graph"))
    found = [average_precision(positive[free], each.predict_proba()[free, 1]) for each in (classifier, alone)]
    assert found[0] > found[1]


def test_a_single_known_positive_is_enough_to_rank():
    graph, _ = HOMOPHILOUS
    classifier = fit(graph, [3], epochs=5)
    assert classifier.prior_ == 0.1
    assert "single known positive" in classifier.notes_[0]
    assert "10 % is assumed" in classifier.notes_[1]


def test_two_known_positives_are_hidden_one_by_one():
    graph, _ = HOMOPHILOUS
    assert "2 known positives that were hidden in turn" in fit(graph, [3, 8], epochs=5).notes_[1]


def test_the_same_seed_gives_the_same_scores_and_another_does_not():
    graph, _ = HOMOPHILOUS
    first, again, other = (fit(graph, LABELLED, epochs=5, seed=seed).predict_proba() for seed in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()


def test_a_stopped_training_continues_with_the_same_result(tmp_path):
    graph, _ = HOMOPHILOUS
    task, settings = PUTask.from_positives(graph, LABELLED), TrainingSettings(**{**Views().training, "epochs": 12})

    class Stopped(Exception):
        pass

    class Stopping(Checkpoint):
        def save(self, *arguments):
            super().save(*arguments)
            raise Stopped

    path = tmp_path / "state"
    whole = Views().fit(task, settings)
    with pytest.raises(Stopped):
        Views().fit(task, settings, checkpoint=Stopping(path, "same", every=5))
    continued = Views().fit(task, settings, checkpoint=Checkpoint(path, "same", every=5))
    assert torch.equal(score(whole.model, graph), score(continued.model, graph))


def test_a_saved_model_scores_another_graph(tmp_path):
    graph, _ = HOMOPHILOUS
    other, positive = two_groups(homophily=0.9, signal=0.05, seed=1)
    classifier = fit(graph, LABELLED, epochs=50)
    classifier.save(tmp_path / "model.safetensors")
    loaded = PUNodeClassifier.load(tmp_path / "model.safetensors")
    assert (loaded.predict_proba(graph) == classifier.predict_proba()).all()
    assert roc_auc(positive, loaded.predict_proba(other)[:, 1]) > 0.85


def test_training_that_fails_twice_leaves_the_contrast():
    graph, positive = HOMOPHILOUS
    classifier = fit(graph, LABELLED, epochs=3, learning_rate=1e-60)  # nothing moves
    assert "Training failed twice" in classifier.notes_[2]
    assert len(classifier.log_) == 2 * 3
    assert classifier.model_.shares.tolist() == [1, 0, 0]
    free = np.setdiff1d(np.arange(graph.num_nodes), LABELLED)
    assert roc_auc(positive[free], classifier.predict_proba()[free, 1]) > 0.8


def test_every_part_can_be_left_out():
    graph, _ = HOMOPHILOUS
    scores = {part: fit(graph, LABELLED, Views(0.3, part), epochs=30).predict_proba() for part in get_args(Part)}
    assert len({found.tobytes() for found in scores.values()}) == len(get_args(Part))


def test_bad_settings_are_named():
    graph, _ = HOMOPHILOUS
    for prior in (0.0, 1.0, -0.2):
        with pytest.raises(PugnnError, match="prior is a share"):
            fit(graph, LABELLED, Views(prior=prior))
    with pytest.raises(PugnnError, match="accepts no other backbone; got 'gcn'"):
        fit(graph, LABELLED, backbone="gcn")
    with pytest.raises(PugnnError, match="leave_out must be one of"):
        Views(leave_out="everything")


@pytest.mark.parametrize("method", [Views(), Centroid(), SmoothedLogistic()])
def test_graphs_without_attributes_and_attributes_that_are_all_equal(method):
    bare = random_graph(40, 0.15, seed=2, features=0)
    scores = fit(bare, [0, 1, 2], method).predict_proba()[:, 1]
    assert np.isfinite(scores).all()
    assert len(set(scores)) > 10
    source, target = np.nonzero(np.triu(bare.to_scipy().toarray()))
    equal = Graph.from_edges(source, target, num_nodes=40, features=np.ones((40, 2)))
    assert np.isfinite(fit(equal, [0, 1, 2], method).predict_proba()).all()


def test_the_centroid_by_plain_loops():
    graph, _ = HOMOPHILOUS
    rows = dense_view("smoothed", graph).double().numpy()
    known = sum(rows[i] for i in LABELLED) / len(LABELLED) - sum(rows) / len(rows)
    expected = [row @ known for row in rows]
    found = fit(graph, LABELLED, Centroid(prior=0.3)).predict_proba()[:, 1]
    assert np.corrcoef(np.log(found / (1 - found)), expected)[0, 1] == pytest.approx(1, abs=1e-6)


def test_smoothed_logistic_minimises_the_penalised_loss():
    graph, _ = HOMOPHILOUS
    rows = dense_view("smoothed", graph).double()
    target = torch.from_numpy(np.isin(np.arange(len(rows)), LABELLED).astype(float))
    weights = torch.zeros(rows.shape[1] + 1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=500, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        logits = rows @ weights[:-1] + weights[-1]
        value = 10 * torch.nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="sum")
        value = value + (weights[:-1] ** 2).sum() / 2
        value.backward()
        return value

    optimizer.step(loss)
    found = fit(graph, LABELLED, SmoothedLogistic(prior=0.3)).predict_proba()[:, 1]
    logits = np.log(found / (1 - found))
    assert np.corrcoef(logits, (rows @ weights[:-1]).detach().numpy())[0, 1] == pytest.approx(1, abs=1e-3)


def test_the_penalty_must_be_positive():
    graph, _ = HOMOPHILOUS
    with pytest.raises(PugnnError, match="inverse_penalty must be positive"):
        fit(graph, LABELLED, SmoothedLogistic(inverse_penalty=0.0))


def test_a_hidden_positive_teaches_neither_its_contrast_nor_its_linear_model():
    rows = torch.from_numpy(RNG.normal(size=(200, 6)).astype(np.float32))
    graph = Graph.from_edges([0], [1], num_nodes=200, features=rows.numpy())
    task = PUTask.from_positives(graph, np.arange(12))
    known = KnownPositives.of(task, torch.device("cpu"), 0)
    other = rows.clone()
    other[known.labelled[torch.from_numpy(known.folds == 0)]] *= -7
    settings = TrainingSettings(**{**Views().training, "epochs": 20})
    weights = [
        Views()._train(task, Rows.of(each), known, 0.2, settings, {})[0].model.linear.weight for each in (rows, other)
    ]
    assert [bool((one != two).any()) for one, two in zip(*weights, strict=True)] == [True, False] + 4 * [True]
    seen = [
        known.contrasts(Rows.of(each)) + each.mean(dim=0)[:, None] for each in (rows, other)
    ]  # but for the mean of all
    assert ((seen[0] - seen[1]).abs().amax(dim=0) > 1e-4).tolist() == [True, False] + 4 * [True]


def test_graphs_without_attributes_are_told_apart_by_their_ids():
    tasks = [
        PUTask.from_positives(Graph.from_edges([ids[0]], [ids[1]], ids=ids), np.array([0]))
        for ids in (["a", "b"], ["a", "c"])
    ]
    assert tasks[0].digest().hexdigest() != tasks[1].digest().hexdigest()


@pytest.mark.parametrize("method", [Views(), Centroid(), SmoothedLogistic()])
def test_what_was_read_of_the_graph_is_released_after_the_fit(method, monkeypatch):
    made, keep = [], Blend.keep
    monkeypatch.setattr(
        Blend, "keep", lambda self, inputs, rows: (made.append(weakref.ref(rows)), keep(self, inputs, rows))
    )
    graph = random_graph(600, 0.01, seed=0, features=100)
    fit(graph, np.arange(10), method, **({"epochs": 2} if method.trains else {}))  # imports, and what is compiled
    tracemalloc.start()
    try:
        fitted = fit(graph, np.arange(10), method, **({"epochs": 2} if method.trains else {}))
        scores = fitted.predict_proba()
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert scores.shape == (600, 2)
    assert len(made) == 2
    assert all(each() is None for each in made)
    assert held < 4 * 600 * 100 / 2, "half a table"


def test_the_views_of_a_fit_are_computed_once(monkeypatch):
    counted = Mock(side_effect=make_views)
    for user in ("methods.evidence", "models.blend"):
        monkeypatch.setattr(f"pugnn.{user}.make_views", counted)
    fitted = fit(HOMOPHILOUS[0], LABELLED, epochs=2)
    fitted.predict_proba()
    assert counted.call_count == 1
    expected = fitted.decision_function()
    assert np.allclose(score(fitted.model_, HOMOPHILOUS[0]), 1 / (1 + np.exp(-expected)), atol=1e-6)
    assert counted.call_count == 2, "from here on they are computed anew"
