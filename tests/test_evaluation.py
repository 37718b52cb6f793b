from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from planted import evidence
from pugnn import PUNodeClassifier, cross_validate, evaluate, make_method, waiting
from pugnn.errors import PugnnError
from pugnn.evaluation import cross_fit
from pugnn.evidence import Prior
from pugnn.evidence.audit import Audit
from pugnn.evidence.hidden_positives import deal_folds
from pugnn.explain import explain
from pugnn.explain.suggest import node_rows
from pugnn.graph import Graph
from pugnn.graph.smoothing import Smoother
from pugnn.losses import UnlabelledAsNegativeLoss
from pugnn.methods.base import LossMethod
from pugnn.methods.ranking import plain
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
    assert cross_fit(estimator, TASK).ranks == pytest.approx(expected)


def test_no_ranking_is_judged_by_confirmed_nodes():
    task = TASK.with_feedback(TASK.unlabelled[:3], TASK.unlabelled[-2:])
    estimator = PUNodeClassifier("centroid", progress=False).fit_task(task)
    for found in (estimator.estimate_, evaluate(estimator, task)):
        assert len(found.ranks) == 11


@pytest.mark.parametrize("method", ["centroid", "smoothed-logistic"])
def test_methods_that_hide_positives_themselves_rank_them_as_trainings_without_them_do(method):
    classifier = PUNodeClassifier(method, progress=False).fit_task(TASK)
    assert classifier.estimate_.ranks == pytest.approx(cross_fit(classifier, TASK).ranks, abs=0.01)


@pytest.mark.filterwarnings("error")
def test_trainings_that_nobody_will_use_warn_of_nothing():
    method = make_method("pu-gnn", delta=30, near_prior=0.3, far_prior=0.1)
    assert len(cross_fit(PUNodeClassifier(method, progress=False, epochs=1), TASK).ranks) == 11


def test_the_default_method_estimates_without_further_trainings():
    classifier = PUNodeClassifier(progress=False, epochs=60).fit_task(TASK)
    quick, thorough = classifier.estimate_, evaluate(classifier, TASK, caveat="Hm.")
    assert (quick.caveat, thorough.caveat) == (None, "Hm.")
    assert quick.prior == thorough.prior == classifier.settled_prior_
    assert np.median(quick.ranks) == pytest.approx(np.median(thorough.ranks), abs=0.1)
    assert quick.decided.taken == thorough.decided.taken == classifier.predict()[TASK.unlabelled].sum()


@pytest.mark.parametrize("method", ["centroid", "label-propagation", make_method("nnpu", prior="0.1..0.3")])
def test_a_loaded_model_can_be_evaluated(method, tmp_path):
    classifier = PUNodeClassifier(method, progress=False).fit_task(TASK)
    classifier.save(tmp_path / "model.safetensors")
    loaded = PUNodeClassifier.load(tmp_path / "model.safetensors").set_params(progress=False)
    assert loaded.settled_prior_ == classifier.settled_prior_
    assert evaluate(loaded, TASK).to_plain() == evaluate(classifier, TASK).to_plain()


def test_one_known_positive_cannot_be_hidden():
    task = PUTask.from_positives(TASK.graph, TASK.labelled[:1])
    classifier = PUNodeClassifier("centroid", progress=False).fit_task(task)
    assert classifier.estimate_ is None
    assert classifier.settled_prior_.source == "assumed"
    with pytest.raises(PugnnError, match="with one known positive, nothing can be hidden"):
        evaluate(classifier, task)
    with pytest.raises(PugnnError, match="confirmed finds do not count, because a ranking found them"):
        cross_fit(classifier, task.with_feedback(TASK.labelled[1:4], np.zeros(0, np.int64)))


@dataclass(frozen=True)
class OfNeighbours(LossMethod):
    """A method whose prior is no setting."""

    prior: ClassVar[float] = 0.3

    def loss(self):
        return UnlabelledAsNegativeLoss(balanced=True)


def test_a_method_whose_prior_is_no_setting_can_be_evaluated():
    classifier = PUNodeClassifier(OfNeighbours(), progress=False, epochs=2).fit_task(TASK)
    assert evaluate(classifier, TASK).prior == Prior.given(0.3)


def test_confirmed_nodes_are_not_hidden():
    task = PUTask.from_positives(TASK.graph, TASK.labelled[:1]).with_feedback(TASK.labelled[1:6], TASK.labelled[:0])
    classifier = PUNodeClassifier("centroid", progress=False).fit_task(task)
    assert classifier.estimate_ is None
    with pytest.raises(PugnnError, match="confirmed finds do not count, because a ranking found them"):
        evaluate(classifier, task)


def test_methods_are_compared_on_the_same_folds():
    methods = ("centroid", "naive", make_method("label-propagation", prior=0.2), "label-propagation")
    found = cross_validate(methods, TASK.graph, TASK.labelled, progress=False)
    assert list(found) == ["centroid", "naive", "label-propagation", "label-propagation'"]
    alone = cross_fit(PUNodeClassifier("centroid", progress=False), TASK).ranks
    assert found["centroid"].ranks == pytest.approx(alone)
    pairs = [verdict.names for verdict in found.verdicts]
    assert {name for pair in pairs for name in pair} == set(found)
    assert len(pairs) == 3
    assert len({first for first, _ in pairs}) == 1, "the best, against each other one"


def test_audited_positives_are_compared_too():
    ranking = np.random.default_rng(0).permutation(TASK.unlabelled)
    audit = Audit(TASK.graph, ranking, decided=30, ranks=np.zeros(0), expected=60.0).draw(40)
    ids = TASK.graph.ids[audit.drawn].tolist()
    audit.record(ids, ["yes" if at < 7 else "no" for at in range(40)])
    methods = ("centroid", make_method("label-propagation", prior=0.2))
    (verdict,) = cross_validate(methods, TASK.graph, TASK.labelled, audit=audit, progress=False).verdicts
    assert (verdict.hidden, verdict.audited) == (11, 7)
    scores = {}
    for method in methods:
        classifier = PUNodeClassifier(method, progress=False).fit_task(TASK)
        scores[classifier.settings_["method"]["name"]] = classifier.predict_proba()[:, 1]
    first, second = (scores[name] for name in verdict.names)
    above = lambda scores, node: (scores[TASK.unlabelled] > scores[node]).sum()  # noqa: E731
    higher = sum(above(first, node) < above(second, node) for node in audit.drawn[:7])
    alone = cross_validate(methods, TASK.graph, TASK.labelled, progress=False)
    ranks = [alone[name].ranks for name in verdict.names]
    assert verdict.higher[0] == higher + (ranks[0] < ranks[1]).sum()


def test_an_audit_of_other_known_positives_is_refused():
    audit = Audit(TASK.graph, np.arange(TASK.graph.num_nodes), decided=30, ranks=np.zeros(0), expected=60.0)
    with pytest.raises(PugnnError, match="the audit is of another graph or of other known positives"):
        cross_validate(["centroid"], TASK.graph, TASK.labelled, audit=audit, progress=False)


def test_what_is_left_is_that_of_all_folds_of_all_methods(monkeypatch):
    now, left = [0.0], []
    monkeypatch.setattr(waiting, "monotonic", lambda: now[0])
    fit_task = PUNodeClassifier.fit_task

    def ten_seconds(*arguments, **options):
        left.append(waiting.time_left())
        now[0] += 10
        return fit_task(*arguments, **options)

    monkeypatch.setattr(PUNodeClassifier, "fit_task", ten_seconds)
    methods = [make_method("label-propagation", prior=0.2, restart=restart) for restart in (0.1, 0.2)]
    cross_validate(methods, TASK.graph, TASK.labelled, progress=False)
    assert left == [None, *(pytest.approx(10 * (12 - done)) for done in range(1, 12))]
    left.clear()
    evaluate(PUNodeClassifier(methods[0], progress=False).fit_task(TASK), TASK)
    assert left[1:] == [None, *(pytest.approx(10 * (5 - done)) for done in range(1, 5))]


def test_a_graph_is_smoothed_and_ranked_once_whatever_is_done_with_it(monkeypatch):
    """Fit, suggest, explain, evaluate, and trials of two methods as in a sweep."""
    monkeypatch.setattr("pugnn.views.view_source.worth_keeping", lambda *_: True)
    smoothed, ranked = [], []
    smooth, rank = Smoother.smooth, plain.rank_views
    watched = lambda self, values: smoothed.append(values.shape[1]) or smooth(self, values)  # noqa: E731
    monkeypatch.setattr(Smoother, "smooth", watched)
    monkeypatch.setattr(plain, "rank_views", lambda *args: ranked.append(len(args[1].task.labelled)) or rank(*args))
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(*rng.integers(0, 200, (2, 600)), num_nodes=200, features=rng.normal(size=(200, 20)))
    task = PUTask.from_positives(graph, np.arange(25))
    fitted = PUNodeClassifier(epochs=2, progress=False).fit_task(task)
    explain(fitted, task, [100, 101])
    node_rows(fitted.model_, graph)
    width = 20 + 1  # with a column of ones
    assert smoothed.count(width) == 1
    assert ranked == [25]
    evaluate(fitted, task)
    for rate in (0.01, 0.02, 0.03):
        cross_fit(PUNodeClassifier("nnpu", epochs=2, learning_rate=rate), task)
        cross_fit(PUNodeClassifier(epochs=2, learning_rate=rate), task)
    PUNodeClassifier("centroid").fit_task(task)
    assert smoothed.count(width) == 1
    assert ranked == [25, 20, 20, 20, 20, 20]
