from dataclasses import replace

import numpy as np
import pytest

from dense_views import side_by_side
from pugnn.evidence.hidden_positives import FoldedTask, deal_folds, evidence_for, ranks_among
from pugnn.graph import Graph
from pugnn.task import PUTask
from pugnn.views import Attributes, views_of

RNG = np.random.default_rng(0)
WORDS = (RNG.random((14, 5)) < 0.4).astype(np.float32)
GRAPH = Graph.from_edges(*RNG.integers(0, 14, (2, 25)), num_nodes=14, features=WORDS)


def known_nodes(labelled, folds, *, negative=(), confirmed=(), unlabelled=None) -> FoldedTask:
    rest = np.setdiff1d(np.arange(14), [*labelled, *negative]) if unlabelled is None else unlabelled
    task = PUTask(GRAPH, np.array(labelled), np.array(rest))
    task = replace(task, negative=np.array(negative, np.int64), confirmed=np.array(confirmed, np.int64))
    return FoldedTask(task, np.array(folds))


def test_folds_are_of_one_size_and_seeded():
    folds = deal_folds(13, seed=3)
    assert sorted(np.bincount(folds)) == [2, 2, 3, 3, 3]
    assert (deal_folds(13, seed=3) == folds).all()
    assert (deal_folds(13, seed=4) != folds).any()
    assert sorted(deal_folds(3, seed=0)) == [0, 1, 2]
    assert deal_folds(1, seed=0).tolist() == [0]


def test_ranks_count_what_is_above():
    scores, free = RNG.integers(0, 6, 5).astype(np.float32), RNG.integers(0, 6, 25).astype(np.float32)  # with ties
    expected = []
    for score in scores:
        above, equal = sum(other > score for other in free), sum(other == score for other in free)
        expected.append((above + equal / 2) / 25)
    assert ranks_among(scores, free) == pytest.approx(expected)


def test_every_known_positive_is_ranked_by_scores_that_did_not_know_it():
    known = known_nodes([0, 1, 2, 3], [0, 1, 0, 1], negative=[4, 5], confirmed=[1])
    scores = RNG.random((14, 2))
    free = range(6, 14)
    expected = [
        sum(scores[other, fold] > scores[node, fold] for other in free) / 8
        for node, fold in ((0, 0), (2, 0), (3, 1))  # rankings are not judged by confirmed finds
    ]
    assert known.rank_hidden(scores).ranks.tolist() == expected


def test_a_single_known_positive_is_never_hidden():
    one = known_nodes([2], deal_folds(1, 0), negative=[4])
    assert one.turns == 0
    assert one.seen.tolist() == [[1.0]]
    assert len(one.rank_hidden(np.zeros((14, 0))).ranks) == 0


def test_contrasts_are_differences_of_means_without_the_hidden_fold():
    negative = [5, 7, 8, 10, 11]
    known = known_nodes([1, 4, 6], [0, 1, 1], negative=negative)
    rows, share = side_by_side(GRAPH), 0.5 * 5 / (5 + 10)
    contrasts = known.contrasts(views_of(GRAPH, Attributes.of(GRAPH))).reshape(-1, 3)
    for column, seen in enumerate([[1, 4, 6], [4, 6], [1]]):
        mean = sum(rows[node] for node in seen) / len(seen)
        rest = (1 - share) * sum(rows) / 14 + share * sum(rows[node] for node in negative) / 5
        assert contrasts[:, column] == pytest.approx(mean - rest, abs=1e-6)


def test_targets_of_known_nodes_and_of_nodes_outside():
    known = known_nodes([1, 4], [0, 1], negative=[5], unlabelled=np.arange(6, 13))
    special, positive, counts = known.targets()
    assert special.tolist() == [1, 4, 5, 0, 2, 3, 13]
    assert positive[:, 0].tolist() == [1, 1, 0, 0, 0, 0, 0]
    share = 0.5 * 1 / 11
    each = share / (1 - share) * 7  # together, the known negatives are this share of what is not positive
    assert counts.tolist() == [[1, 0, 1], [1, 1, 0], pytest.approx([each, each, each]), *(4 * [[0, 0, 0]])]


@pytest.mark.parametrize(("count", "share"), [(0, 0.0), (1, 1 / 22), (10, 0.25)])
def test_few_known_negatives_hardly_count(count, share):
    known = known_nodes([0], [0], negative=range(1, count + 1))
    assert known.negative_share == pytest.approx(share)


def test_evidence_for_is_a_shrunk_t_statistic():
    ranks, others = RNG.random(8), RNG.random(8)
    gains = [np.log(other + 0.1) - np.log(rank + 0.1) for rank, other in zip(ranks, others, strict=True)]
    mean = sum(gains) / 8
    variance = sum((gain - mean) ** 2 for gain in gains)  # 7 times the sample's variance
    pooled = (variance + 4 * 0.5**2) / (7 + 4)
    assert evidence_for(ranks, others, 0.1) == pytest.approx(8 / 18 * mean / (pooled / 8) ** 0.5)
    assert evidence_for(others, ranks, 0.1) == pytest.approx(-evidence_for(ranks, others, 0.1))


def test_a_few_hidden_positives_that_agree_say_little():
    assert evidence_for(np.full(3, 0.1), np.full(3, 0.3), 0.1) < 1.0
    assert evidence_for(np.full(100, 0.1), np.full(100, 0.3), 0.1) > 10.0
    assert evidence_for(np.array([0.1]), np.array([0.9]), 0.1) == 0.0
    assert evidence_for(np.full(30, 0.2), np.full(30, 0.2), 0.1) == 0.0


def test_the_top_counts_where_positives_are_rare_and_what_is_found_anyway_does_not():
    first, second = np.array([0.0005, 0.3] * 20), np.array([0.01, 0.25] * 20)
    assert evidence_for(first, second, 0.001) > 1
    assert evidence_for(first, second, 0.4) < 0
