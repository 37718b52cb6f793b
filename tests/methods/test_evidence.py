import numpy as np
import pytest
import torch

from pugnn.methods.evidence import (
    MOST_PRIOR,
    UNKNOWN_PRIOR,
    KnownPositives,
    advantage,
    deal_folds,
    estimate_prior,
    hidden_ranks,
    prior_note,
)

RNG = np.random.default_rng(0)


def test_folds_are_of_one_size_and_seeded():
    folds = deal_folds(13, seed=3)
    assert sorted(np.bincount(folds)) == [2, 2, 3, 3, 3]
    assert (deal_folds(13, seed=3) == folds).all()
    assert (deal_folds(13, seed=4) != folds).any()
    assert sorted(deal_folds(3, seed=0)) == [0, 1, 2]
    assert deal_folds(1, seed=0).tolist() == [0]


def test_hidden_ranks_count_the_unlabelled_nodes_above():
    scores = RNG.integers(0, 6, (30, 3)).astype(np.float32)  # with ties
    labelled, unlabelled = np.arange(5), np.arange(5, 30)
    folds = np.array([0, 1, 2, 0, 1])
    expected = []
    for node, fold in zip(labelled, folds, strict=True):
        above = sum(scores[u, fold] > scores[node, fold] for u in unlabelled)
        equal = sum(scores[u, fold] == scores[node, fold] for u in unlabelled)
        expected.append((above + equal / 2) / 25)
    found = hidden_ranks(torch.from_numpy(scores), torch.from_numpy(labelled), torch.from_numpy(unlabelled), folds)
    assert found == pytest.approx(expected)


def test_contrasts_are_differences_of_means_without_the_hidden_fold():
    rows = torch.from_numpy(RNG.normal(size=(12, 4)).astype(np.float32))
    known = KnownPositives(torch.tensor([1, 4, 6, 9]), torch.tensor([0, 2, 3]), np.array([0, 1, 1, 2]))
    contrasts = known.contrasts(rows)
    assert contrasts.shape == (4, 1 + 3)
    for column, hidden in enumerate([[], [1], [4, 6], [9]]):
        seen = [node for node in (1, 4, 6, 9) if node not in hidden]
        expected = sum(rows[node] for node in seen) / len(seen) - sum(rows) / 12
        assert contrasts[:, column].numpy() == pytest.approx(expected.numpy(), abs=1e-6)


def test_a_single_known_positive_is_never_hidden():
    known = KnownPositives(torch.tensor([2]), torch.tensor([0, 1]), deal_folds(1, 0))
    assert known.turns == 0
    assert known.memberships().tolist() == [[1.0]]
    assert len(known.hidden_ranks(torch.zeros(3, 0))) == 0


def test_advantage_is_a_shrunk_t_statistic():
    ranks, others = RNG.random(8), RNG.random(8)
    gains = [other - rank for rank, other in zip(ranks, others, strict=True)]
    mean = sum(gains) / 8
    variance = sum((gain - mean) ** 2 for gain in gains)  # 7 times the sample's variance
    pooled = (variance + 4 * 0.15**2) / (7 + 4)
    assert advantage(ranks, others) == pytest.approx(8 / 18 * mean / (pooled / 8) ** 0.5)
    assert advantage(others, ranks) == pytest.approx(-advantage(ranks, others))


def test_a_few_hidden_positives_that_agree_say_little():
    assert advantage(np.full(3, 0.1), np.full(3, 0.3)) < 1.0
    assert advantage(np.full(100, 0.1), np.full(100, 0.3)) > 10.0
    assert advantage(np.array([0.1]), np.array([0.9])) == 0.0
    assert advantage(np.full(30, 0.2), np.full(30, 0.2)) == 0.0


@pytest.mark.parametrize("prior", [0.05, 0.2, 0.4])
def test_the_prior_of_a_perfect_ranking_is_found(prior):
    estimates = [estimate_prior(np.random.default_rng(seed).random(100) * prior) for seed in range(50)]
    assert np.mean(estimates) == pytest.approx(prior, rel=0.15)


def test_the_prior_is_the_smallest_bound():
    ranks = np.array([0.3, 0.01, 0.5, 0.2, 0.9, 0.05])
    bounds = []
    for k, rank in enumerate(sorted(ranks), start=1):
        if k >= 3:  # half of six
            bounds.append(rank * 7 / k)
    assert estimate_prior(ranks) == pytest.approx(min(bounds))


def test_the_prior_stays_within_bounds():
    assert estimate_prior(np.full(20, 0.9)) == MOST_PRIOR
    assert estimate_prior(np.zeros(20)) == 0.005
    assert estimate_prior(np.array([0.3])) == UNKNOWN_PRIOR
    assert estimate_prior(np.empty(0)) == UNKNOWN_PRIOR


def test_a_note_tells_where_the_prior_comes_from():
    ranks = np.full(12, 0.1)
    assert "taken as given: 0.3" in prior_note(0.3, 0.3, ranks)
    assert "estimated at 0.12, from the ranks of 12 known positives" in prior_note(0.12, None, ranks)
    assert "0.1 is assumed" in prior_note(0.1, None, np.empty(0))


def test_known_negatives_move_what_positives_are_compared_with():
    rows = torch.from_numpy(RNG.normal(size=(12, 4)).astype(np.float32))
    negative = torch.tensor([5, 7, 8, 10, 11])
    known = KnownPositives(torch.tensor([1, 4]), torch.tensor([0, 2, 3]), np.array([0, 1]), negative)
    share = 0.5 * 5 / (5 + 10)
    for column, seen in enumerate([[1, 4], [4], [1]]):
        mean = sum(rows[node] for node in seen) / len(seen)
        rest = (1 - share) * sum(rows) / 12 + share * sum(rows[node] for node in (5, 7, 8, 10, 11)) / 5
        assert known.contrasts(rows)[:, column].numpy() == pytest.approx((mean - rest).numpy(), abs=1e-6)


@pytest.mark.parametrize(("count", "share"), [(0, 0.0), (1, 1 / 22), (10, 0.25), (10_000, 0.4995005)])
def test_few_known_negatives_hardly_count_and_many_never_more_than_all_nodes(count, share):
    known = KnownPositives(torch.tensor([0]), torch.tensor([1]), np.zeros(1, np.int64), torch.arange(count))
    assert known.negative_share == pytest.approx(share)


def test_rankings_are_not_judged_by_confirmed_finds():
    labelled, unlabelled = torch.arange(4), torch.arange(4, 12)
    folds, confirmed = np.array([0, 1, 0, 1]), np.array([False, True, True, False])
    scores = torch.from_numpy(RNG.random((12, 2)))
    every = KnownPositives(labelled, unlabelled, folds).hidden_ranks(scores)
    found = KnownPositives(labelled, unlabelled, folds, confirmed=confirmed).hidden_ranks(scores)
    assert found.tolist() == [every[0], every[3]]
