import math

import numpy as np

from pugnn.checkup.chance import (
    CONTROLS,
    MAX_KNOWN,
    SHUFFLES,
    STRATUM_RATIO,
    chance_of_more,
    degree_strata,
    draw_crowd,
    pair_sums,
)


def test_a_stratum_holds_nearly_equal_degrees():
    degrees = np.arange(2000)
    strata = degree_strata(degrees)
    assert strata[0] == 0
    assert (np.diff(strata) >= 0).all()
    for stratum in np.unique(strata[1:]):
        members = degrees[strata == stratum]
        assert members.max() <= members.min() * STRATUM_RATIO + 1e-9


def test_shuffles_stay_within_strata_and_the_first_row_is_the_truth():
    rng = np.random.default_rng(0)
    degrees = rng.integers(0, 30, 500)
    labelled = np.sort(rng.choice(500, 20, replace=False))
    crowd = draw_crowd(degrees, labelled, rng)
    assert crowd.labels.shape == (1 + SHUFFLES, len(crowd.nodes))
    assert sorted(crowd.nodes[: crowd.known]) == labelled.tolist()
    assert len(np.unique(crowd.nodes)) == len(crowd.nodes) <= 20 * (1 + CONTROLS)
    assert crowd.labels[0].tolist() == [1] * 20 + [0] * (len(crowd.nodes) - 20)
    strata = degree_strata(degrees)[crowd.nodes]
    counts = [np.bincount(strata, row).tolist() for row in crowd.labels]
    assert all(count == counts[0] for count in counts)
    assert 0.05 < crowd.labels[1:, :20].mean() < 0.2  # known ones are as likely as their controls


def test_of_very_many_known_positives_some_are_drawn():
    crowd = draw_crowd(np.full(1000, 3), np.arange(900), np.random.default_rng(0))
    assert crowd.known == MAX_KNOWN
    assert len(crowd.nodes) == MAX_KNOWN + 100  # no more nodes are left as controls


def test_sums_run_over_pairs_of_different_nodes():
    rng = np.random.default_rng(1)
    crowd = draw_crowd(np.full(12, 2), np.array([0, 3, 5]), rng)
    weights = rng.random((len(crowd.nodes), len(crowd.nodes))).astype(np.float32)
    weights += weights.T
    sums = pair_sums(crowd, weights)
    for row in (0, 1, 7):
        chosen = np.flatnonzero(crowd.labels[row])
        plain = sum(float(weights[i, k]) for i in chosen for k in chosen if i != k)
        assert math.isclose(sums[row], plain, rel_tol=1e-4)


def test_chance_counts_the_truth_itself():
    assert chance_of_more(np.array([9.0, 1, 2, 3])) == 0.25
    assert chance_of_more(np.array([2.0, 1, 2, 3])) == 0.75
