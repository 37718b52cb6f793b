import math

import numpy as np
import pytest
from sklearn import metrics as reference

from pugnn.metrics import accuracy, average_precision, f1, macro_f1, roc_auc


@pytest.mark.parametrize("seed", range(10))
def test_equal_to_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random(60) < 0.4
    scores = np.round(rng.random(60) + 0.3 * truth, 1 if seed % 2 else 6)  # odd seeds have many ties
    decided = scores >= 0.5
    assert f1(truth, decided) == pytest.approx(reference.f1_score(truth, decided))
    assert macro_f1(truth, decided) == pytest.approx(reference.f1_score(truth, decided, average="macro"))
    assert accuracy(truth, decided) == pytest.approx(reference.accuracy_score(truth, decided))
    assert roc_auc(truth, scores) == pytest.approx(reference.roc_auc_score(truth, scores))
    assert average_precision(truth, scores) == pytest.approx(reference.average_precision_score(truth, scores))


def test_all_negative_decisions_on_cora():
    truth = np.arange(2708) < 1244  # the all-negative macro-F1 that the notes on the naive baseline quote
    assert 100 * macro_f1(truth, np.zeros(2708, dtype=bool)) == pytest.approx(35.1, abs=0.05)


def test_one_class_only():
    everyone = np.ones(3, dtype=bool)
    scores = np.array([0.1, 0.2, 0.3])
    assert math.isnan(roc_auc(everyone, scores))
    assert math.isnan(roc_auc(~everyone, scores))
    assert math.isnan(average_precision(~everyone, scores))
    assert f1(~everyone, ~everyone) == 0.0
