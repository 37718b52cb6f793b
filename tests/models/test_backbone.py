import numpy as np
import pytest
import torch
from torch import nn

from conftest import random_graph
from pugnn import PUGNN, PUNodeClassifier
from pugnn.errors import PugnnError
from pugnn.models import BACKBONES, GCN, Backbone, Output, backbone_name, make_backbone
from pugnn.models.backbone import linear

GRAPH = random_graph(30, 0.15, seed=2, features=4)


class Narrow(Backbone):
    """A network of one's own."""

    def __init__(self, num_features: int, *, hidden: int, dropout: float) -> None:
        super().__init__()
        self.first_layer = linear(num_features, 2)
        self.head = linear(2, 1)

    def forward(self, inputs):
        embedding = inputs.gcn_adjacency @ self.first_layer(inputs.features)
        return Output(embedding, self.head(embedding).squeeze(1))


def classifier(backbone) -> PUNodeClassifier:
    return PUNodeClassifier(
        PUGNN(delta=1, negatives=3, near_prior=0.6, far_prior=0.3), backbone=backbone, epochs=4, progress=False
    )


def test_a_factory_or_a_network_can_be_given_instead_of_a_name(tmp_path):
    by_name = classifier("gcn").fit(GRAPH, [0, 1, 2])
    by_factory = classifier(GCN).fit(GRAPH, [0, 1, 2])
    assert np.array_equal(by_name.predict_proba(), by_factory.predict_proba())
    network = Narrow(4, hidden=2, dropout=0.0)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    fitted = classifier(network).fit(GRAPH, [0, 1, 2])
    assert isinstance(fitted.model_, Narrow)
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items()), "a copy is trained"
    again = classifier(network).fit(GRAPH, [0, 1, 2])
    assert np.array_equal(again.predict_proba(), fitted.predict_proba())


def test_a_model_with_a_network_of_ones_own_is_loaded_with_it(tmp_path):
    fitted = classifier(Narrow).fit(GRAPH, [0, 1, 2])
    fitted.save(tmp_path / "model")
    assert fitted.settings_["parameters"]["backbone"] == "Narrow"
    with pytest.raises(PugnnError, match=r"its backbone Narrow was given as an object; .* load\(…, backbone=…\)"):
        PUNodeClassifier.load(tmp_path / "model")
    loaded = PUNodeClassifier.load(tmp_path / "model", backbone=Narrow)
    assert np.array_equal(loaded.predict_proba(GRAPH), fitted.predict_proba())
    with pytest.raises(PugnnError, match="its weights are called"):
        PUNodeClassifier.load(tmp_path / "model", backbone=GCN)


def test_a_checkpoint_belongs_to_the_network_of_ones_own(tmp_path):
    classifier(Narrow).set_params(epochs=25).fit(GRAPH, [0, 1, 2], checkpoint=tmp_path / "state")
    with pytest.raises(PugnnError, match="belongs to a run with other data or settings"):
        classifier("gcn").set_params(epochs=25).fit(GRAPH, [0, 1, 2], checkpoint=tmp_path / "state")


def test_a_factory_of_something_else_is_refused():
    with pytest.raises(PugnnError, match=r"<lambda> made a Linear, not a pugnn\.models\.Backbone"):
        make_backbone(lambda n, **_: nn.Linear(n, 1), 4, hidden=2, dropout=0.0)


def test_names_of_backbones():
    assert backbone_name("gcn") == "gcn"
    assert backbone_name(Narrow) == backbone_name(Narrow(4, hidden=2, dropout=0.0)) == "Narrow"
    assert all(isinstance(make_backbone(name, 4, hidden=8, dropout=0.0), Backbone) for name in BACKBONES)
