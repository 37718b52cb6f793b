from itertools import product

import numpy as np
import pytest

from pugnn.evidence.paired import compare_ranks

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("weights", [None, RNG.random(8) + 0.1])
def test_p_by_plain_loops(weights):
    ranks, others = RNG.random(8), RNG.random(8)
    verdict = compare_ranks(("a", "b"), ranks, others, 500, weights)
    gains = [np.log(b + 1 / 500) - np.log(a + 1 / 500) for a, b in zip(ranks, others, strict=True)]
    counts = [1.0] * 8 if weights is None else weights.tolist()
    mean = sum(g * w for g, w in zip(gains, counts, strict=True)) / sum(counts)
    as_far = 0
    for signs in product((-1, 1), repeat=8):
        flipped = sum(s * g * w for s, g, w in zip(signs, gains, counts, strict=True)) / sum(counts)
        as_far += abs(flipped) >= abs(mean) - 1e-12
    assert verdict.p == pytest.approx(as_far / 2**8, abs=0.015)
    assert verdict.gain == pytest.approx(np.exp(mean))
    assert verdict.higher == (sum(g > 0 for g in gains), sum(g < 0 for g in gains))


def test_the_one_that_ranks_higher_is_better_whichever_is_first():
    low, high = np.full(10, 0.3), np.full(10, 0.05)
    assert compare_ranks(("a", "b"), high, low, 100).better == "a"
    verdict = compare_ranks(("a", "b"), low, high, 100)
    assert verdict.better == "b"
    assert verdict.words.startswith("b ranks 10 of 10 hidden positives higher than a")


@pytest.mark.parametrize(("ranks", "others"), [([0.1, 0.2], [0.2, 0.4]), ([0.1] * 9, [0.1] * 9)])
def test_few_or_equal_ranks_give_no_verdict(ranks, others):
    verdict = compare_ranks(("a", "b"), np.array(ranks), np.array(others), 100)
    assert verdict.better is None
    assert "no verdict" in verdict.words


def test_chance_gives_few_verdicts():
    wrong = sum(compare_ranks(("a", "b"), RNG.random(20), RNG.random(20), 1000).better is not None for _ in range(200))
    assert wrong <= 20
