from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.stats import hypergeom

from pugnn.evidence.checked_sample import CheckedSample
from pugnn.evidence.measured import (
    calibrated,
    checks_to_settle,
    foreseen,
    measure_checks,
)
from pugnn.evidence.rank_model import Band

NOBODY = np.zeros(0, np.int64)


def sample_of(edges, drawn, positive, others=(), others_positive=()):
    return CheckedSample(
        np.array(edges),
        np.array(drawn, np.int64),
        np.array(positive, dtype=bool),
        np.array(others, np.int64),
        np.array(others_positive, dtype=bool),
    )


@pytest.mark.parametrize(("size", "checked", "found"), [(40, 10, 3), (40, 10, 0), (25, 7, 7), (300, 12, 5)])
def test_limits_of_one_stretch_are_those_of_clopper_and_pearson(size, checked, found):
    low = min(k for k in range(size + 1) if hypergeom.sf(found - 1, size, k, checked) > 0.05)
    high = max(k for k in range(size + 1) if hypergeom.cdf(found, size, k, checked) > 0.05)
    sample = sample_of([0, size], range(checked), [True] * found + [False] * (checked - found))
    measured = measure_checks(sample, decided=0).positives
    slack = max(1, 0.02 * size)  # the distributions are drawn from
    assert measured.low == pytest.approx(low, abs=slack)
    assert measured.high == pytest.approx(high, abs=slack)
    assert measured.value == pytest.approx(size * found / checked)


def test_intervals_hold_over_all_samples_of_two_stretches():
    positive = np.array([1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0], dtype=bool)
    inside = {"count": [], "first": [], "recall": [], "f1": []}
    values = []
    for top in combinations(range(5), 2):
        for rest in combinations(range(5, 12), 2):
            drawn = [*top, *rest]
            measured = measure_checks(sample_of([0, 5, 12], drawn, positive[drawn]), decided=5)
            values.append(measured.positives.value)
            truth = {"count": 5, "first": 0.5, "recall": 0.8, "f1": 0.8}
            bands = {
                "count": measured.positives,
                "first": measured.first[0].precision,
                "recall": measured.decided.recall,
                "f1": measured.decided.f1,
            }
            for name, band in bands.items():
                inside[name].append(band.low - 1e-9 <= truth[name] <= band.high + 1e-9)
    assert np.mean(values) == pytest.approx(5, abs=0.15), "unbiased, but for the clipping to the ends"
    for name, found in inside.items():
        assert np.mean(found) >= 0.9, name


def test_what_was_checked_entirely_is_known():
    sample = sample_of([0, 6], [0, 1, 2, 3, 4, 5], [1, 1, 0, 1, 0, 0])
    measured = measure_checks(sample, decided=3)
    assert (measured.positives.low, measured.positives.value, measured.positives.high) == (3, 3, 3)
    assert measured.decided.precision.low == measured.decided.precision.high == pytest.approx(2 / 3)
    assert measured.decided.recall.value == pytest.approx(2 / 3)


def test_nodes_that_were_not_drawn_are_known_but_no_sample():
    edges, drawn, positive = [0, 20, 100], [3, 9, 15, 40, 60, 80], [1, 0, 1, 0, 0, 0]
    before = measure_checks(sample_of(edges, drawn, positive), decided=20).positives
    others = [0, 1, 2, 4, 5]
    after = measure_checks(sample_of(edges, drawn, positive, others, [1] * 5), decided=20).positives
    assert after.low >= 7, "all confirmed ones are positive"
    assert after.low >= before.low
    assert after.value > before.value, "right answers do not lower the number"
    rates = [2 / 3, 0.0]
    assert after.value == pytest.approx(5 + 2 + (20 - 5 - 3) * rates[0])


def test_a_stretch_without_checks_may_hold_anything():
    measured = measure_checks(sample_of([0, 10, 100], [0, 1, 2], [1, 1, 1]), decided=10).positives
    assert measured.low <= 10
    assert measured.high == 100


def test_hidden_positives_narrow_the_number_and_never_beyond_the_exact_interval():
    edges, drawn = [0, 30, 100, 1000], [2, 8, 15, 22, 35, 50, 70, 90, 200, 400, 600, 900]
    sample = sample_of(edges, drawn, [1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    ranks = np.array([0.005, 0.01, 0.012, 0.02, 0.025, 0.028, 0.04, 0.06, 0.09, 0.3])
    exact = measure_checks(sample, decided=30)
    narrowed = measure_checks(sample, decided=30, ranks=ranks)
    assert narrowed.narrowed
    assert not exact.narrowed
    for name in ("recall", "f1"):
        wide, narrow = getattr(exact.decided, name), getattr(narrowed.decided, name)
        assert wide.low <= narrow.low <= narrow.value <= narrow.high <= wide.high
    wide, narrow = exact.positives, narrowed.positives
    assert wide.low <= narrow.low <= narrow.value <= narrow.high <= wide.high
    assert narrow.high - narrow.low < 0.7 * (wide.high - wide.low)
    assert exact.decided.precision == narrowed.decided.precision, "precision is measured by checks alone"


def test_nothing_is_narrowed_where_checks_and_hidden_positives_disagree():
    drawn = [*range(0, 30, 3), *range(30, 1000, 50)]
    sample = sample_of([0, 30, 1000], drawn, [1] * 10 + [0] * 20)  # all at the top
    found = measure_checks(sample, decided=30, ranks=np.full(100, 0.9))
    assert not found.narrowed
    assert "disagree" in found.why_not_narrowed
    assert found.positives == measure_checks(sample, decided=30).positives


def test_the_model_by_plain_loops():
    """One stretch: the shape is 1, and levels are alike on a log scale."""
    sample = sample_of([0, 50], range(10), [1] * 4 + [0] * 6)
    draws = sample.cells().modelled(np.array([0.1, 0.5]))[:, 0]
    levels = np.geomspace(4, 50, 160)
    weights = [(level / 50) ** 4 * max(1 - level / 50, 1e-6) ** 6 for level in levels]
    expected = sum(weight * (4 + 40 * level / 50) for weight, level in zip(weights, levels, strict=True)) / sum(weights)
    assert draws.mean() == pytest.approx(expected, rel=0.03)


def test_more_checks_narrow_what_is_foreseen():
    sample = sample_of([0, 100, 1000], [*range(0, 100, 10), *range(100, 1000, 90)], [1, 0] * 10)
    now, later = foreseen(sample, 20, 100)
    top = next(each for each in measure_checks(sample, decided=0).first if each.taken == 100).precision
    assert now == pytest.approx((top.high - top.low) / 2)
    assert 0.4 * now < later < 0.85 * now


def test_checks_that_would_settle_the_tail():
    sample = sample_of([0, 100, 10_100], range(0, 100, 10), [1] * 5 + [0] * 5)
    measured = measure_checks(sample, decided=100)
    wanted = checks_to_settle(sample, measured)
    share = measured.positives.value / 10_000
    assert (1 - share) ** wanted <= 0.05 < (1 - share) ** (wanted - 1)


@pytest.mark.parametrize("ranks", [None, np.array([0.01, 0.02, 0.05, 0.2])])
def test_calibrated_probabilities_never_rise_and_hold_on_average(ranks):
    rng = np.random.default_rng(0)
    share = np.interp(np.log(np.arange(1, 2001)), np.log([1, 100, 1000, 2000]), [0.95, 0.7, 0.1, 0.02])
    positive = rng.random(2000) < share
    edges = [0, 30, 100, 300, 1000, 2000]
    drawn = np.concatenate([rng.choice(np.arange(a, b), 16, replace=False) for a, b in pairwise(edges)])
    values = calibrated(sample_of(edges, drawn, positive[drawn]), ranks)
    unchecked = np.setdiff1d(np.arange(2000), drawn)
    assert (np.diff(values[unchecked]) <= 1e-12).all()
    assert (values[drawn] == positive[drawn]).all(), "what was checked is known"
    assert abs(values.sum() - positive.sum()) < 0.5 * positive.sum()
    for first, last in pairwise(edges):  # what is expected of stretches does not depend on the line within them
        found = positive[drawn[(drawn >= first) & (drawn < last)]].sum()
        if ranks is None:
            inside = np.setdiff1d(np.arange(first, last), drawn)
            assert values[inside].mean() == pytest.approx((found + 0.5) / 17, abs=0.1)


@pytest.mark.parametrize(("low", "high", "unknown"), [(0.2, 0.69, False), (0.2, 0.71, True)])
def test_wide_intervals_are_unknown(low, high, unknown):
    measured = measure_checks(sample_of([0, 100], range(10), [1] * 5 + [0] * 5), decided=10)
    assert measured.unknown(Band(0.5, low, high)) == unknown
    for number, of in ((Band(50, 20, 99), False), (Band(50, 10, 51), True)):
        assert replace(measured, positives=number).unknown(number) == of
