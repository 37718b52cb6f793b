import numpy as np
import pytest
import torch
import torch.nn.functional as F

from conftest import random_graph, terms_of, trained_plainly, untrained
from pugnn.errors import PugnnError
from pugnn.losses import NonNegativeLoss, Sets
from pugnn.methods import NNPU
from pugnn.models import GraphInputs
from pugnn.task import PUTask
from pugnn.training import TrainingSettings, score

GRAPH = random_graph(40, 0.08, seed=6, features=5)
TASK = PUTask.from_positives(GRAPH, np.array([0, 1, 2]))
SETTINGS = TrainingSettings(epochs=60, dropout=0.0)


def test_defaults_are_the_authors():
    assert NNPU(0.3) == NNPU(prior=0.3, surrogate="sigmoid", correction="ascent", beta=0.0, gamma=1.0)
    assert NNPU(0.3).training == {}
    assert NNPU(0.3).fit(TASK, SETTINGS).prior == 0.3


@pytest.mark.parametrize("options", [{}, {"surrogate": "logistic"}, {"correction": "clamp"}, {"beta": 0.1}])
@pytest.mark.parametrize("prior", [0.3, 0.95])  # at the first weights R⁻ is above zero, and below it
def test_first_epoch_is_the_loss_at_the_first_weights(options, prior):
    logits = untrained(GRAPH)(GraphInputs(GRAPH)).logit
    expected = NonNegativeLoss(prior, **options)(logits, Sets.of(TASK.labelled, TASK.unlabelled))
    found = terms_of(NNPU(prior, **options).fit(TASK, SETTINGS).log[0])
    assert found == pytest.approx({name: term.item() for name, term in expected.items()}, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("surrogate", ["sigmoid", "logistic"])
@pytest.mark.parametrize(
    ("correction", "beta", "gamma"), [("ascent", 0.0, 1.0), ("ascent", 0.02, 0.5), ("clamp", 0.0, 1.0)]
)
def test_equals_the_original_algorithm(surrogate, correction, beta, gamma):
    """Kiryo et al., algorithm 1, with a branch; a prior of 0.7 makes the risk fall below the floor now and then."""
    below = []

    def loss(margin):
        return torch.sigmoid(-margin) if surrogate == "sigmoid" else F.softplus(-margin)

    def branches(logits):
        positive = 0.7 * loss(logits[:3]).mean()
        negative = loss(-logits[3:]).mean() - 0.7 * loss(-logits[:3]).mean()
        below.append(negative.item() < -beta)
        if not below[-1]:
            return positive + negative
        return -gamma * negative if correction == "ascent" else positive

    expected = trained_plainly(GRAPH, branches, epochs=60)
    fitted = NNPU(0.7, surrogate, correction, beta, gamma).fit(TASK, SETTINGS)
    assert any(below)
    assert not all(below)
    assert [record["negative"] == pytest.approx(-beta, abs=1e-6) for record in fitted.log] == below
    assert score(fitted.model, GRAPH).numpy() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": 0.0}, "prior is a share of the unlabelled nodes and must lie between 0 and 1; got 0.0"),
        ({"surrogate": "ramp"}, "surrogate must be one of sigmoid, logistic; got 'ramp'"),
        ({"correction": "off"}, "correction must be one of ascent, clamp; got 'off'"),
        ({"beta": -1.0}, "beta must be a number and not negative, got -1.0"),
        ({"gamma": -1.0}, "gamma must be a number and not negative, got -1.0"),
    ],
)
def test_bad_options_are_explained(options, message):
    with pytest.raises(PugnnError, match=message):
        NNPU(**{"prior": 0.3, **options}).fit(TASK, SETTINGS)
