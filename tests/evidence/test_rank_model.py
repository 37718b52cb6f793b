import math
from statistics import NormalDist

import numpy as np
import pytest

from pugnn.errors import PugnnError
from pugnn.evidence.rank_model import (
    BINS,
    BOUNDED_AT,
    BREADTHS,
    FLOOR,
    HALVED_AT,
    LOST,
    MAX_PRIOR,
    MIN_PART,
    MIN_PRIOR,
    PART_WEIGHTS,
    PARTS,
    POWER,
    SHARPNESS,
    Band,
    RankModel,
)

RNG = np.random.default_rng(0)


def ranking(prior: float, apart: float, *, known: int, nodes: int = 20_000, seed: int = 0):
    """Ranks of hidden positives, and the true classes of the unlabelled nodes, best first."""
    rng = np.random.default_rng(seed)
    positive = rng.random(nodes) < prior
    scores = rng.normal(size=nodes) + apart * positive
    hidden = rng.normal(size=known) + apart
    ranks = np.array([(scores > score).mean() for score in hidden])
    return ranks, positive[np.argsort(-scores)]


def one_shape(recalls, prior: float) -> RankModel:
    """A ranking and a prior that are known."""
    edges = np.linspace(0, 1, 101)
    return RankModel(edges, np.array([recalls(edges)]), np.full((1, PARTS), prior), np.ones(1), 10**6)


@pytest.mark.parametrize(
    ("prior", "recalls", "auc"),
    [(0.2, lambda edges: np.minimum(edges / 0.2, 1.0), 1.0), (0.5, lambda edges: edges, 0.5)],
)
def test_measures_follow_from_prior_and_recall(prior, recalls, auc):
    model = one_shape(recalls, prior)
    for share in (0.1, 0.255, 0.7):
        recall = float(recalls(np.array(share)))
        assert model.recall(share).value == pytest.approx(recall)
        assert model.precision(share).value == pytest.approx(prior * recall / share)
        assert model.lift(share).value == pytest.approx(recall / share)
        assert model.f1(share).value == pytest.approx(2 * prior * recall / (share + prior))
    assert model.auc().value == pytest.approx(auc)


def test_the_shapes_their_bounds_and_their_likelihood():
    """The formulas of the module, recomputed with plain loops."""
    unlabelled, ranks = 40, [0.0, 0.1, 0.3]
    edges = [0.0, *(0.5 / unlabelled * (2 * unlabelled) ** (at / (BINS - 1)) for at in range(BINS))]
    weights, bounds = [], []
    for k in SHARPNESS:
        for lost in LOST:
            for at in range(BREADTHS):
                b = 0.5 / unlabelled * (3.0 * 2 * unlabelled) ** (at / (BREADTHS - 1))

                def gathered(x, k=k):
                    return 0.0 if x == 0 else x / (1 + x**k) ** (1 / k)

                recall = [(1 - lost) * gathered(h / b) / gathered(1 / b) + lost * h for h in edges]
                likelihood = 0.0
                for rank in ranks:
                    middle = rank + 0.5 / unlabelled
                    bin_ = next(place for place in range(BINS) if middle < edges[place + 1])
                    likelihood += math.log(recall[bin_ + 1] - recall[bin_] + FLOOR)
                weights.append(math.exp(POWER / (1 + len(ranks) / HALVED_AT) * likelihood))
                place = next(place for place, found in enumerate(recall) if found >= BOUNDED_AT)
                part = (BOUNDED_AT - recall[place - 1]) / (recall[place] - recall[place - 1])
                bounds.append(min((edges[place - 1] + part * (edges[place] - edges[place - 1])) / BOUNDED_AT, 1.0))
    model = RankModel.of(np.array(ranks), unlabelled)
    assert model.edges == pytest.approx(edges)
    assert model.weights == pytest.approx(np.array(weights) / sum(weights), rel=1e-6)
    assert model.priors[:, -1] == pytest.approx(np.clip(bounds, MIN_PRIOR, MAX_PRIOR))
    assert model.priors[:, 0] == pytest.approx(np.clip(MIN_PART * np.array(bounds), MIN_PRIOR, MAX_PRIOR))
    parts = [math.sqrt(MIN_PART ** (1 - at / (PARTS - 1))) for at in range(PARTS)]
    assert pytest.approx(np.array(parts) / sum(parts)) == PART_WEIGHTS


def weighted_quantile(values, weights, wanted: float) -> float:
    below = 0.0
    for at in np.argsort(values):
        below += weights[at]
        if below >= wanted:
            return float(values[at])
    raise AssertionError


def test_a_band_is_the_widest_of_those_that_hold_for_some_part():
    shapes = 1000
    values = RNG.random((shapes, PARTS)) + np.arange(PARTS)
    weights = RNG.random(shapes)
    weights /= weights.sum()
    model = RankModel(np.array([0.0, 1.0]), np.zeros((shapes, 2)), values, weights, 100)
    low = min(weighted_quantile(values[:, at], weights, 0.05) for at in range(PARTS))
    high = max(weighted_quantile(values[:, at], weights, 0.95) for at in range(PARTS))
    middle = weighted_quantile(values.ravel(), np.outer(weights, PART_WEIGHTS).ravel(), 0.5)
    assert vars(model.prior()) == pytest.approx(vars(Band(middle, low, high)), abs=0.01)


def test_nothing_says_that_more_positives_are_left_than_are_known():
    ranks = np.linspace(0.01, 0.8, 30)
    assert RankModel.of(ranks, 10**6).prior().low == pytest.approx(30 / 10**6)
    assert RankModel.of(ranks, 10**6, bounds=(0.01, 0.1)).prior().low >= 0.01
    small = RankModel.of(ranks, 40).prior()
    assert small.low < 30 / 40


def test_few_positives_deviate_from_recall_and_auc_by_chance():
    """Two shapes, by plain loops over all that may happen."""
    edges = np.array([0.0, 0.1, 0.4, 1.0])
    recalls = np.array([[0.0, 0.5, 0.8, 1.0], [0.0, 0.3, 0.6, 1.0]])
    priors, weights = np.array([np.linspace(0.05, 0.2, PARTS), np.linspace(0.1, 0.3, PARTS)]), np.array([0.4, 0.6])
    model = RankModel(edges, recalls, priors, weights, 200)
    found: dict[str, list[float]] = {"recall": [], "auc": []}
    likely = []
    for shape in range(2):
        for part in range(PARTS):
            prior, recall = priors[shape, part], recalls[shape, 2]
            ranks = [0.05, 0.25, 0.7]
            inside = [recalls[shape, at + 1] - recalls[shape, at] for at in range(3)]
            mean = sum(p * h for p, h in zip(inside, ranks, strict=True))
            variance = sum(p * (h - mean) ** 2 for p, h in zip(inside, ranks, strict=True))
            auc = (1 - mean - prior / 2) / (1 - prior)
            for level in (0.1, 0.3, 0.5, 0.7, 0.9):
                z = NormalDist().inv_cdf(level)
                found["recall"].append(min(1, recall + z * math.sqrt(recall * (1 - recall) / (200 * prior))))
                found["auc"].append(min(1, auc + z * math.sqrt(variance / (200 * prior)) / (1 - prior)))
                likely.append(weights[shape] * PART_WEIGHTS[part] / 5)
    for name, band in {"recall": model.recall(0.4), "auc": model.auc()}.items():
        for level, end in ((0.05, band.low), (0.95, band.high)):
            order = np.argsort(found[name], kind="stable")
            before, places = 0.0, []
            for at in order:
                places.append(before + likely[at] / 2)
                before += likely[at]
            assert end == pytest.approx(np.interp(level, places, np.array(found[name])[order]), abs=1e-9)


def test_the_decided_share_has_the_highest_expected_f1():
    model = RankModel.of(ranking(0.1, 2.0, known=30)[0], 20_000)
    expected = {}
    for share in model.edges[1:]:
        recall = model.recall_at(share)
        total = 0.0
        for shape in range(len(model.recalls)):
            for part in range(PARTS):
                prior = model.priors[shape, part]
                f1 = 2 * min(prior * recall[shape, 0], share) / (share + prior)
                total += PART_WEIGHTS[part] * model.weights[shape] * f1
        expected[share] = total
    assert model.decided_share() == max(expected, key=expected.get)


@pytest.mark.parametrize(("prior", "apart"), [(0.005, 3.0), (0.05, 3.0), (0.3, 3.0), (0.5, 3.0)])
def test_bands_hold_at_every_share(prior, apart):
    inside = {"prior": 0, "recall": 0, "precision": 0, "f1": 0}
    for seed in range(20):
        ranks, positive = ranking(prior, apart, known=30, nodes=100_000, seed=seed)
        model = RankModel.of(ranks, len(positive))
        taken = max(1, round(model.decided_share() * len(positive)))
        right = positive[:taken].sum()
        true = {
            "prior": positive.mean(),
            "recall": right / positive.sum(),
            "precision": right / taken,
            "f1": 2 * right / (taken + positive.sum()),
        }
        for name in true:
            band = model.prior() if name == "prior" else getattr(model, name)(taken / len(positive))
            inside[name] += band.low <= true[name] <= band.high
    assert min(inside.values()) >= 16


def test_no_impossible_precision_is_claimed_for_needles():
    unlabelled = 18_000  # 9 of them positive, and all of these come first
    model = RankModel.of(RNG.integers(0, 9, 60) / unlabelled, unlabelled)
    assert model.prior().high < 0.001
    assert model.precision(100 / unlabelled).high <= 0.12
    assert 2 <= model.decided_share() * unlabelled <= 20


def test_a_million_nodes_have_bands_of_their_own_for_each_part_of_the_top():
    ranks = 10 ** RNG.uniform(-6, -2, 40)
    model = RankModel.of(ranks, 1_000_000)
    bands = [model.precision(first / 1_000_000) for first in (10, 100, 1000)]
    assert bands[0].value > 1.3 * bands[1].value > 1.6 * bands[2].value
    assert bands[1].high > 1.3 * bands[2].high


def test_little_evidence_makes_wide_bands():
    few, many = (RankModel.of(ranking(0.2, 2.5, known=known)[0], 20_000).recall(0.1) for known in (5, 300))
    assert few.high - few.low > 1.5 * (many.high - many.low)


def test_without_checks_the_prior_is_hardly_bounded_from_below():
    prior = RankModel.of(ranking(0.2, 2.5, known=300)[0], 20_000).prior()
    assert 0.2 < prior.high < 0.4
    assert prior.high > 30 * prior.low


def test_a_given_prior_leaves_only_the_shape_open():
    ranks, _ = ranking(0.2, 2.5, known=50)
    given = RankModel.of(ranks, 20_000, bounds=(0.2, 0.2))
    assert vars(given.prior()) == pytest.approx({"value": 0.2, "low": 0.2, "high": 0.2})
    free = RankModel.of(ranks, 20_000).precision(0.1)
    told = given.precision(0.1)
    assert told.high - told.low < free.high - free.low


@pytest.mark.parametrize("bounds", [(0.0001, 0.002), (0.02, 0.1), (0.4, 0.9)])
@pytest.mark.parametrize("apart", [0.3, 2.5])
def test_a_given_range_is_honoured(bounds, apart):
    low, high = bounds
    prior = RankModel.of(ranking(0.2, apart, known=50)[0], 20_000, bounds=bounds).prior()
    assert low <= prior.low <= prior.value <= prior.high <= high
    assert prior.low == pytest.approx(low), "nothing speaks against it"


def test_within_a_range_the_value_may_lie_anywhere():
    needles = RankModel.of(10 ** RNG.uniform(-5, -2.8, 40), 100_000, bounds=(0.0001, 0.002)).prior()
    assert 0.00015 < needles.value < 0.0015


def test_bounds_are_shares_the_lower_first():
    for bounds in ((0.2, 0.1), (0.0, 0.1), (0.1, 1.0)):
        with pytest.raises(PugnnError):
            RankModel.of(np.array([0.1, 0.2]), 100, bounds=bounds)


def test_precision_never_exceeds_one_and_recall_never_falls():
    model = RankModel.of(ranking(0.1, 3.0, known=40)[0], 20_000)
    recalls = [model.recall(share).value for share in (0.01, 0.05, 0.1, 0.5, 1.0)]
    assert recalls == sorted(recalls)
    assert recalls[-1] == pytest.approx(1.0)
    assert all(model.precision(share).high <= 1.0 for share in (0.001, 0.01, 0.1, 1.0))
