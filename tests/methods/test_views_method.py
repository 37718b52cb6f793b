import math
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from conftest import random_graph
from dense_views import dense_view, side_by_side
from pugnn import PUNodeClassifier
from pugnn.errors import PugnnError
from pugnn.evidence.hidden_positives import FoldedTask
from pugnn.graph import Graph
from pugnn.graph.derived import forget_derived
from pugnn.losses import Sets, confident_prior_matching
from pugnn.methods import Centroid, SmoothedLogistic, Views
from pugnn.methods.ranking import confident
from pugnn.methods.ranking.plain import Ranking
from pugnn.metrics import average_precision, roc_auc
from pugnn.task import PUTask
from pugnn.training import Checkpoint, TrainingSettings, score
from pugnn.views import Attributes, ViewMatrix, ViewSource, closeness

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
    rows = dense_view("smoothed", graph).astype(np.float64)
    known = sum(rows[i] for i in LABELLED) / len(LABELLED) - sum(rows) / len(rows)
    expected = [row @ known for row in rows]
    found = fit(graph, LABELLED, Centroid(prior=0.3)).predict_proba()[:, 1]
    assert np.corrcoef(np.log(found / (1 - found)), expected)[0, 1] == pytest.approx(1, abs=1e-6)


def test_the_penalty_must_be_positive():
    graph, _ = HOMOPHILOUS
    with pytest.raises(PugnnError, match="inverse_penalty must be positive"):
        fit(graph, LABELLED, SmoothedLogistic(inverse_penalty=0.0))


def test_graphs_without_attributes_are_told_apart_by_their_ids():
    tasks = [
        PUTask.from_positives(Graph.from_edges([ids[0]], [ids[1]], ids=ids), np.array([0]))
        for ids in (["a", "b"], ["a", "c"])
    ]
    assert tasks[0].digest().hexdigest() != tasks[1].digest().hexdigest()


def noted(notes: tuple[str, ...], words: str) -> str:
    (found,) = [note for note in notes if words in note]
    return found


def shares_of_views(classifier: PUNodeClassifier) -> dict[str, float]:
    words = noted(classifier.notes_, "What each view").partition(": ")[2].rstrip(".")
    return {part.rsplit(" ", 2)[0]: float(part.rsplit(" ", 2)[1]) for part in words.split(", ")}


def test_the_shares_of_views_are_covariances_with_the_score():
    graph, _ = HOMOPHILOUS
    classifier = fit(graph, LABELLED, epochs=5)
    free = np.setdiff1d(np.arange(graph.num_nodes), LABELLED)
    rows = side_by_side(graph).reshape(graph.num_nodes, 5, -1)
    parts = np.einsum("nvf,vf->vn", rows, classifier.model_.direction.double().numpy())
    links = float(classifier.model_.by_closeness) * closeness(
        graph, FoldedTask.of(PUTask.from_positives(graph, LABELLED), 0).seeds()[:, :1]
    )
    parts = np.vstack([parts, links.T])[:, free]
    total = parts.sum(axis=0)
    expected = [np.cov(part, total, bias=True)[0, 1] / total.var() for part in parts]
    assert sum(expected) == pytest.approx(1)
    assert list(shares_of_views(classifier).values()) == pytest.approx([100 * max(e, 0) for e in expected], abs=0.51)


def test_own_attributes_and_neighbours_count_where_they_tell():
    anybody, _ = two_groups(homophily=None, signal=0.1, size=600)
    equals, _ = two_groups(homophily=0.9, signal=0.02, size=600)
    found = [shares_of_views(fit(graph, np.arange(0, 200, 2), epochs=5)) for graph in (anybody, equals)]
    assert found[0]["own"] > 2 * found[1]["own"]
    assert found[1]["smoothed"] > found[0]["smoothed"]


def test_opposites_that_attract_are_found():
    graph, positive = two_groups(homophily=0.05, signal=0.05, size=300)
    labelled = np.arange(0, 100, 2)
    free = np.setdiff1d(np.arange(300), labelled)
    found = [
        average_precision(positive[free], fit(graph, labelled, method).predict_proba()[free, 1])
        for method in (Views(), SmoothedLogistic(inverse_penalty=1.0))
    ]
    assert found[0] > found[1] + 0.05


def ring(seed: int = 0) -> tuple[Graph, np.ndarray]:
    """Forty of 2,000 nodes are linked to each other more than to others; attributes say nothing."""
    rng = np.random.default_rng(seed)
    ends = np.hstack([rng.integers(0, 2000, (2, 8000)), rng.integers(0, 40, (2, 240))])
    ends = ends[:, ends[0] != ends[1]]
    return Graph.from_edges(*ends, num_nodes=2000, features=rng.normal(size=(2000, 8))), np.arange(2000) < 40


def test_a_ring_is_found_by_its_links_alone():
    graph, positive = ring()
    labelled = np.arange(0, 40, 2)
    classifier = fit(graph, labelled, epochs=5)
    free = np.setdiff1d(np.arange(2000), labelled)
    order = free[np.argsort(-classifier.decision_function()[free])]
    assert positive[order[:25]].sum() >= 13
    assert shares_of_views(classifier)["closeness to known positives"] > 30
    assert classifier.predict()[free].sum() < 100


def test_equal_attributes_do_not_hide_a_ring():
    graph, positive = ring()
    equal = replace(graph, features=np.ones((2000, 3), np.float32))
    labelled = np.arange(0, 40, 2)
    classifier = fit(equal, labelled, epochs=5)
    free = np.setdiff1d(np.arange(2000), labelled)
    found = classifier.decision_function()[free]
    assert len(set(found)) > 1000
    assert positive[free[np.argsort(-found)[:25]]].sum() >= 13


def test_links_hardly_count_where_hidden_positives_are_not_found_by_them():
    graph, _ = two_groups(homophily=None, signal=0.1, size=600)
    assert shares_of_views(fit(graph, np.arange(0, 200, 4), epochs=5))["closeness to known positives"] < 5


def test_known_positives_are_recognised_in_another_graph(tmp_path):
    graph, _ = ring()
    graph = replace(graph, ids=np.array([f"n{i}" for i in range(2000)], dtype=object))
    classifier = fit(graph, np.arange(0, 40, 2), epochs=5)
    classifier.save(tmp_path / "model.safetensors")
    loaded = PUNodeClassifier.load(tmp_path / "model.safetensors")
    ends = graph.ids[graph.sources], graph.ids[graph.indices]
    turned = Graph.from_edges(*ends, features=graph.features[::-1], ids=graph.ids[::-1])
    assert loaded.decision_function(turned)[::-1] == pytest.approx(classifier.decision_function(), abs=1e-3)
    assert classifier.decision_function(replace(graph)) == pytest.approx(classifier.decision_function(), abs=1e-6)


def test_a_single_known_positive_is_enough_to_rank():
    graph, _ = HOMOPHILOUS
    classifier = fit(graph, [3], epochs=5)
    assert classifier.prior_ == 0.1
    assert "cannot be checked" in noted(classifier.notes_, "single known positive")
    assert noted(classifier.notes_, "10 % is assumed")


def test_two_known_positives_are_hidden_one_by_one():
    graph, _ = HOMOPHILOUS
    fitted = fit(graph, [3, 8], epochs=5)
    assert noted(fitted.notes_, "is unknown before checks")
    assert len(fitted.estimate_.ranks) == 2


def test_the_same_seed_gives_the_same_scores():
    graph, _ = HOMOPHILOUS
    first, again = (fit(graph, LABELLED, epochs=5).predict_proba() for _ in range(2))
    assert (first == again).all()


@pytest.mark.parametrize(
    ("prior", "value", "power"), [(0.3, 0.3, 1), ("0.299..0.301", 0.3, 13 / 73), (0.02, 0.02, 1), (0.001, 0.001, 1)]
)
def test_training_counts_where_positives_are_common_and_their_share_is_known(prior, value, power, monkeypatch):
    monkeypatch.setattr("pugnn.methods.ranking.view_fit.evidence_for", lambda *_, **__: 0.1)
    graph, _ = HOMOPHILOUS
    note = noted(fit(graph, LABELLED, Views(prior=prior), epochs=3).notes_, "confident training")
    odds = ((value / 0.05) ** power * math.exp(0.1)) ** 2
    assert float(note.split()[3]) == pytest.approx(100 * odds / (1 + odds), abs=0.6)
    assert "better (evidence +0.1" in note


def test_hidden_positives_can_overrule_training(monkeypatch):
    monkeypatch.setattr("pugnn.methods.ranking.view_fit.evidence_for", lambda *_, **__: -5.0)
    graph, _ = HOMOPHILOUS
    found = fit(graph, LABELLED, Views(prior=0.3), epochs=50).decision_function()
    monkeypatch.setattr("pugnn.methods.ranking.view_fit.evidence_for", lambda *_, **__: -50.0)
    assert np.corrcoef(found, fit(graph, LABELLED, Views(prior=0.3), epochs=3).decision_function())[0, 1] > 0.999


def test_a_hidden_positive_teaches_nothing(monkeypatch):
    graph, _ = HOMOPHILOUS
    task = PUTask.from_positives(graph, LABELLED)
    known = FoldedTask.of(task, 0)
    hidden = task.labelled[known.folds == 0]
    without = FoldedTask.of(PUTask(graph, np.setdiff1d(LABELLED, hidden), task.unlabelled), 0)
    monkeypatch.setattr("pugnn.views.view_source.worth_keeping", lambda *_: False)  # no sample
    views = ViewMatrix(ViewSource(graph, Attributes.of(graph)))
    settings = TrainingSettings(**{**Views().training, "epochs": 20, "weight_decay": 0.0})
    start = RNG.normal(size=(*views.shape[1:], 6)).astype(np.float32)
    trained, _ = confident.train_confident(views, ranked(start), known, 0.2, settings, {})
    # More labels start from larger log-odds, which must be the same here.
    monkeypatch.setattr(confident, "START_LABELS", 50 * len(without.task.labelled) / len(task.labelled))
    alone, _ = confident.train_confident(
        views, ranked(np.repeat(start[:, :, 1:2], 6, axis=2)), without, 0.2, settings, {}
    )
    assert np.allclose(trained[:, :, 1], alone[:, :, 0], atol=1e-3)


def ranked(direction: np.ndarray) -> Ranking:
    """A ranking of which training needs the direction alone."""
    return Ranking(np.empty(0), direction, np.zeros(direction.shape[2]), None)


def test_a_sample_of_the_nodes_is_enough(monkeypatch):
    monkeypatch.setattr("pugnn.views.view_source.worth_keeping", lambda *_: True)
    graph, positive = two_groups(homophily=0.9, signal=0.05, size=600)
    labelled = np.arange(0, 200, 8)
    free = np.setdiff1d(np.arange(600), labelled)
    found = []
    for size in (4096, 200):
        forget_derived()
        monkeypatch.setattr(confident, "TRAINING_SAMPLE", size)
        found.append(fit(graph, labelled, Views(prior=0.3)).decision_function()[free])
    assert (found[0] != found[1]).any()
    assert average_precision(positive[free], found[1]) > average_precision(positive[free], found[0]) - 0.02


def test_bad_settings_are_named():
    graph, _ = HOMOPHILOUS
    for prior in (0.0, 1.0, -0.2):
        with pytest.raises(PugnnError, match="prior is a share"):
            fit(graph, LABELLED, Views(prior=prior))
    for name, value in {"backbone": "gcn", "hidden": 32, "dropout": 0.1, "batch_size": 64}.items():
        with pytest.raises(PugnnError, match=f"{name} has no effect on views"):
            fit(graph, LABELLED, **{name: value})


def test_the_views_of_a_fit_are_computed_once(monkeypatch):
    counted = Mock(side_effect=ViewSource)
    monkeypatch.setattr("pugnn.views.view_source.ViewSource", counted)
    graph, _ = two_groups(homophily=0.9, signal=0.05)
    fitted = fit(graph, LABELLED, epochs=2)
    fitted.predict_proba()
    assert counted.call_count == 1
    assert np.allclose(score(fitted.model_, graph), 1 / (1 + np.exp(-fitted.decision_function())), atol=1e-6)
    assert counted.call_count == 1
