import numpy as np
import pytest
import torch

from conftest import random_graph, terms_of, trained_plainly, untrained
from pugnn import PUNodeClassifier
from pugnn.errors import PugnnError
from pugnn.losses import NonNegativeLoss, Sets, UnbiasedLoss
from pugnn.methods import LSDAN
from pugnn.models import LSDAN as Network
from pugnn.models import GraphInputs
from pugnn.task import PUTask
from pugnn.training import TrainingSettings, score

GRAPH = random_graph(40, 0.08, seed=6, features=5)
TASK = PUTask.from_positives(GRAPH, np.array([0, 1, 2]))
SETTINGS = TrainingSettings(backbone="lsdan", epochs=20, dropout=0.0)


def test_defaults():
    assert LSDAN(0.3) == LSDAN(prior=0.3, hops=3, risk="non-negative")
    assert LSDAN(0.3).training == {"backbone": "lsdan"}
    fitted = LSDAN(0.3).fit(TASK, SETTINGS)
    assert fitted.prior == 0.3
    assert isinstance(fitted.model, Network)


@pytest.mark.parametrize(("risk", "loss"), [("non-negative", NonNegativeLoss), ("unbiased", UnbiasedLoss)])
@pytest.mark.parametrize("prior", [0.3, 0.95])
@pytest.mark.parametrize("hops", [1, 3])
def test_first_epoch_is_the_loss_at_the_first_weights(risk, loss, prior, hops):
    logits = untrained(GRAPH, "lsdan", hops=hops)(GraphInputs(GRAPH)).logit
    expected = loss(prior)(logits, Sets.of(TASK.labelled, TASK.unlabelled))
    found = terms_of(LSDAN(prior, hops, risk).fit(TASK, SETTINGS).log[0])
    assert found == pytest.approx({name: term.item() for name, term in expected.items()}, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("risk", ["non-negative", "unbiased"])
def test_equals_plain_training(risk):
    def loss(logits):
        positive = 0.9 * torch.sigmoid(-logits[:3]).mean()
        negative = torch.sigmoid(logits[3:]).mean() - 0.9 * torch.sigmoid(logits[:3]).mean()
        return -negative if risk == "non-negative" and negative < 0 else positive + negative

    expected = trained_plainly(GRAPH, loss, epochs=20, backbone="lsdan", hops=2)
    found = score(LSDAN(0.9, 2, risk).fit(TASK, SETTINGS).model, GRAPH).numpy()
    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "settings", "message"),
    [
        ({}, {"backbone": "gcn"}, "lsdan has its own network and accepts no other backbone; got 'gcn'"),
        ({}, {"hidden": 6}, "hidden=6 must be a multiple of the number of attention heads, 4"),
        ({"hops": 0}, {}, "hops must be a whole number, from 1 to 100; got 0"),
        ({"risk": "zero-one"}, {}, "risk must be one of non-negative, unbiased; got 'zero-one'"),
        ({"prior": 1.5}, {}, "prior is a share of the unlabelled nodes and must lie between 0 and 1; got 1.5"),
    ],
)
def test_bad_options_are_explained(options, settings, message):
    with pytest.raises(PugnnError, match=message):
        PUNodeClassifier(LSDAN(**{"prior": 0.3, **options}), epochs=2, **settings).fit(GRAPH, [0, 1, 2])
