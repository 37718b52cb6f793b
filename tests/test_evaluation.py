import numpy as np
import pytest

from planted import evidence
from pugnn import PUNodeClassifier, cross_validate, evaluate, make_method
from pugnn.errors import PugnnError
from pugnn.evaluation import cross_fit
from pugnn.methods.evidence import deal_folds
from pugnn.task import PUTask
from pugnn.training import derive_seed

TASK = evidence(0.2, known=11, nodes=300).task


def test_a_hidden_positive_takes_no_part_in_its_own_rank():
    estimator = PUNodeClassifier(make_method("label-propagation", prior=0.2), progress=False)
    folds, expected = deal_folds(11, derive_seed(0)), np.empty(11)
    for fold in range(5):
        rest = PUTask.from_positives(TASK.graph, TASK.labelled[folds != fold])
        scores = estimator.fit_task(rest).predict_proba()[:, 1]
        for at in np.flatnonzero(folds == fold):
            above = sum(scores[node] > scores[TASK.labelled[at]] for node in TASK.unlabelled)
            level = sum(scores[node] == scores[TASK.labelled[at]] for node in TASK.unlabelled)
            expected[at] = (above + level / 2) / len(TASK.unlabelled)
    assert cross_fit(estimator, TASK) == pytest.approx(expected)


def test_confirmed_nodes_are_no_sample():
    task = TASK.with_feedback(TASK.unlabelled[:3], TASK.unlabelled[-2:])
    estimator = PUNodeClassifier("centroid", progress=False).fit_task(task)
    assert len(cross_fit(estimator, task)) == 11
    assert len(estimator.estimate_.ranks) == 11
    assert estimator.estimate_.audit.checked == 5


def test_the_default_method_estimates_without_further_trainings():
    classifier = PUNodeClassifier(progress=False, epochs=60).fit_task(TASK)
    quick, thorough = classifier.estimate_, evaluate(classifier, TASK, caveat="Hm.")
    assert (quick.caveat, thorough.caveat) == (None, "Hm.")
    assert quick.prior == thorough.prior == classifier.settled_prior_
    assert np.median(quick.ranks) == pytest.approx(np.median(thorough.ranks), abs=0.1)
    assert quick.decided.taken == thorough.decided.taken == classifier.predict()[TASK.unlabelled].sum()


def test_a_loaded_model_can_be_evaluated(tmp_path):
    classifier = PUNodeClassifier("nnpu", progress=False, epochs=5).fit_task(TASK)
    assert classifier.estimate_ is None
    classifier.save(tmp_path / "model.safetensors")
    loaded = PUNodeClassifier.load(tmp_path / "model.safetensors").set_params(progress=False)
    assert evaluate(loaded, TASK).to_plain() == evaluate(classifier, TASK).to_plain()


def test_one_known_positive_cannot_be_hidden():
    task = PUTask.from_positives(TASK.graph, TASK.labelled[:1])
    classifier = PUNodeClassifier("centroid", progress=False).fit_task(task)
    assert classifier.estimate_ is None
    assert classifier.settled_prior_.source == "assumed"
    with pytest.raises(PugnnError, match="with one known positive, nothing can be hidden"):
        evaluate(classifier, task)


def test_confirmed_nodes_are_not_hidden():
    task = PUTask.from_positives(TASK.graph, TASK.labelled[:1]).with_feedback(TASK.labelled[1:6], TASK.labelled[:0])
    classifier = PUNodeClassifier("centroid", progress=False).fit_task(task)
    assert classifier.estimate_ is None
    with pytest.raises(PugnnError, match="one known positive besides those that a ranking found and you confirmed"):
        evaluate(classifier, task)


def test_methods_are_compared_on_the_same_folds():
    methods = ("centroid", "naive", make_method("label-propagation", prior=0.2), "label-propagation")
    found = cross_validate(methods, TASK.graph, TASK.labelled, progress=False)
    assert list(found) == ["centroid", "naive", "label-propagation", "label-propagation'"]
    alone = cross_fit(PUNodeClassifier("centroid", progress=False), TASK)
    assert found["centroid"].ranks == pytest.approx(alone)
