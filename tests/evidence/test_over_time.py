from itertools import combinations
from math import comb

import numpy as np
import pytest

from pugnn.errors import PugnnError
from pugnn.evidence.over_time import over_time

NODES = np.arange(13)
MOMENTS = {"as_of": "2025-06-30", "then": "2025-12-31"}


def over(later, **more):
    """Node 12 is known; the others are ranked from 0 to 11."""
    return over_time(-NODES.astype(float), NODES[12:], NODES[:12], np.array(later), **MOMENTS, **more)


def test_counts_and_ranks_by_hand():
    found = over([1, 3, 11, 12])
    assert (found.known, found.unlabelled, found.became_known, found.absent) == (1, 12, 3, 0)
    assert (found.mean_rank, found.median_rank, found.random_rank) == (6.0, 4.0, 6.5)  # ranks 2, 4 and 12
    (first,) = found.beginnings
    assert (first.nodes, first.found) == (10, 2)
    assert (first.precision.value, first.recall.value) == (0.2, 2 / 3)
    assert first.lift.value == pytest.approx(0.2 / (3 / 12))


def test_the_chance_of_as_many_is_counted_over_all_orders():
    (first,) = over([1, 3, 11]).beginnings
    orders = list(combinations(range(12), 3))  # places of those that became known
    as_many = sum(sum(place < 10 for place in places) >= 2 for places in orders)
    assert first.chance == pytest.approx(as_many / len(orders))


def test_intervals_are_exact():
    precision = over([1, 3, 11]).beginnings[0].precision

    def at_least(count, share):
        return sum(comb(10, k) * share**k * (1 - share) ** (10 - k) for k in range(count, 11))

    assert at_least(2, precision.low) == pytest.approx(0.05)
    assert 1 - at_least(3, precision.high) == pytest.approx(0.05)


def test_ties_are_broken_at_random():
    scores = np.zeros(1000)
    means = [
        over_time(scores, NODES[:0], np.arange(1000), np.arange(10), **MOMENTS, seed=seed).mean_rank
        for seed in range(30)
    ]
    assert abs(np.mean(means) - 500.5) < 60


def test_it_says_what_was_not_there():
    assert over([1], absent=4).sentences[-1].startswith("4 more became known, but did not exist as of 2025-06-30")
    with pytest.raises(PugnnError, match="no positive became known between 2025-06-30 and 2025-12-31, besides 2 nodes"):
        over([12], absent=2)
