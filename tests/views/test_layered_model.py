from dataclasses import replace

import numpy as np
import pytest
import torch

from conftest import random_graph
from dense_views import near, side_by_side
from pugnn import PugnnError, PUNodeClassifier
from pugnn.graph import Graph
from pugnn.graph.layers import ALL, layers_of, structural
from pugnn.models import GraphInputs
from pugnn.training import load_sealed
from pugnn.training.sealed import save_sealed
from pugnn.views import LayeredModel
from small_relations import shop, typed

KNOWN = np.arange(6)


def fitted(graph: Graph) -> PUNodeClassifier:
    return PUNodeClassifier(epochs=5, progress=False).fit(graph, KNOWN)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return shop()


@pytest.fixture(scope="module")
def classifier(graph) -> PUNodeClassifier:
    return fitted(graph)


@pytest.mark.parametrize("features", [0, 3])
def test_scores_are_the_sum_over_parts(features):
    graph = shop(features=features)
    classifier = fitted(graph)
    model = classifier.model_
    assert isinstance(model, LayeredModel)
    expected = np.full(graph.num_nodes, float(model.constant))
    for part in model:
        layer = layers_of(graph)[part.name]
        layer = structural(layer) if part.structural else layer
        of_layer = side_by_side(layer) @ part.direction.double().numpy().ravel()
        of_layer += float(part.by_closeness) * near(layer, KNOWN)
        expected += of_layer[: graph.num_nodes]
    parts_of_each = [False, True] if features else [True]
    assert [(part.name, bool(part.structural)) for part in model] == [
        (name, each) for name in layers_of(graph) for each in parts_of_each
    ]
    assert classifier.decision_function().tolist() == pytest.approx(expected[: graph.num_targets], abs=1e-3)
    model.remember_scores(graph, None)  # those of the fit
    again = model(GraphInputs(graph)).logit
    assert again.dtype == torch.float64
    assert again.tolist() == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("features", [0, 3])
def test_a_loaded_model_gives_the_same_scores(features, tmp_path):
    graph = shop(features=features)
    classifier = fitted(graph)
    classifier.save(tmp_path / "model")
    loaded = PUNodeClassifier.load(tmp_path / "model")
    same = replace(graph)  # nothing that was kept for the graph of the fit serves
    assert loaded.decision_function(same) == pytest.approx(classifier.decision_function(), abs=1e-4)
    assert loaded.predict(same).tolist() == classifier.predict().tolist()


def test_known_positives_count_where_they_are_known(classifier, graph):
    model, same = classifier.model_, replace(graph)
    assert model.needs_known
    without = model(GraphInputs(same)).logit
    model.know(same, KNOWN)
    found = model(GraphInputs(same)).logit
    assert not torch.allclose(found, without, atol=1e-3)
    closeness = sum(
        float(part.by_closeness) * near(layers_of(same)[part.name], KNOWN)[: same.num_nodes] for part in model
    )
    assert (found - without).tolist() == pytest.approx(closeness, abs=1e-3)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"parts.0.direction": torch.zeros(7, 4)}, r"direction have the shape \(7, 4\)"),
        ({"parts.1.direction": torch.zeros(5, 4)}, r"direction have the shape \(5, 4\), not \(5, 33\)"),
        ({"parts.0.centre": torch.zeros(2)}, r"centre have the shape \(2,\), not \(3,\)"),
        ({"parts.0.scale": torch.zeros(3)}, "scale must be positive"),
        ({"parts.0.structural": torch.tensor(True)}, "have the shape"),
        ({"parts.0.structural": torch.ones(2, dtype=torch.bool)}, r"structural have the shape \(2,\)"),
        ({"parts.0.layer": torch.tensor([255, 254], dtype=torch.uint8)}, "layer are not the name of a relation"),
        ({"parts.0.layer": torch.zeros((2, 2), dtype=torch.uint8)}, "layer are not the name of a relation"),
        ({"parts.0.layer": None}, "its weights are called"),
        ({"parts.77.direction": torch.zeros(5, 4)}, "its weights are called"),
        ({"parts": torch.zeros(1)}, "its weights are called"),
        ({"direction": torch.zeros(5, 4)}, "its weights are called"),
        ({"constant": torch.tensor(float("nan"), dtype=torch.float64)}, "non-finite"),
    ],
)
def test_weights_that_do_not_fit_are_an_error(classifier, tmp_path, changed, message):
    path = tmp_path / "model"
    classifier.save(path)
    weights, metadata = load_sealed(path)
    weights = {name: each for name, each in (weights | changed).items() if each is not None}
    save_sealed(path, weights, metadata)
    with pytest.raises(PugnnError, match=message):
        PUNodeClassifier.load(path)


def test_a_changed_file_is_an_error(classifier, tmp_path):
    path = tmp_path / "model"
    classifier.save(path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(PugnnError, match="checksum"):
        PUNodeClassifier.load(path)


def test_a_graph_without_a_relation_is_an_error_that_names_it(classifier, graph):
    fewer = {name: relation for name, relation in graph.relations.items() if name != "knows"}
    with pytest.raises(PugnnError, match=r"trained with the relation 'knows', but the graph has .*buys"):
        classifier.predict_proba(typed(fewer, graph.features, dict(graph.kinds)))
    with pytest.raises(PugnnError, match=r"trained with the relation 'knows', but the graph has .*all relations"):
        classifier.predict_proba(random_graph(40, 0.1, seed=0))


def test_other_methods_refuse_a_graph_without_a_relation(graph):
    classifier = PUNodeClassifier("centroid", progress=False).fit(graph, KNOWN)
    fewer = {name: relation for name, relation in graph.relations.items() if name != "knows"}
    with pytest.raises(PugnnError, match="'knows' differs"):
        classifier.predict_proba(typed(fewer, graph.features, dict(graph.kinds)))


def test_the_weighted_sum_of_relations_is_saved(graph, tmp_path):
    classifier = PUNodeClassifier("centroid", progress=False).fit(graph, KNOWN)
    classifier.save(tmp_path / "model")
    loaded = PUNodeClassifier.load(tmp_path / "model")
    assert loaded.relation_weights_ == classifier.relation_weights_
    assert loaded.decision_function(replace(graph)) == pytest.approx(classifier.decision_function(), abs=1e-4)


@pytest.mark.parametrize("shares", [[1.0], {"knows": "much"}])
def test_weights_of_relations_that_are_none_are_an_error(graph, tmp_path, shares):
    path = tmp_path / "model"
    PUNodeClassifier("centroid", progress=False).fit(graph, KNOWN).save(path)
    weights, metadata = load_sealed(path)
    save_sealed(path, weights, metadata | {"relation_weights": shares})
    with pytest.raises(PugnnError, match="relation"):
        PUNodeClassifier.load(path)


def test_the_file_of_a_plain_graph_is_what_it_was(tmp_path):
    plain, path = random_graph(40, 0.1, seed=0), tmp_path / "model"
    classifier = fitted(plain)
    classifier.save(path)
    weights, metadata = load_sealed(path)
    assert set(weights) == {"centre", "scale", "standardised", "direction", "by_closeness", "constant"}
    assert metadata.pop("relation_weights") is None
    save_sealed(path, weights, metadata)  # as earlier versions wrote it
    loaded = PUNodeClassifier.load(path)
    assert loaded.decision_function(replace(plain)) == pytest.approx(classifier.decision_function(), abs=1e-4)


def test_a_layer_has_its_name_in_the_file(classifier, graph):
    assert [part.name for part in classifier.model_][::2] == [ALL, *graph.relations]
