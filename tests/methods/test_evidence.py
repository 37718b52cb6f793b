import numpy as np
import pytest
import torch

from pugnn.methods.evidence import (
    KnownPositives,
    advantage,
    deal_folds,
    hidden_ranks,
)
from pugnn.models.views.rows import Rows

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
    contrasts = known.contrasts(Rows.of(rows))
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


def test_known_negatives_move_what_positives_are_compared_with():
    rows = torch.from_numpy(RNG.normal(size=(12, 4)).astype(np.float32))
    negative = torch.tensor([5, 7, 8, 10, 11])
    known = KnownPositives(torch.tensor([1, 4]), torch.tensor([0, 2, 3]), np.array([0, 1]), negative)
    share = 0.5 * 5 / (5 + 10)
    for column, seen in enumerate([[1, 4], [4], [1]]):
        mean = sum(rows[node] for node in seen) / len(seen)
        rest = (1 - share) * sum(rows) / 12 + share * sum(rows[node] for node in (5, 7, 8, 10, 11)) / 5
        assert known.contrasts(Rows.of(rows))[:, column].numpy() == pytest.approx((mean - rest).numpy(), abs=1e-6)


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


def test_scores_are_standardised_over_the_unlabelled_nodes():
    scores = torch.from_numpy(RNG.normal(size=(12, 2)).astype(np.float32))
    scores[:, 1] = 3.0
    known = KnownPositives(torch.arange(2), torch.arange(4, 12), np.array([0, 1]))
    found = known.standardised(scores)
    values = [float(scores[node, 0]) for node in range(4, 12)]
    mean = sum(values) / 8
    deviation = (sum((value - mean) ** 2 for value in values) / 8) ** 0.5
    assert found[:, 0].tolist() == pytest.approx([(float(score) - mean) / deviation for score in scores[:, 0]])
    assert found[:, 1].tolist() == [0.0] * 12, "scores that are all equal stay equal"


def test_checked_nodes_are_ranked_as_if_nothing_were_known_about_them():
    rows = torch.from_numpy(RNG.normal(size=(14, 4)))
    labelled, unlabelled, negative = [0, 1, 2, 3], [6, 7, 8, 9, 10, 11, 12, 13], [4, 5]
    folds, confirmed = np.array([0, 1, 1, 0]), np.array([False, True, True, False])
    known = KnownPositives(torch.tensor(labelled), torch.tensor(unlabelled), folds, torch.tensor(negative), confirmed)
    expected = []
    for node, seen in ((1, [0, 3]), (2, [0, 3]), (4, labelled), (5, labelled)):  # known negatives move no contrast
        contrast = sum(rows[other] for other in seen) / len(seen) - sum(rows) / 14
        above = sum(bool(rows[other] @ contrast > rows[node] @ contrast) for other in unlabelled)
        expected.append(above / 8)
    found = known.checked(Rows.of(rows.float()))
    assert found.ranks.tolist() == pytest.approx(expected)
    assert found.positive.tolist() == [True, True, False, False]


def test_without_checked_nodes_or_folds_there_is_nothing_to_rank():
    rows = torch.from_numpy(RNG.normal(size=(6, 2)).astype(np.float32))
    two = KnownPositives(torch.arange(2), torch.arange(3, 6), np.array([0, 1]), confirmed=np.zeros(2, bool))
    assert two.checked(Rows.of(rows)) is None
    one = KnownPositives(torch.arange(1), torch.arange(3, 6), np.zeros(1, int), torch.tensor([2]), np.zeros(1, bool))
    assert one.checked(Rows.of(rows)) is None
