from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

from planted import evidence
from pugnn.errors import PugnnError
from pugnn.metrics import RankModel
from pugnn.metrics.bands import Prior
from pugnn.priors import PRIORS, prior_bounds, prior_words, settle_prior


@pytest.mark.parametrize("prior", [0, 1, -0.1, 1.5, float("nan"), None, True, "1.5", "0..0.5", "0.1..1"])
def test_a_prior_lies_between_0_and_1(prior):
    with pytest.raises(PugnnError, match="must lie between 0 and 1"):
        prior_bounds(prior)


@pytest.mark.parametrize("prior", ["many", "0.1-0.2", "0.1..0.2..0.3", "..", ""])
def test_text_that_is_no_prior_is_refused(prior):
    with pytest.raises(PugnnError, match=r"must be auto, a number, or a range such as 0\.02\.\.0\.1"):
        prior_bounds(prior)


def test_a_range_upside_down_is_refused():
    with pytest.raises(PugnnError, match=r"upside down: '0.3..0.1'; write 0.1..0.3"):
        prior_bounds("0.3..0.1")


def test_the_value_is_the_mean_of_three_and_the_interval_that_of_the_model():
    given = evidence(0.2, apart=2.5)
    settled = settle_prior("auto", given)
    values = [PRIORS[name](given) for name in ("rank-model", "kernel-mean", "lowest-bound")]
    assert settled.value == pytest.approx(expit(np.mean(logit(values))))
    band = RankModel.of(given.ranks).prior()
    assert (settled.low, settled.high, settled.source) == (band.low, band.high, "estimated")
    assert settled.low < (0.2 * 1500 - 60) / 1440 < settled.high


def test_a_range_keeps_value_and_interval():
    settled = settle_prior("0.02..0.1", evidence(0.3))
    assert (settled.source, settled.least, settled.most) == ("range", 0.02, 0.1)
    assert 0.02 <= settled.low <= settled.value <= settled.high <= 0.1 + 1e-12


@pytest.mark.parametrize(("prior", "apart"), [(0.05, 4.0), (0.7, 4.0)])
def test_the_interval_holds_the_value(prior, apart):
    given = evidence(prior, apart=apart)
    band, settled = RankModel.of(given.ranks).prior(), settle_prior("auto", given)
    assert not band.low <= settled.value <= band.high, "the other estimates, or the bound, lead out of it"
    assert (settled.low, settled.high) == (min(band.low, settled.value), max(band.high, settled.value))


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
    assert "between 3 % and 40 %. 12 % is used; give a prior" in prior_words(Prior(0.12, 0.03, 0.4, "estimated"), 12)
    assert "About 12 %" in prior_words(Prior(0.12, 0.09, 0.2, "range"), 12)
    assert "cannot be estimated from fewer than two hidden positives; 10 % is assumed" in prior_words(
        Prior(0.1, 0.004, 0.93, "assumed"), 1
    )
    assert "all nodes have the same score" in prior_words(Prior(0.1, 0.004, 0.93, "assumed"), 9)
