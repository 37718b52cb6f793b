import math
from itertools import pairwise, permutations
from types import SimpleNamespace

import numpy as np
import pytest

from pugnn.datasets import load_dataset
from pugnn.errors import PugnnWarning
from pugnn.metrics import (
    METRICS,
    accuracy,
    average_precision,
    f1,
    macro_f1,
    measure,
    metric,
    precision_at,
    precision_at_positives,
    roc_auc,
)
from pugnn.task import draw_benchmark


def plain_f1(truth, decided):
    right = sum(t and d for t, d in zip(truth, decided, strict=True))
    return 2 * right / max(1, sum(truth) + sum(decided))


def plain_auc(truth, scores):
    """Over all pairs of a positive and a negative, ties counting half."""
    positive, negative = scores[truth], scores[~truth]
    wins = sum((p > n) + (p == n) / 2 for p in positive for n in negative)
    return wins / (len(positive) * len(negative))


def plain_average_precision(truth, scores):
    """For each positive, the precision among all nodes that score at least as high."""
    return np.mean([truth[scores >= score].mean() for score in scores[truth]])


@pytest.mark.parametrize("seed", range(10))
def test_equal_to_plain_loops(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random(60) < 0.4
    scores = np.round(rng.random(60) + 0.3 * truth, 1 if seed % 2 else 6)  # odd seeds have many ties
    decided = scores >= 0.5
    assert f1(truth, decided) == plain_f1(truth, decided)
    assert macro_f1(truth, decided) == (plain_f1(truth, decided) + plain_f1(~truth, ~decided)) / 2
    assert accuracy(truth, decided) == (truth == decided).mean()
    assert roc_auc(truth, scores) == pytest.approx(plain_auc(truth, scores), abs=1e-12)
    assert average_precision(truth, scores) == pytest.approx(plain_average_precision(truth, scores), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_equal_to_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    truth = rng.random(200) < (0.02, 0.5)[seed % 2]
    truth[:2] = True, False
    scores = np.round(rng.random(200) + 0.3 * truth, 1 + seed)
    decided = scores >= 0.7
    assert f1(truth, decided) == pytest.approx(metrics.f1_score(truth, decided), abs=1e-12)
    assert macro_f1(truth, decided) == pytest.approx(metrics.f1_score(truth, decided, average="macro"), abs=1e-12)
    assert roc_auc(truth, scores) == pytest.approx(metrics.roc_auc_score(truth, scores), abs=1e-12)
    assert average_precision(truth, scores) == pytest.approx(metrics.average_precision_score(truth, scores), abs=1e-12)


def test_all_negative_decisions_on_cora():
    truth = np.arange(2708) < 1244  # the all-negative macro-F1 that the notes on the naive baseline quote
    assert 100 * macro_f1(truth, np.zeros(2708, dtype=bool)) == pytest.approx(35.1, abs=0.05)


def test_one_class_only():
    everyone = np.ones(3, dtype=bool)
    scores = np.array([0.1, 0.2, 0.3])
    assert math.isnan(roc_auc(everyone, scores))
    assert math.isnan(roc_auc(~everyone, scores))
    assert math.isnan(average_precision(~everyone, scores))
    assert f1(~everyone, ~everyone) == 0.0
    assert macro_f1(everyone, everyone) == 0.5, "the class that nobody is in counts as 0"
    assert macro_f1(~everyone, everyone) == 0.0


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
def test_precision_at_a_number_of_nodes_is_the_mean_over_all_orders_of_ties(count):
    truth = np.array([True, False, True, False, True, False])
    scores = np.array([0.9, 0.5, 0.5, 0.5, 0.1, 0.0])
    orders = [
        order for order in permutations(range(6)) if all(scores[one] >= scores[other] for one, other in pairwise(order))
    ]
    assert len(orders) == 6
    expected = np.mean([truth[list(order[:count])].mean() for order in orders])
    assert precision_at(count, truth, scores) == pytest.approx(expected, abs=1e-12)


def test_precision_at_more_nodes_than_there_are_does_not_exist():
    assert math.isnan(precision_at(4, np.ones(3, dtype=bool), np.arange(3.0)))


def test_precision_at_the_number_of_positives():
    rng = np.random.default_rng(0)
    truth, scores = rng.random(50) < 0.3, rng.random(50)
    best = sorted(range(50), key=lambda node: -scores[node])[: sum(truth)]
    assert precision_at_positives(truth, scores) == sum(truth[node] for node in best) / sum(truth)
    assert math.isnan(precision_at_positives(np.zeros(3, dtype=bool), np.arange(3.0)))


def test_every_metric_is_known_by_name_in_the_order_of_the_record():
    assert list(METRICS)[:8] == [
        *("macro_f1", "f1", "accuracy", "roc_auc", "average_precision", "precision_at_positives"),
        *("precision_at_20", "precision_at_100"),
    ]
    truth, scores = np.array([True, False, True, False]), np.array([0.9, 0.4, 0.3, 0.1])
    values = {name: METRICS[name](truth, scores >= 0.5, scores) for name in METRICS}
    assert values["macro_f1"] == macro_f1(truth, scores >= 0.5)
    assert values["roc_auc"] == roc_auc(truth, scores)
    assert np.isnan(values["precision_at_20"])


def test_a_metric_that_fails_is_left_out_and_named(monkeypatch):
    monkeypatch.setattr(METRICS, "_registered", dict(METRICS._registered))

    @metric("broken", "scores", "a broken metric")
    def broken(truth, scores):
        raise ZeroDivisionError("no node at all")

    truth = np.arange(60) < 20
    with pytest.warns(PugnnWarning, match="the metric 'broken' is left out: ZeroDivisionError"):
        found = measure(SimpleNamespace(positive=truth, scored=np.arange(60)), truth * 0.8, 0.5)
    assert "broken" not in found
    assert found["accuracy"] == 100.0


def test_a_metric_of_another_file_is_part_of_every_evaluation(monkeypatch):
    monkeypatch.setattr(METRICS, "_registered", dict(METRICS._registered))

    @metric("error", "decisions", "error rate")
    def error(truth, decided):
        return float((truth != decided).mean())

    benchmark = draw_benchmark(load_dataset("cora"), labels=20, seed=0)
    found = measure(benchmark, benchmark.positive * 0.8, 0.5)
    assert (found["error"], found["accuracy"], METRICS["error"].short) == (0.0, 100.0, "error rate")
