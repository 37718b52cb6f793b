import numpy as np
import pytest
import torch
import torch.nn.functional as F

from conftest import random_graph, terms_of, trained_plainly, untrained
from pugnn import PUNodeClassifier
from pugnn.errors import PugnnError
from pugnn.losses import Sets, UnlabelledAsNegativeLoss
from pugnn.methods import Naive
from pugnn.models import GraphInputs
from pugnn.task import PUTask
from pugnn.training import TrainingSettings, score

GRAPH = random_graph(40, 0.08, seed=6, features=5)
TASK = PUTask.from_positives(GRAPH, np.array([0, 1, 2]))
SETTINGS = TrainingSettings(epochs=30, dropout=0.0)


def test_defaults():
    assert Naive() == Naive(balanced=False, prior=None)
    assert Naive().training == {}


@pytest.mark.parametrize("balanced", [False, True])
def test_first_epoch_is_the_loss_at_the_first_weights(balanced):
    expected = UnlabelledAsNegativeLoss(balanced)(
        untrained(GRAPH)(GraphInputs(GRAPH)).logit, Sets.of(TASK.labelled, TASK.unlabelled)
    )
    found = terms_of(Naive(balanced=balanced).fit(TASK, SETTINGS).log[0])
    assert found == pytest.approx({name: term.item() for name, term in expected.items()}, rel=1e-6)


@pytest.mark.parametrize("balanced", [False, True])
def test_equals_plain_training_on_cross_entropy(balanced):
    target = torch.zeros(40)
    target[TASK.labelled] = 1
    weight = torch.where(target > 0, 1 / 3, 1 / 37) / 2 if balanced else torch.full((40,), 1 / 40)

    def loss(logits):
        return F.binary_cross_entropy_with_logits(logits, target, weight, reduction="sum")

    found = score(Naive(balanced=balanced).fit(TASK, SETTINGS).model, GRAPH).numpy()
    assert found == pytest.approx(trained_plainly(GRAPH, loss, epochs=30), abs=1e-4)


def test_without_a_prior_it_assumes_no_positives():
    assert Naive().fit(TASK, SETTINGS).prior == 0.0
    assert Naive(prior=0.2).fit(TASK, SETTINGS).prior == 0.2


def test_a_prior_moves_the_threshold_and_nothing_else():
    def fitted(prior):
        estimator = PUNodeClassifier(Naive(balanced=True, prior=prior), epochs=5, threshold="prior", progress=False)
        return estimator.fit(GRAPH, [0, 1, 2])

    few, many = fitted(0.1), fitted(0.5)
    assert few.predict_proba().tobytes() == many.predict_proba().tobytes()
    assert (few.predict()[3:].sum(), many.predict()[3:].sum()) == (round(0.1 * 37), round(0.5 * 37))


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.3])
def test_bad_priors_are_explained(prior):
    with pytest.raises(PugnnError, match="prior is a share of the unlabelled nodes"):
        Naive(prior=prior).fit(TASK, SETTINGS)
