import numpy as np
import pytest

from planted import evidence, ranked
from pugnn.priors import PRIORS
from pugnn.priors.best_bin import best_bin_of_ranks


@pytest.mark.parametrize("prior", [0.1, 0.3])
@pytest.mark.parametrize("name", PRIORS)
def test_every_estimator_finds_the_prior_of_classes_that_are_apart(name, prior):
    found = [PRIORS[name](evidence(prior, seed=seed)) for seed in range(3)]
    truth = (prior * 1500 - 60) / 1440
    # Belief propagation adds neighbours of other classes.
    assert np.mean(found) == pytest.approx(truth, **({"abs": 0.06} if name == "grab" else {"rel": 0.3}))


@pytest.mark.parametrize("name", [name for name in PRIORS if name not in ("grab", "frequency-grid")])
def test_where_nothing_tells_positives_apart_the_bound_is_high(name):
    assert PRIORS[name](evidence(0.1, apart=0.0)) >= 0.45


def test_the_lowest_bound_by_hand():
    ranks = np.array([0.3, 0.01, 0.5, 0.2, 0.9, 0.05])
    bounds = [rank * 7 / k for k, rank in enumerate(sorted(ranks), start=1) if k >= 3]  # half of six
    assert PRIORS["lowest-bound"](ranked(ranks)) == pytest.approx(min(bounds))
    assert PRIORS["lowest-bound"](ranked(np.array([0.9, 0.95]))) == 1.0


def test_the_best_bin_by_hand():
    ranks, unlabelled = np.array([0.3, 0.01, 0.5, 0.2, 0.9, 0.05]), 400
    best, estimate = np.inf, np.nan
    for rank in ranks:
        taken, found = rank, (ranks <= rank).mean()
        slack = np.sqrt(np.log(40) / 800) + np.sqrt(np.log(40) / 12)
        bound = taken / found + 1.01 * slack / found
        if bound < best:
            best, estimate = bound, taken / found
    assert best_bin_of_ranks(ranks, unlabelled) == pytest.approx(estimate)


def test_elkan_and_noto_by_hand():
    from scipy.stats import beta

    ranks, unlabelled = np.array([0.1, 0.2, 0.05, 0.4, 0.15]), 100
    low, high, _, _ = beta.fit(ranks, floc=0, fscale=1)
    frequency = np.mean([5 * beta.pdf(rank, low, high) / (5 * beta.pdf(rank, low, high) + 100) for rank in ranks])
    assert PRIORS["elkan-noto"](ranked(ranks, unlabelled)) == pytest.approx(5 * (1 - frequency) / (frequency * 100))
    assert PRIORS["elkan-noto"](ranked(np.full(4, 0.25), 100)) == 0.25
    assert PRIORS["elkan-noto"](ranked(np.array([0.0, 0.001]), 100_000)) == pytest.approx(0.0005, abs=1e-5)


def test_dedpul_is_the_share_that_no_posterior_cuts_off():
    rng = np.random.default_rng(0)
    assert PRIORS["dedpul"](ranked(rng.random(2000))) == pytest.approx(0.85, abs=0.15)
    assert PRIORS["dedpul"](ranked(0.3 * rng.random(2000))) == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize(
    ("name", "ranks", "unlabelled", "share"),
    [
        ("lowest-bound", np.linspace(0.02, 0.18, 9), 1000, 0.2),
        ("dedpul", np.linspace(0.0, 0.2, 1000), 1000, 0.2),
        ("kernel-mean", np.linspace(0.0, 0.3, 500), 1000, 0.3),
        ("elkan-noto", np.linspace(0.0, 1.0, 101), 10_000, 1.0),
    ],
)
def test_ranks_spread_evenly_over_the_first_share(name, ranks, unlabelled, share):
    assert PRIORS[name](ranked(ranks, unlabelled)) == pytest.approx(share, abs=0.05)
