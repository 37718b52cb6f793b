"""Signs of a collapse, in arrays made by hand and in fits of every method."""

import numpy as np
import pytest

from checkup.planted import planted
from pugnn import Graph, PUNodeClassifier
from pugnn.evidence import find_reasons
from pugnn.methods import (
    GRAB,
    LSDAN,
    METHODS,
    NNPU,
    PUGNN,
    UPU,
    Centroid,
    DistPU,
    GraphAny,
    LabelPropagation,
    Naive,
    SmoothedLogistic,
    Views,
)

LABELLED, UNLABELLED = np.arange(10), np.arange(10, 110)
KNOWN = np.linspace(0.85, 0.99, 10)
SPREAD = np.linspace(0.01, 0.95, 100)


def reasons(known=KNOWN, free=SPREAD, *, threshold=0.5, **more):
    """Codes and messages where the first scores are those of the known positives."""
    found = find_reasons(known, free, threshold=threshold, **more)
    return {reason.code: reason.message for reason in found}


def log_of(*totals):
    """A log of two terms; the second is constant."""
    return [
        {"epoch": epoch, "labelled": total - 0.1, "near": 0.1, "total": total, "seconds": 0.1 * epoch}
        for epoch, total in enumerate(totals, 1)
    ]


# ---------------------------------------------------------------------- decisions


def test_a_healthy_fit_has_no_reasons():
    assert reasons(prior=0.4, log=log_of(*np.linspace(1.2, 0.3, 200))) == {}


def test_everybody_is_decided_positive():
    found = reasons(free=0.5 + SPREAD / 2.5)
    assert list(found) == ["all-positive"]
    assert "All 100 unlabelled nodes are decided positive: their scores, 0.504 to 0.88, reach" in found["all-positive"]
    assert "threshold of 0.5" in found["all-positive"]


def test_nobody_is_decided_positive():
    found = reasons(free=SPREAD / 5)
    assert list(found) == ["none-positive"]
    assert "None of the 100 unlabelled nodes is decided positive: the highest score is 0.19" in found["none-positive"]


def test_one_node_on_the_other_side_is_enough():
    assert reasons(free=np.append(SPREAD[:-1] / 5, 0.5)) == {}
    assert reasons(free=np.append(0.5 + SPREAD[:-1] / 2.5, 0.49)) == {}


@pytest.mark.parametrize("threshold", [0.0, 1.0, 0.97])
def test_a_threshold_by_hand_is_no_collapse(threshold):
    assert reasons(threshold=threshold) == {}


def test_a_threshold_by_hand_does_not_hide_a_collapse():
    assert list(reasons(free=SPREAD / 5, threshold=0.3)) == ["none-positive"]
    assert list(reasons(free=0.7 + SPREAD / 10, threshold=0.6)) == ["all-positive"]


def test_a_threshold_that_matches_the_prior_parts_low_scores():
    assert reasons(free=SPREAD / 5, threshold=0.15, own_threshold=0.15) == {}
    tied = np.repeat([0.2, 0.4], [90, 10])  # a threshold for one in two lies among the ninety
    assert list(reasons(free=tied, threshold=0.2, own_threshold=0.2)) == ["all-positive"]


def test_few_nodes_may_all_be_positive_and_rare_ones_may_be_missing():
    assert reasons(free=np.array([0.6, 0.7, 0.8])) == {}
    assert "all-positive" in reasons(free=np.linspace(0.6, 0.8, 5))
    assert reasons(free=SPREAD / 5, prior=0.01) == {}, "one is expected"
    assert "none-positive" in reasons(free=SPREAD / 5, prior=0.05)
    assert reasons(free=0.6 + SPREAD / 5, prior=0.99) == {}


@pytest.mark.parametrize("prior", [None, 0.0, 1.0])
def test_a_share_found_from_the_decisions_excuses_none(prior):
    assert "none-positive" in reasons(free=SPREAD / 5, prior=prior)
    assert "all-positive" in reasons(free=0.6 + SPREAD / 5, prior=prior)


# ---------------------------------------------------------------------- ranking


def test_known_positives_among_the_others():
    found = reasons(known=np.linspace(0.02, 0.94, 10))
    assert list(found) == ["no-ranking"]
    assert "they score higher in 50 % of all pairs, and random scores do so in up to 66 %" in found["no-ranking"]
    assert list(reasons(known=np.linspace(0.02, 0.05, 10))) == ["no-ranking"], "worse than chance"


def test_one_known_positive_must_rank_very_low():
    assert reasons(known=np.array([0.6])) == {}
    assert list(reasons(known=np.array([0.3]))) == ["no-ranking"]


def test_if_most_nodes_are_positive_known_ones_lie_among_them():
    assert reasons(known=np.linspace(0.02, 0.94, 10), prior=0.9) == {}


@pytest.mark.parametrize("labels", [1, 3, 10, 30])
@pytest.mark.parametrize("prior", [0.05, 0.3, 0.6])
def test_sound_rankings_rarely_raise_an_alarm_and_random_ones_often_do(labels, prior):
    rng = np.random.default_rng(0)

    def alarms(worth):
        count = 0
        for _ in range(200):
            positive = rng.random(300) < prior
            scores = rng.random(300 + labels) + worth * np.concatenate([np.ones(labels), positive])
            ends = {"threshold": 0.0, "prior": prior}
            found = find_reasons(scores[:labels], scores[labels:], **ends)
            count += any(reason.code == "no-ranking" for reason in found)
        return count / 200

    assert alarms(worth=1.0) <= 0.1  # every positive above every negative, in random order among themselves
    assert alarms(worth=0.0) >= (0.8 if labels >= 10 else 0.3)


def test_equal_scores():
    found = reasons(free=0.3 + 1e-6 * SPREAD)
    assert list(found) == ["none-positive", "equal-scores"]
    assert "All 100 unlabelled nodes have practically the same score, 0.3, so" in found["equal-scores"]
    assert "equal-scores" in reasons(free=np.zeros(100))
    assert "equal-scores" not in reasons(free=1e-9 * SPREAD), "small scores may rank well"
    assert reasons(free=np.array([0.3])) == {}


def test_without_unlabelled_nodes_nothing_is_said():
    assert find_reasons(KNOWN, np.zeros(0), threshold=0.5) == ()


# ---------------------------------------------------------------------- loss


def test_a_loss_that_does_not_move():
    found = reasons(log=log_of(*[1.6] * 200))
    assert list(found) == ["unmoved-loss"]
    assert "it was 1.6 in the first epochs and 1.6 in the last of 200" in found["unmoved-loss"]
    noise = 0.002 * np.random.default_rng(0).normal(size=100)
    assert list(reasons(log=log_of(*(1.6 + noise)))) == ["unmoved-loss"]


@pytest.mark.parametrize(
    "log",
    [
        None,
        [],
        log_of(1.6),
        log_of(*[1.6] * 5),
        log_of(*[1.6] * 49),
        log_of(*np.linspace(1.6, 1.5, 50)),
        log_of(*np.linspace(-0.1, -0.4, 50)),
    ],
)
def test_a_loss_that_moves_or_had_no_time_to(log):
    assert reasons(log=log) == {}


def test_terms_that_change_against_each_other_have_moved():
    log = log_of(*[1.6] * 100)
    log = [{**record, "labelled": 1.5 - 0.001 * at, "near": 0.1 + 0.001 * at} for at, record in enumerate(log)]
    assert reasons(log=log) == {}


# ---------------------------------------------------------------------- fits

METHODS_TO_FIT = [
    PUGNN(delta=1, negatives=3, near_prior=0.6, far_prior=0.3),
    Naive(balanced=True),
    UPU(0.45),
    NNPU(0.45),
    DistPU(0.45),
    DistPU(0.45, "full"),
    LSDAN(0.45),
    GRAB(rounds=2),
    LabelPropagation(0.45),
    GraphAny(0.45),
    Views(0.45),
    Centroid(0.45),
    SmoothedLogistic(0.45),
]
every_method = pytest.mark.parametrize("method", METHODS_TO_FIT, ids=lambda method: method.name)


def codes(method, graph, known):
    epochs = {"epochs": 100} if method.trains else {}
    fitted = PUNodeClassifier(method, progress=False, **epochs).fit(graph, np.arange(graph.num_nodes) < known)
    return {reason.code for reason in fitted.degenerate_}


def test_no_method_is_forgotten():
    assert {method.name for method in METHODS_TO_FIT} == set(METHODS)


@every_method
def test_every_method_is_healthy_where_positives_cluster(method):
    assert codes(method, planted(0.05, 0.005, nodes=200), 20) == set()


@every_method
@pytest.mark.filterwarnings("ignore:delta=1 leaves none")
def test_every_method_says_so_where_all_nodes_are_alike(method):
    pairs = np.array([(one, other) for one in range(12) for other in range(one)])
    alike = Graph.from_edges(*pairs.T, num_nodes=12, features=np.ones((12, 3), dtype=np.float32))
    assert "equal-scores" in codes(method, alike, 3)


@pytest.mark.parametrize("method", [PUGNN(delta=1, near_prior=0.3, far_prior=0.1), NNPU(0.3), DistPU(0.3)])
def test_huge_features_stop_the_loss_from_the_start(method):
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(
        *rng.integers(0, 100, (2, 200)), num_nodes=100, features=1e6 * np.abs(rng.normal(size=(100, 4)))
    )
    fitted = PUNodeClassifier(method, epochs=60, dropout=0.0, progress=False).fit(graph, np.arange(100) < 10)
    assert "unmoved-loss" in [reason.code for reason in fitted.degenerate_]
