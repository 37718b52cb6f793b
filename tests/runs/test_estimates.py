import json
from dataclasses import replace

import numpy as np
import pytest

from planted import evidence
from pugnn import PUBenchmark, PUNodeClassifier
from pugnn.checkup import check_up
from pugnn.runs.estimates import find_evidence, with_truth
from pugnn.task import PUTask

TASK = evidence(0.2, known=11, nodes=300).task
POSITIVE = np.arange(300) < 60
CHECK_UP = check_up(TASK)


@pytest.fixture(scope="module")
def fitted():
    return PUNodeClassifier("centroid", progress=False).fit_task(TASK)


def test_the_record_of_a_method_that_hides_positives(fitted):
    found = vars(find_evidence(fitted, TASK, CHECK_UP, fitted.decision_function(), fitted.predict_proba()[:, 1], None))
    assert json.loads(json.dumps(found)) == found, "plain values"
    assert found["settled_prior"] == found["estimate"]["prior"] == vars(fitted.settled_prior_)
    assert found["estimate"]["caveat"] == CHECK_UP.caveat
    assert found["estimate"]["truth"] is None
    assert found["estimate_missing"] is None


def test_the_record_says_why_there_is_no_estimate():
    one = PUTask.from_positives(TASK.graph, TASK.labelled[:1])
    confirmed = one.with_feedback(TASK.labelled[1:3], np.zeros(0, np.int64))
    for task, method, words in (
        (one, "centroid", "with a single known positive"),
        (confirmed, "centroid", "with a single known positive"),
        (TASK, "label-propagation", "trained again without some known positives: `pugnn evaluate` does that"),
    ):
        classifier = PUNodeClassifier(method, progress=False).fit_task(task)
        scored = classifier.decision_function(), classifier.predict_proba()[:, 1]
        found = vars(find_evidence(classifier, task, CHECK_UP, *scored, None))
        assert found["estimate"] is None
        assert words in found["estimate_missing"]
        assert found["settled_prior"]["value"] == classifier.prior_


@pytest.mark.parametrize("scored", [TASK.unlabelled, TASK.unlabelled[::3]])
def test_the_truth_by_plain_loops(fitted, scored):
    log_odds, decisions = fitted.decision_function(), fitted.predict()
    truth = replace(PUBenchmark.of_unlabelled(TASK, POSITIVE), scored=scored)
    found = with_truth(fitted.estimate_, log_odds, decisions, truth)["truth"]
    right = sum(POSITIVE[node] and decisions[node] for node in scored)
    taken, positives = sum(decisions[node] for node in scored), sum(POSITIVE[node] for node in scored)
    assert found["prior"] == pytest.approx(positives / len(scored))
    expected = {"precision": right / taken, "recall": right / positives, "f1": 2 * right / (taken + positives)}
    assert found["decided"] == pytest.approx(expected)
    pairs = [log_odds[one] > log_odds[two] for one in scored for two in scored if POSITIVE[one] and not POSITIVE[two]]
    assert found["auc"] == pytest.approx(np.mean(pairs), abs=1e-6)
    best = sorted(TASK.unlabelled, key=lambda node: -log_odds[node])
    for part in found["first"]:
        known = [node for node in best[: part["taken"]] if node in scored]  # of the same list as the estimate's
        assert part["precision"] == pytest.approx(np.mean([POSITIVE[node] for node in known]))
    assert [part["taken"] for part in found["first"]] == [10, 20, 50, 100, 200]


def test_the_truth_of_nodes_of_one_class_is_left_out(fitted):
    truth = PUBenchmark.of_unlabelled(TASK, np.zeros(300, bool))
    assert with_truth(fitted.estimate_, fitted.decision_function(), fitted.predict(), truth)["truth"] is None
