import numpy as np
import pytest
import torch

from conftest import random_graph, terms_of, trained_plainly, untrained
from pugnn.errors import PugnnError
from pugnn.losses import Sets, UnbiasedLoss
from pugnn.methods import UPU
from pugnn.models import GraphInputs
from pugnn.task import PUTask
from pugnn.training import TrainingSettings, score

GRAPH = random_graph(40, 0.08, seed=6, features=5)
TASK = PUTask.from_positives(GRAPH, np.array([0, 1, 2]))
SETTINGS = TrainingSettings(epochs=30, dropout=0.0)


def test_defaults():
    assert UPU(0.3) == UPU(prior=0.3, surrogate="sigmoid")
    assert UPU(0.3).training == {}
    assert UPU(0.3).fit(TASK, SETTINGS).prior == 0.3


@pytest.mark.parametrize("surrogate", ["sigmoid", "logistic"])
def test_first_epoch_is_the_loss_at_the_first_weights(surrogate):
    expected = UnbiasedLoss(0.3, surrogate)(
        untrained(GRAPH)(GraphInputs(GRAPH)).logit, Sets.of(TASK.labelled, TASK.unlabelled)
    )
    found = terms_of(UPU(0.3, surrogate).fit(TASK, SETTINGS).log[0])
    assert found == pytest.approx({name: term.item() for name, term in expected.items()}, rel=1e-6)


def sigmoid_risk(logits):
    """The form of 2014, for symmetric losses."""
    return 2 * 0.7 * torch.sigmoid(-logits[:3]).mean() + torch.sigmoid(logits[3:]).mean() - 0.7


def logistic_risk(logits):
    """The form of 2015, for losses with ℓ(z) - ℓ(-z) = -z."""
    return -0.7 * logits[:3].mean() + torch.log1p(torch.exp(logits[3:])).mean()


@pytest.mark.parametrize(("surrogate", "risk"), [("sigmoid", sigmoid_risk), ("logistic", logistic_risk)])
def test_equals_plain_training_on_the_other_way_to_write_the_risk(surrogate, risk):
    fitted = UPU(0.7, surrogate).fit(TASK, SETTINGS)
    assert score(fitted.model, GRAPH).numpy() == pytest.approx(trained_plainly(GRAPH, risk, epochs=30), abs=1e-4)


def test_nothing_keeps_the_risk_above_zero():
    log = UPU(0.7).fit(TASK, TrainingSettings(epochs=150, dropout=0.0)).log
    assert log[-1]["negative"] < -0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": 1.0}, "prior is a share of the unlabelled nodes and must lie between 0 and 1; got 1.0"),
        ({"surrogate": "ramp"}, "surrogate must be one of sigmoid, logistic; got 'ramp'"),
    ],
)
def test_bad_options_are_explained(options, message):
    with pytest.raises(PugnnError, match=message):
        UPU(**{"prior": 0.3, **options}).fit(TASK, SETTINGS)
