import numpy as np
import pytest

from pugnn.explain.parts import largest, smallest_change


def linear(total, contributions):
    return lambda some: total - contributions[some].sum()


def test_the_fewest_parts_are_taken_largest_first():
    parts = np.array([0.1, 2.0, -3.0, 1.5, 0.2])
    taken, after = smallest_change(3.0, 0.0, parts, linear(3.0, parts))
    assert taken.tolist() == [1, 3]
    assert after == pytest.approx(-0.5)


def test_what_speaks_against_is_taken_from_a_total_below_the_limit():
    parts = np.array([5.0, -0.5, -1.0])
    taken, after = smallest_change(-0.7, 0.0, parts, linear(-0.7, parts))
    assert (taken.tolist(), after) == ([2], pytest.approx(0.3))


def test_the_total_is_computed_anew_and_not_taken_from_the_contributions():
    parts = np.ones(10)
    taken, after = smallest_change(3.0, 0.0, parts, lambda some: 3.0 - 0.5 * len(some))
    assert (len(taken), after) == (7, -0.5)


@pytest.mark.parametrize("parts", [np.array([0.1, 0.2]), np.zeros(3), np.zeros(0), np.full(500, 0.01)])
def test_there_may_be_no_change(parts):
    assert smallest_change(3.0, 0.0, parts, linear(3.0, parts)) is None


@pytest.mark.parametrize("limit", [-np.inf, np.inf])
def test_a_threshold_that_all_or_none_reach_cannot_be_crossed(limit):
    assert smallest_change(3.0, limit, np.array([2.0, -2.0]), linear(3.0, np.array([2.0, -2.0]))) is None


def test_the_first_of_many_by_plain_sorting():
    values = np.random.default_rng(0).integers(0, 5, 50).astype(float)
    expected = sorted(range(50), key=lambda at: -values[at])
    for count in (1, 7, 50, 80):
        assert largest(values, count).tolist() == expected[:count]
