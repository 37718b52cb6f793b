import itertools
import math

import numpy as np
import pytest
from scipy.stats import wilcoxon

from pugnn_paper.statistics import average_ranks, compare, holm, mean_and_deviation


def keyed(values):
    return dict(enumerate(values))


def test_mean_and_deviation_of_the_sample():
    assert mean_and_deviation([2.0, 4.0, 4.0, 6.0]) == (4.0, pytest.approx(math.sqrt(8 / 3)))


def test_one_value_has_no_deviation():
    mean, deviation = mean_and_deviation([7.0])
    assert mean == 7.0
    assert math.isnan(deviation)


def test_p_is_the_share_of_sign_patterns_at_least_as_extreme():
    differences = [1.0, -2.0, 3.0, 4.0, 5.0, 6.5, 7.0]  # their ranks are 1 to 7; the negative ones sum to 2
    patterns = itertools.product((0, 1), repeat=7)
    sums = [sum(rank for rank, sign in zip(range(1, 8), pattern, strict=True) if sign) for pattern in patterns]
    expected = 2 * sum(total <= 2 for total in sums) / 2**7
    paired = compare(keyed(80 + d for d in differences), keyed([80.0] * 7))
    assert paired.p == pytest.approx(expected)
    assert (paired.wins, paired.ties, paired.losses, paired.direction) == (6, 0, 1, 1)


def test_p_is_scipys_and_only_common_draws_count():
    rng = np.random.default_rng(3)
    first, second = rng.normal(70, 3, 12), rng.normal(72, 3, 12)
    paired = compare({**keyed(first), 50: 0.0}, {**keyed(second), 60: 99.0})
    assert paired.p == pytest.approx(wilcoxon(first, second).pvalue)
    assert paired.wins + paired.losses == 12
    assert compare(keyed(second), keyed(first)).p == paired.p


def test_direction_follows_the_ranks_and_not_the_count():
    # Four small wins have the ranks 1 to 4, three large losses 5 to 7.
    paired = compare(keyed([0.1, 0.2, 0.3, 0.4, -5.0, -6.0, -7.0]), keyed([0.0] * 7))
    assert (paired.wins, paired.losses, paired.direction) == (4, 3, -1)


def test_equal_rows_and_few_pairs():
    same = keyed([70.0] * 6)
    assert compare(same, same) == compare(keyed([1.0] * 6), keyed([1.0] * 6))
    assert compare(same, same).p == 1.0
    assert compare(same, same).ties == 6
    assert compare(keyed([2.0] * 5), keyed([1.0] * 5)).p is None
    assert compare(keyed([2.0] * 6), keyed([1.0] * 6)).p == pytest.approx(2 / 2**6)


def test_holm_by_hand():
    # Sorted: 0.005·4, 0.01·3, 0.03·2 and 0.04·1, none below the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([None, 0.02, None]) == [None, 0.02, None]
    assert holm([]) == []


@pytest.mark.parametrize("seed", range(5))
def test_holm_rejects_what_the_step_down_procedure_rejects(seed):
    p_values = np.random.default_rng(seed).uniform(0, 0.1, 6)
    rejected = set()
    for step, place in enumerate(np.argsort(p_values)):
        if p_values[place] >= 0.05 / (6 - step):
            break
        rejected.add(int(place))
    assert {place for place, p in enumerate(holm(list(p_values))) if p < 0.05} == rejected


def test_average_ranks_share_ties_and_skip_incomplete_blocks():
    ranks, blocks = average_ranks(
        {
            "a": {"x": 3.0, "y": 5.0, "only a": 100.0},
            "b": {"x": 2.0, "y": 5.0},
            "c": {"x": 1.0, "y": 9.0},
        }
    )
    assert blocks == 2
    assert ranks == {"a": (1 + 2.5) / 2, "b": (2 + 2.5) / 2, "c": (3 + 1) / 2}


def test_ranks_without_a_common_block():
    assert average_ranks({"a": {0: 1.0}, "b": {1: 1.0}}) == ({}, 0)
    assert average_ranks({}) == ({}, 0)
