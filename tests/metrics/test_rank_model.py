import numpy as np
import pytest

from pugnn.metrics.rank_model import EDGES, Band, Checked, RankModel

RNG = np.random.default_rng(0)


def ranking(prior: float, apart: float, *, known: int, nodes: int = 20_000, seed: int = 0):
    """Ranks of hidden positives, and the true classes of the unlabelled nodes, best first."""
    rng = np.random.default_rng(seed)
    positive = rng.random(nodes) < prior
    scores = rng.normal(size=nodes) + apart * positive
    hidden = rng.normal(size=known) + apart
    ranks = np.array([(scores > score).mean() for score in hidden])
    return ranks, positive[np.argsort(-scores)]


def two_shapes() -> RankModel:
    """Two equally likely combinations: a perfect ranking at one fifth, and a random one at one half."""
    recalls = np.vstack([np.minimum(EDGES / 0.2, 1.0), EDGES])
    return RankModel(np.array([0.2, 0.5]), recalls, np.array([0.5, 0.5]))


def test_measures_follow_from_prior_and_recall():
    for at, model in enumerate(RankModel(*(part[[at]] for part in vars(two_shapes()).values())) for at in (0, 1)):
        prior = [0.2, 0.5][at]
        for share in (0.1, 0.25, 0.7):
            recall = [min(share / 0.2, 1.0), share][at]
            assert model.recall(share).value == pytest.approx(recall, abs=0.01)
            assert model.precision(share).value == pytest.approx(min(prior * recall / share, 1.0), abs=0.02)
            assert model.lift(share).value == pytest.approx(recall / share, abs=0.1)
            assert model.f1(share).value == pytest.approx(2 * prior * recall / (share + prior), abs=0.02)
        assert model.auc().value == pytest.approx([1.0, 0.5][at], abs=0.01)


def test_a_band_is_made_of_weighted_quantiles():
    values = RNG.random(1000)
    weights = RNG.random(1000)
    model = RankModel(values, np.zeros((1000, len(EDGES))), weights / weights.sum())
    order = np.argsort(values)
    below, quantiles = 0.0, {}
    for at in order:
        below += model.weights[at]
        for wanted in (0.05, 0.5, 0.95):
            if below >= wanted:
                quantiles.setdefault(wanted, values[at])
    assert vars(model.prior()) == pytest.approx(vars(Band(quantiles[0.5], quantiles[0.05], quantiles[0.95])), abs=0.01)


@pytest.mark.parametrize(("prior", "apart"), [(0.05, 4.0), (0.3, 3.0), (0.5, 3.0)])
def test_a_good_ranking_shows_prior_precision_and_recall(prior, apart):
    inside = {"prior": 0, "recall": 0, "precision": 0, "f1": 0}
    for seed in range(20):
        ranks, positive = ranking(prior, apart, known=100, seed=seed)
        model = RankModel.of(ranks)
        taken = int(prior * len(positive))
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
        assert model.prior().value == pytest.approx(prior, rel=0.5)
    assert min(inside.values()) >= 16


def test_little_evidence_makes_wide_bands():
    few, many = (RankModel.of(ranking(0.2, 2.5, known=known)[0]).prior() for known in (5, 300))
    assert few.high - few.low > 1.5 * (many.high - many.low)
    unclear = RankModel.of(ranking(0.2, 0.5, known=100)[0]).prior()
    assert unclear.high > 4 * unclear.low


def test_a_given_prior_leaves_only_the_shape_open():
    ranks, _ = ranking(0.2, 2.5, known=50)
    given = RankModel.of(ranks, low=0.2, high=0.2)
    assert vars(given.prior()) == pytest.approx({"value": 0.2, "low": 0.2, "high": 0.2})
    free = RankModel.of(ranks).precision(0.1)
    told = given.precision(0.1)
    assert told.high - told.low < free.high - free.low
    within = RankModel.of(ranks, low=0.02, high=0.1).prior()
    assert 0.02 <= within.low <= within.high <= 0.1 + 1e-12


def test_precision_never_exceeds_one_and_recall_never_falls():
    model = RankModel.of(ranking(0.1, 3.0, known=40)[0])
    recalls = [model.recall(share).value for share in (0.01, 0.05, 0.1, 0.5, 1.0)]
    assert recalls == sorted(recalls)
    assert recalls[-1] == pytest.approx(1.0)
    assert all(model.precision(share).high <= 1.0 for share in (0.001, 0.01, 0.1, 1.0))


def test_checked_nodes_tell_how_pure_the_top_is():
    ranks, _ = ranking(0.2, 1.5, known=60)
    top = np.full(60, 0.01)
    without = RankModel.of(ranks)
    all_right = RankModel.of(ranks, checked=Checked(top, np.ones(60, bool)))
    few_right = RankModel.of(ranks, checked=Checked(top, np.arange(60) < 15))
    assert few_right.precision(0.01).value == pytest.approx(0.25, abs=0.1)
    assert all_right.precision(0.01).low > 0.85
    assert few_right.prior().value < without.prior().value < all_right.prior().value
    assert few_right.precision(0.01).high - few_right.precision(0.01).low < 0.4
