"""What an earlier run leaves, after more nodes were checked."""

from dataclasses import replace

import numpy as np
import pytest

from planted import ranked
from pugnn import PUNodeClassifier
from pugnn.datasets import load_dataset
from pugnn.evidence import Prior
from pugnn.graph import Graph
from pugnn.priors import settle_prior
from pugnn.task import KnownIds, PUTask, draw_labels
from pugnn.warm_start import expected_left

GRAPH = Graph.from_edges([0], [1], num_nodes=1010)
TASK = PUTask.from_positives(GRAPH, np.arange(10))
ESTIMATED = Prior(0.28, 0.1, 0.5, "estimated")


def after(confirmed: int, rejected: int) -> PUTask:
    return TASK.with_feedback(np.arange(10, 10 + confirmed), np.arange(500, 500 + rejected))


@pytest.mark.parametrize(
    ("confirmed", "rejected", "left"),
    [
        (60, 0, 220.0),  # 280 were expected, and 60 are found
        (30, 30, 110.0),  # half of the 280 would have been right, and 30 are found
        (1, 19, 13.0),  # a twentieth
        (0, 20, 0.0),
        (0, 0, 0.0),
        (300, 0, 0.0),  # more than expected: nothing is known of the rest
    ],
)
def test_what_right_and_wrong_answers_leave(confirmed, rejected, left):
    known = KnownIds.of(TASK)
    assert expected_left(after(confirmed, rejected), ESTIMATED, known) == pytest.approx(left)


def test_only_new_answers_count():
    known = KnownIds.of(after(40, 10))
    # 0.28 of the 950 nodes that were unlabelled then; 20 more are right, and none is wrong.
    assert expected_left(after(60, 10), ESTIMATED, known) == pytest.approx(0.28 * 950 - 20)


def test_nothing_is_left_of_an_estimate_that_was_none():
    for prior in (None, replace(ESTIMATED, source="assumed")):
        assert expected_left(after(60, 0), prior, KnownIds.of(TASK)) == 0.0


def test_the_estimate_is_at_least_what_is_left():
    hidden = ranked(np.linspace(0.001, 0.1, 30))
    usual = settle_prior("auto", hidden)
    few, many = (replace(hidden, task=replace(hidden.task, expected_left=left)) for left in (1.0, 450.0))
    assert settle_prior("auto", few) == usual
    found = settle_prior("auto", many)
    assert (found.value, found.source, found.by) == (0.45, "estimated", "the earlier run")
    assert found.low == usual.low
    assert settle_prior(0.02, many).value == 0.02, "a given prior is believed"
    assert settle_prior("0.01..0.03", many).value <= 0.03


@pytest.mark.parametrize("method", ["views", "centroid", "pu-gnn"])
def test_confirmed_finds_do_not_lower_the_number_of_positives(method):
    """On a citation graph: the forty best finds that are right."""
    drawn = draw_labels(load_dataset("cora"), labels=20, seed=0)
    epochs = 2 if method == "pu-gnn" else None

    def fit(task, start=None):
        return PUNodeClassifier(method, epochs=epochs, progress=False).fit_task(task, start=start)

    first = fit(drawn.task)
    expected = first.prior_ * len(drawn.task.unlabelled)
    ranking = drawn.task.unlabelled[np.argsort(-first.decision_function()[drawn.task.unlabelled], kind="stable")]
    right = ranking[drawn.positive[ranking]][:40]
    task = drawn.task.with_feedback(right, np.zeros(0, np.int64))
    second = fit(task, start=first)
    assert 40 + second.prior_ * len(task.unlabelled) >= expected - 1e-6
