from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from pugnn import PUNodeClassifier
from pugnn.errors import PugnnWarning
from pugnn.evidence.hidden_positives import FoldedTask
from pugnn.graph.layers import ALL, fused, layers_of
from pugnn.methods import METHODS, make_method
from pugnn.methods.ranking.layer_ranking import layer_views, layer_weights, plain_layer_weights, relation_weights
from pugnn.methods.ranking.layered_fit import layers_note
from pugnn.metrics import average_precision
from pugnn.task import PUTask
from small_relations import of_one, planted_relations, shop

KNOWN = np.arange(6)
SETTINGS = {"grab": {"rounds": 1}, "pu-gnn": {"delta": 1, "negatives": 3, "near_prior": 0.6, "far_prior": 0.3}}


def evidence_by_loops(ranks, others, found) -> float:
    gains = [np.log((other + found) / (rank + found)) for rank, other in zip(ranks, others, strict=True)]
    n = len(gains)
    mean = sum(gains) / n
    squares = sum((gain - mean) ** 2 for gain in gains)
    return n / (n + 10) * mean / np.sqrt((squares + 4 * 0.5**2) / (n - 1 + 4) / n)


def test_layers_are_weighed_by_the_evidence_against_them():
    rng = np.random.default_rng(0)
    ranks = {"poor": rng.uniform(0, 1, 12), "good": rng.uniform(0, 0.3, 12), "fair": rng.uniform(0, 0.4, 12)}
    found = layer_weights(ranks, 0.1)
    assert found["good"] == 1.0
    assert list(found) == list(ranks)
    for name in ("poor", "fair"):
        against = evidence_by_loops(ranks["good"], ranks[name], 0.1)
        assert against > 0
        assert found[name] == pytest.approx(np.exp(-2 * against), rel=1e-9)
    assert found["poor"] < found["fair"] < 1


def test_without_hidden_positives_all_layers_count_the_same():
    assert layer_weights({"one": np.empty(0), "other": np.empty(0)}, 0.1) == {"one": 1.0, "other": 1.0}


def test_layers_of_equal_ranks_count_the_same():
    ranks = np.linspace(0, 0.5, 8)
    assert layer_weights({"one": ranks, "other": ranks.copy()}, 0.1) == {"one": 1.0, "other": 1.0}


def test_relations_that_say_nothing_hardly_count_and_do_no_harm():
    noise, precisions = [], []
    for seed in range(3):
        graph, truth = planted_relations(seed)
        known = np.flatnonzero(truth)[:40]
        shares = plain_layer_weights(FoldedTask.of(PUTask.from_positives(graph, known), seed))
        noise.append((shares["noise"] + shares["more noise"]) / sum(shares.values()))
        others = np.setdiff1d(np.arange(graph.num_nodes), known)
        together = layers_of(graph)[ALL]
        fits = [
            PUNodeClassifier(epochs=20, seed=seed, progress=False).fit(each, known).decision_function()
            for each in (graph, of_one(graph, "signal"), together)
        ]
        precisions.append([average_precision(truth[others].astype(int), scores[others]) for scores in fits])
    several, alone, mixed = np.mean(precisions, axis=0)
    assert max(noise) < 0.2
    assert several > alone - 0.03
    assert mixed < alone - 0.1, "or else the test says nothing"


@pytest.mark.parametrize("features", [0, 3])
def test_the_views_of_a_layer_are_its_structure_and_attributes_if_there_are_any(features, monkeypatch):
    layer = layers_of(shop(features=features))["knows"]
    parts = layer_views(layer, attributes=features > 0).parts
    factors = [factor for _, factor in parts]
    assert factors == ([0.45, 1.0] if features else [1.0])
    monkeypatch.setattr("pugnn.methods.ranking.layer_ranking.MAX_ENTRIES", 10)
    factors = [factor for _, factor in layer_views(layer, attributes=features > 0).parts]
    assert factors == ([0.45] if features else [1.0]), "the structure of a large layer, if there is nothing else"


def test_the_same_seed_gives_the_same_bits():
    one, other = (
        PUNodeClassifier(epochs=3, seed=5, progress=False).fit(shop(), KNOWN).decision_function() for _ in range(2)
    )
    assert one.tobytes() == other.tobytes()


def test_a_relation_counts_by_its_layer_and_that_of_all():
    task = PUTask.from_positives(shop(), KNOWN)
    shares = plain_layer_weights(FoldedTask.of(task, 0))
    both = (shares["pays out"] + shares["pays in"]) / 2
    expected = {"knows": shares["knows"], "buys": shares["buys"], "pays out": both, "pays in": both}
    most = max(shares[ALL] + share for share in expected.values())
    found = relation_weights(task, 0)
    assert found["pays out"] == found["pays in"]
    assert max(found.values()) == 1.0
    assert found == pytest.approx({name: (shares[ALL] + share) / most for name, share in expected.items()})


def test_a_relation_whose_layer_would_be_all_counts_as_all():
    graph, _ = planted_relations(0, nodes=60, positive=20)
    assert relation_weights(PUTask.from_positives(of_one(graph, "signal"), KNOWN), 0) == {"signal": 1.0}


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_fits_a_graph_with_relations_and_scores_the_target_kind_only(name):
    graph = shop()
    method = make_method(name, **SETTINGS.get(name, {}))
    if getattr(method, "prior", None) is not None:
        method = replace(method, prior=0.3)
    epochs = {"epochs": 2} if method.trains else {}
    with pytest.warns(PugnnWarning, match="lsdan") if name == "lsdan" else nullcontext():  # one relation has weights
        classifier = PUNodeClassifier(method, progress=False, **epochs).fit(graph, KNOWN)
    scores = classifier.predict_proba()
    assert scores.shape == (graph.num_targets, 2)
    assert np.isfinite(scores).all()
    assert ((scores >= 0) & (scores <= 1)).all()
    assert classifier.predict_proba(replace(graph)) == pytest.approx(scores, abs=1e-4)
    if name == "views":
        assert classifier.relation_weights_ is None
    else:
        assert list(classifier.relation_weights_) == list(graph.relations)


def test_each_fit_has_the_weights_of_its_own_known_positives():
    graph, truth = planted_relations(0, nodes=120, positive=40)
    for known in (np.flatnonzero(truth)[:15], np.flatnonzero(~truth)[:15:3]):
        classifier = PUNodeClassifier("label-propagation", progress=False).fit(graph, known)
        afresh = fused(replace(graph), classifier.relation_weights_)
        assert np.array_equal(classifier.graph_for(graph).weights, afresh.weights)


def test_the_note_names_layers_by_what_they_contribute():
    words = layers_note({"knows": 0.25, ALL: 0.75, "buys": 1e-9})
    assert words == "What each relation contributes to the list: all relations 75 %, knows 25 %, buys 0 %."
