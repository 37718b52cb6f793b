import json
import math

import numpy as np
import pytest

from pugnn.evidence import HiddenRanks, Prior, RankModel, estimate
from pugnn.evidence.signal import chance, lift

RANKS = np.linspace(0.01, 0.3, 30)
PRIOR = Prior(0.3, 0.1, 0.4, "estimated")


def test_an_estimate_has_the_bands_of_the_model():
    found = estimate(HiddenRanks(PRIOR, RANKS), unlabelled=1000, decided=250)
    assert found.decided.taken == 250
    assert [part.taken for part in found.first] == [10, 20, 50, 100, 200, 500, 1000]
    model, expected = RankModel.of(RANKS, 1000), RankModel.of(RANKS, 1000, bounds=(0.3, 0.3))
    for band, measure, of in [
        (found.decided.precision, "precision", [0.25]),
        (found.decided.recall, "recall", [0.25]),
        (found.decided.f1, "f1", [0.25]),
        (found.first[3].lift, "lift", [0.1]),
        (found.auc, "auc", []),
    ]:
        whole = getattr(model, measure)(*of)
        assert (band.low, band.high) == (whole.low, whole.high)
        assert band.value == np.clip(getattr(expected, measure)(*of).value, whole.low, whole.high)
    assert (found.positives.value, found.positives.low, found.positives.high) == (300, 100, 400)
    hidden = {"count": 30, "median_rank": pytest.approx(0.155), "ranks": RANKS.tolist()}
    assert json.loads(json.dumps(found.to_plain()))["hidden"] == hidden


def test_a_given_prior_is_believed():
    found = estimate(HiddenRanks(Prior.given(0.1), RANKS), unlabelled=1000, decided=100)
    assert found.decided.precision == RankModel.of(RANKS, 1000, bounds=(0.1, 0.1)).precision(0.1)


def test_within_a_range_all_of_it_counts_and_not_just_the_interval():
    ranged = Prior(0.15, 0.12, 0.18, "range", 0.1, 0.2)
    found = estimate(HiddenRanks(ranged, RANKS), unlabelled=1000, decided=100).decided.precision
    whole = RankModel.of(RANKS, 1000, bounds=(0.1, 0.2)).precision(0.1)
    assert (found.low, found.high) == (whole.low, whole.high)


def test_values_fit_together():
    found = estimate(HiddenRanks(PRIOR, RANKS), unlabelled=1000, decided=250)
    precision, recall = found.decided.precision.value, found.decided.recall.value
    assert 250 * precision == pytest.approx(300 * recall, rel=0.05), "as many are found as there are, times recall"


@pytest.mark.parametrize("ranks", [np.empty(0), np.array([0.2]), np.full(9, 0.5)])
def test_no_ranking_has_no_bands(ranks):
    assert estimate(HiddenRanks(PRIOR, ranks), unlabelled=100, decided=10) is None


def test_the_chance_of_such_ranks():
    ranks, unlabelled = [0.02, 0.3, 0.1, 0.0], 50
    inside = [max(rank, 0.5 / unlabelled) for rank in ranks]
    z = math.sqrt(12 * 4) * (sum(inside) / 4 - 0.5)
    by_mean = 0.5 * math.erfc(-z / math.sqrt(2))
    total = -sum(math.log(rank) for rank in inside)  # half of a chi-square with 2n degrees of freedom
    by_top = math.exp(-total) * sum(total**k / math.factorial(k) for k in range(4))
    assert chance(np.array(ranks), unlabelled) == pytest.approx(4 * (1 + 4 / 10) * min(by_mean, by_top))
    assert chance(np.full(4, 0.5), unlabelled) == 1.0


def test_chance_is_rarely_taken_for_a_signal_and_a_signal_never_for_chance():
    rng = np.random.default_rng(0)
    for known in (10, 30, 100):
        by_chance = [chance(rng.random(known), 1000) <= 0.05 for _ in range(300)]
        assert np.mean(by_chance) <= 0.03
        ranks = rng.random((300, known)) ** 3  # three quarters of the nodes are below, on average
        ranks *= 0.25 / ranks.mean(axis=1, keepdims=True)
        assert all(chance(np.minimum(each, 1.0), 1000) <= 0.05 for each in ranks)
    few_at_the_top = np.concatenate([np.full(8, 0.0005), rng.random(52)])
    assert chance(few_at_the_top, 10_000) <= 0.05


def test_without_a_signal_nothing_is_claimed():
    found = estimate(HiddenRanks(PRIOR, np.linspace(0.02, 0.98, 30)), unlabelled=1000, decided=250)
    assert not found.signal
    assert found.chance == 1.0
    assert (found.positives, found.decided, found.first) == (None, None, ())
    assert found.headline == (
        "No signal: the known positives, when hidden, rank no better than by chance (p = 1).",
        "More known positives, other attributes or edges, or a check of the ids could help.",
    )
    assert "no signal (p = 1)" in repr(found)
    plain = json.loads(json.dumps(found.to_plain()))
    assert (plain["signal"], plain["chance"], plain["positives"], plain["first"]) == (False, 1.0, None, [])


def test_a_given_prior_makes_no_signal_and_few_hidden_positives_cannot_deny_one():
    even = np.linspace(0.02, 0.98, 30)
    assert not estimate(HiddenRanks(Prior.given(0.1), even), unlabelled=1000, decided=250).signal
    assert estimate(HiddenRanks(PRIOR, even[::4]), unlabelled=1000, decided=250).signal


def test_nobody_decided_positive_has_no_precision():
    found = estimate(HiddenRanks(PRIOR, RANKS), unlabelled=8, decided=0)
    assert found.decided is None
    assert found.first == ()


def test_the_headline_says_where_hidden_positives_rank():
    ranks = np.concatenate([RANKS, [0.0]])
    assert estimate(HiddenRanks(PRIOR, ranks), unlabelled=1000, decided=250).headline == (
        "Half of the 31 known positives, when hidden, rank in the top 15 %.",
        "Picking from the top 10 % of the list finds 2.1 to 5.2 times as many positives as picking at random.",
    )


def test_a_number_that_is_hardly_known_is_not_shown():
    found = estimate(HiddenRanks(PRIOR, RANKS), unlabelled=1000, decided=250)
    assert repr(found).startswith("Estimate(half of 30 hidden positives in the top 15 % of 1,000 unlabelled, AUC 0.")
    found = estimate(HiddenRanks(Prior.given(0.1), RANKS), unlabelled=1000, decided=250)
    assert "100 positives (100 to 100)" in repr(found)


@pytest.mark.parametrize(("within", "of"), [(0, 5), (3, 7), (7, 7), (10, 31)])
def test_the_lift_has_the_exact_binomial_interval(within, of):
    ranks = np.where(np.arange(of) < within, 0.05, 0.2)
    band = lift(ranks, 0.1)
    assert band.value == pytest.approx(10 * within / of)
    # With the share at an end of the interval, so few, or so many, are there in 5 of 100 cases.
    at_least = [
        math.comb(of, k) * (band.low / 10) ** k * (1 - band.low / 10) ** (of - k) for k in range(within, of + 1)
    ]
    at_most = [math.comb(of, k) * (band.high / 10) ** k * (1 - band.high / 10) ** (of - k) for k in range(within + 1)]
    assert sum(at_least) == pytest.approx(0.05 if within else 1.0)
    assert sum(at_most) == pytest.approx(0.05 if within < of else 1.0)


def test_a_wide_interval_is_vague():
    assert not Prior(0.1, 0.06, 0.15, "estimated").vague
    assert Prior(0.1, 0.03, 0.15, "estimated").vague
    assert Prior(0.1, 0.1, 0.1, "assumed").vague
