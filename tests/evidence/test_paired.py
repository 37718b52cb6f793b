from itertools import product

import numpy as np
import pytest

from pugnn.evidence.measured import CheckedSample
from pugnn.evidence.paired import AuditedPositives, best_against_rest
from pugnn.evidence.signal import LEVEL, chance

RNG = np.random.default_rng(3)
HIGH, LOW = np.full(10, 0.05), np.full(10, 0.3)


@pytest.mark.parametrize("audited", [0, 3])
def test_p_by_plain_loops(audited):
    ranks, weights = {name: RNG.random(8) for name in "abc"}, RNG.random(audited) + 0.1
    hidden = {name: each[: 8 - audited] for name, each in ranks.items()}
    verdicts = best_against_rest(hidden, 500, {name: each[8 - audited :] for name, each in ranks.items()}, weights)
    counts = [1.0] * (8 - audited) + weights.tolist()

    def mean(values):
        return sum(value * count for value, count in zip(values, counts, strict=True)) / sum(counts)

    logs = {name: [np.log(rank + 1 / 500) for rank in each] for name, each in ranks.items()}
    best, *others = sorted("abc", key=lambda name: mean(logs[name]))
    assert [verdict.names for verdict in verdicts] == [(best, other) for other in others]
    for verdict, other in zip(verdicts, others, strict=True):
        gains = [lower - higher for lower, higher in zip(logs[other], logs[best], strict=True)]
        as_far = 0
        for signs in product((-1, 1), repeat=8):
            as_far += abs(mean([sign * gain for sign, gain in zip(signs, gains, strict=True)])) >= mean(gains) - 1e-12
        assert verdict.p == pytest.approx(min(1, 2 * as_far / 2**8), abs=0.03), "twice, because of two verdicts"
        assert verdict.gain == pytest.approx(np.exp(mean(gains)))
        assert verdict.higher == (sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains))
        assert (verdict.hidden, verdict.audited) == (8 - audited, audited)
        assert verdict.signal == (chance(hidden[best], 500) <= LEVEL)


def test_the_one_that_ranks_higher_is_better_whichever_is_first():
    for ranks in ({"a": LOW, "b": HIGH}, {"b": HIGH, "a": LOW}):
        (verdict,) = best_against_rest(ranks, 100)
        assert verdict.better == "b"
        assert verdict.words.startswith("b ranks 10 of 10 hidden positives higher than a (p = 0.00")
        assert verdict.to_plain()["names"] == ["b", "a"]


@pytest.mark.parametrize(("ranks", "others"), [([0.01, 0.02], [0.2, 0.4]), ([0.1] * 9, [0.1] * 9)])
def test_few_or_equal_ranks_give_no_verdict(ranks, others):
    (verdict,) = best_against_rest({"a": np.array(ranks), "b": np.array(others)}, 100)
    assert verdict.better is None
    count = len(ranks) * (ranks != others)
    assert verdict.words.startswith(
        f"a and b: no verdict. a ranks {count} of {len(ranks)} hidden positives higher, b 0"
    )


def test_a_ranking_no_better_than_chance_is_not_preferred_to_one_that_is_worse():
    (verdict,) = best_against_rest({"a": np.full(20, 0.5), "b": np.full(20, 0.8)}, 1000)
    assert verdict.p < 0.001
    assert verdict.better is None
    assert verdict.words == "a and b: no verdict. Neither ranks hidden positives better than chance would."


def test_audited_positives_are_named_and_can_decide():
    few = {"a": HIGH[:4], "b": LOW[:4]}
    assert best_against_rest(few, 1000)[0].better is None
    (verdict,) = best_against_rest(few, 1000, {"a": HIGH[4:], "b": LOW[4:]}, np.ones(6))
    assert verdict.words.startswith("a ranks 10 of 10 positives (4 hidden, 6 audited) higher than b")


def test_what_audited_positives_stand_for():
    drawn, positive = np.array([0, 1, 4, 5, 6]), np.array([True, False, True, True, False])
    sample = CheckedSample(np.array([0, 4, 20]), drawn, positive, np.array([2, 9]), np.array([True, False]))
    ranking = np.arange(20)[::-1]
    found = AuditedPositives.of(sample, ranking)
    assert found.nodes.tolist() == [ranking[0], ranking[4], ranking[5], ranking[2]]
    # The first stretch has 3 nodes besides the one that was chosen, of which 2 were drawn; the second has 15, and 3.
    assert found.stand_for.tolist() == [1.5, 5, 5, 1]
    total, squares = 1.5 + 5 + 5 + 1, 1.5**2 + 5**2 + 5**2 + 1
    assert found.weights.tolist() == pytest.approx([each * total / squares for each in (1.5, 5, 5, 1)])


def test_an_audit_that_has_not_seen_all_of_the_ranking_is_no_sample():
    nobody, nothing = np.zeros(0, np.int64), np.zeros(0, dtype=bool)
    sample = CheckedSample(np.array([0, 4, 20]), np.array([0]), np.array([True]), nobody, nothing)
    found = AuditedPositives.of(sample, np.arange(20))
    assert len(found.nodes) == len(found.weights) == 0


def test_the_mean_over_audited_positives_is_that_over_all():
    """Whatever ranking the audit was drawn in: each positive weighs what it stands for."""
    positive, gains = RNG.random(200) < 0.4, np.linspace(2, -1, 200)
    edges, quotas = np.array([0, 20, 200]), (10, 30)
    means = []
    for _ in range(400):
        drawn = np.concatenate(
            [
                low + RNG.choice(high - low, n, replace=False)
                for low, high, n in zip(edges, edges[1:], quotas, strict=False)
            ]
        )
        sample = CheckedSample(edges, drawn, positive[drawn], np.zeros(0, np.int64), np.zeros(0, dtype=bool))
        found = AuditedPositives.of(sample, np.arange(200))
        means.append(np.average(gains[found.nodes], weights=found.weights))
    assert np.mean(means) == pytest.approx(gains[positive].mean(), abs=0.03)
