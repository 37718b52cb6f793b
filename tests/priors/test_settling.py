from dataclasses import replace

import numpy as np
import pytest

from planted import evidence
from pugnn import NNPU, PUNodeClassifier, Views
from pugnn.errors import PugnnError
from pugnn.evidence import RankModel
from pugnn.evidence.hidden_positives import FoldedTask
from pugnn.evidence.prior import Prior
from pugnn.methods.ranking.plain import rank_task
from pugnn.priors import PRIORS, prior_bounds, prior_words, settle_prior


@pytest.mark.parametrize("prior", [0, 1, -0.1, 1.5, float("nan"), None, True, "1.5", "0..0.5", "0.1..1"])
def test_a_prior_lies_between_0_and_1(prior):
    with pytest.raises(PugnnError, match="must lie between 0 and 1"):
        prior_bounds(prior)


@pytest.mark.parametrize("prior", ["many", "0.1-0.2", "0.1..0.2..0.3", "..", ""])
def test_text_that_is_no_prior_is_refused(prior):
    with pytest.raises(PugnnError, match=r"must be auto, a number, or a range such as 0\.02\.\.0\.1"):
        prior_bounds(prior)


def test_the_refusal_names_the_estimators():
    with pytest.raises(PugnnError, match=r"got 'many'. It may also name an estimator: .*dedpul"):
        prior_bounds("many")


def test_a_range_upside_down_is_refused():
    with pytest.raises(PugnnError, match=r"reversed: '0.3..0.1'; write 0.1..0.3"):
        prior_bounds("0.3..0.1")


def test_the_value_is_the_decided_share_and_the_interval_that_of_the_model():
    given = evidence(0.2, apart=2.5)
    settled = settle_prior("auto", given)
    model = RankModel.of(given.ranks, len(given.task.unlabelled))
    assert settled.value == model.decided_share()
    assert (settled.low, settled.high, settled.source) == (model.prior().low, model.prior().high, "estimated")
    assert settled.low < (0.2 * 1500 - 60) / 1440 < settled.high
    assert settled.bounds is None


@pytest.mark.parametrize("name", PRIORS)
def test_every_estimator_can_be_chosen_by_name(name):
    given = evidence(0.2, apart=2.5)
    assert prior_bounds(name) == prior_bounds("auto")
    settled = settle_prior(name, given)
    assert settled.value == min(PRIORS[name](given), 0.5)
    assert settled.low <= settled.value <= settled.high
    assert (settled.source, settled.by) == ("estimated", name if name != "auto" else "")
    words = prior_words(settled, 60)
    assert (f"by {name} from" in words or f"is used in training, as {name} estimates" in words) == (name != "auto")


@pytest.mark.parametrize("found", [float("nan"), float("inf"), None, "many"])
def test_an_estimator_that_returns_no_share_is_named(found, monkeypatch):
    PRIORS.get("auto")  # completes the registry
    monkeypatch.setitem(PRIORS._registered, "strange", lambda _: found)
    with pytest.raises(PugnnError, match=r"the estimator of the prior 'strange' returned .*, which is not a share"):
        settle_prior("strange", evidence(0.2, apart=2.5))


def test_an_estimator_may_return_a_number_of_numpy(monkeypatch):
    PRIORS.get("auto")
    monkeypatch.setitem(PRIORS._registered, "numpy", lambda _: np.float32(0.25))
    assert type(settle_prior("numpy", evidence(0.2, apart=2.5)).value) is float


def test_a_method_takes_the_prior_of_an_estimator():
    task = evidence(0.2, apart=2.5).task
    for method in (Views(prior="lowest-bound"), NNPU(prior="lowest-bound")):
        fitted = PUNodeClassifier(method, epochs=2, progress=False).fit_task(task)
        assert fitted.prior_ == PRIORS["lowest-bound"](rank_task(FoldedTask.of(task, 0)).hidden)
        assert fitted.settled_prior_.by == "lowest-bound"
    assert PUNodeClassifier(Views(prior="lowest-bound"), epochs=2, progress=False).fit_task(task).decided_by_ == (
        "the share of positives that lowest-bound estimates"
    )


def test_a_range_keeps_value_and_interval():
    settled = settle_prior("0.02..0.1", evidence(0.3))
    assert (settled.source, settled.least, settled.most) == ("range", 0.02, 0.1)
    assert 0.02 <= settled.low <= settled.value <= settled.high <= 0.1 + 1e-12


def test_tiny_ranges_are_honoured():
    settled = settle_prior("0.0001..0.002", replace(evidence(0.3), ranks=np.linspace(0.0, 0.001, 30)))
    assert 0.0001 <= settled.low < settled.value < settled.high <= 0.002
    assert settled.bounds == (0.0001, 0.002)


def test_the_interval_holds_the_value():
    given = evidence(0.7, apart=4.0)
    settled = settle_prior("auto", given)
    assert settled.value == 0.5
    assert settled.low <= settled.value <= settled.high


def test_a_number_is_taken_as_it_is():
    assert settle_prior(0.7, evidence(0.3)) == Prior.given(0.7)


@pytest.mark.parametrize("ranks", [np.empty(0), np.array([0.1]), np.full(8, 0.5)])
def test_without_ranks_the_prior_is_assumed(ranks):
    given = replace(evidence(0.3), ranks=ranks)
    assert settle_prior("auto", given).source == "assumed"
    assert settle_prior("auto", given).value == 0.1
    assert 0.02 < settle_prior("0.02..0.4", given).value < 0.4


def test_estimates_stay_at_one_half_at_most():
    assert settle_prior("auto", evidence(0.3, apart=0.0)).value == 0.5


def test_words_say_where_it_comes_from_and_how_sure_it_is():
    assert "taken as given: 30 %" in prior_words(Prior(0.3, 0.3, 0.3, "given"), 12)
    assert "is unknown before checks; 12 % is used in training, the share with the highest expected F1" in prior_words(
        Prior(0.12, 0.03, 0.4, "estimated"), 12
    )
    by_chance = prior_words(Prior(0.5, 0.01, 0.9, "estimated"), 12, signal=False)
    assert by_chance.startswith("The 12 known positives, hidden in turn, rank no better than by chance")
    assert "About 12 %" in prior_words(Prior(0.12, 0.09, 0.2, "range"), 12)
    assert "cannot be estimated from fewer than two hidden positives; 10 % is assumed" in prior_words(
        Prior(0.1, 1e-5, 0.93, "assumed"), 1
    )
    assert "all nodes have the same score" in prior_words(Prior(0.1, 1e-5, 0.93, "assumed"), 9)
