import json

import numpy as np
import pytest
from scipy.stats import beta

from pugnn.metrics import Hidden, Prior, RankModel, estimate
from pugnn.metrics.rank_model import Checked

RANKS = np.linspace(0.01, 0.3, 30)
PRIOR = Prior(0.3, 0.1, 0.4, "estimated")


def test_an_estimate_has_the_bands_of_the_model():
    found = estimate(Hidden(PRIOR, RANKS), unlabelled=1000, decided=250)
    model = RankModel.of(RANKS)
    assert found.decided.taken == 250
    assert (found.decided.precision, found.decided.recall) == (model.precision(0.25), model.recall(0.25))
    assert found.decided.f1 == model.f1(0.25)
    assert found.auc == model.auc()
    assert [part.taken for part in found.first] == [10, 20, 50, 100, 200, 500, 1000]
    assert found.first[3].lift == model.lift(0.1)
    assert (found.positives.value, found.positives.low, found.positives.high) == (300, 100, 400)
    assert json.loads(json.dumps(found.to_plain()))["hidden"] == {"count": 30, "median_rank": pytest.approx(0.155)}


def test_a_given_prior_is_believed():
    found = estimate(Hidden(Prior.given(0.1), RANKS), unlabelled=1000, decided=100)
    assert found.decided.precision == RankModel.of(RANKS, low=0.1, high=0.1).precision(0.1)


def test_within_a_range_all_of_it_counts_and_not_just_the_interval():
    ranged = Prior(0.15, 0.12, 0.18, "range", 0.1, 0.2)
    found = estimate(Hidden(ranged, RANKS), unlabelled=1000, decided=100)
    assert found.decided.precision == RankModel.of(RANKS, low=0.1, high=0.2).precision(0.1)


@pytest.mark.parametrize("ranks", [np.empty(0), np.array([0.2]), np.full(9, 0.5)])
def test_no_ranking_has_no_bands(ranks):
    assert estimate(Hidden(PRIOR, ranks), unlabelled=100, decided=10) is None


def test_nobody_decided_positive_has_no_precision():
    found = estimate(Hidden(PRIOR, RANKS), unlabelled=8, decided=0)
    assert found.decided is None
    assert found.first == ()
    assert len(found.headline) == 1


def test_the_headline_says_where_hidden_positives_rank():
    first, second = estimate(Hidden(PRIOR, RANKS), unlabelled=1000, decided=250).headline
    assert first == (
        "Of the 30 known positives, hidden in turn, half rank in the top 15 % of the unlabelled nodes, and 30 in the "
        "top 30 %."
    )
    assert second.startswith("Of the first 100 finds, about ")
    assert second.endswith("are expected to be positive, if the known positives are typical.")


def test_an_audit_has_a_binomial_band():
    checked = Checked(np.full(40, 0.01), np.arange(40) < 31)
    found = estimate(Hidden(PRIOR, RANKS, checked), unlabelled=1000, decided=250)
    band = found.audit.precision
    assert (found.audit.checked, found.audit.positive, band.value) == (40, 31, 31 / 40)
    assert [band.low, band.high] == pytest.approx(beta.ppf([0.05, 0.95], 31.5, 9.5))
    assert "Of 40 nodes checked, 31 are positive: " in found.headline[2]


@pytest.mark.parametrize("checked", [1, 2, 3, 10, 200])
def test_the_band_of_an_audit_holds_its_own_share(checked):
    for positive in range(checked + 1):
        right = Checked(np.full(checked, 0.01), np.arange(checked) < positive)
        band = estimate(Hidden(PRIOR, RANKS, right), unlabelled=1000, decided=250).audit.precision
        assert 0 <= band.low <= band.value == positive / checked <= band.high <= 1
        assert (band.low == 0) == (positive == 0)
        assert (band.high == 1) == (positive == checked)


def test_a_wide_interval_is_vague():
    assert not Prior(0.1, 0.06, 0.15, "estimated").vague
    assert Prior(0.1, 0.03, 0.15, "estimated").vague
    assert Prior(0.1, 0.1, 0.1, "assumed").vague
