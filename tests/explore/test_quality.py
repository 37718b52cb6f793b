"""What is measured and expected agrees with the audit in Python."""

import numpy as np
import pytest

from pugnn.explore.quality import Quality, slider_steps, tied
from pugnn.runs.audit_log import read_audit
from pugnn.runs.audit_table import measured_rows, measured_title


@pytest.fixture
def quality(room):
    return Quality(room)


def check(room, count):
    for at, node in enumerate(room.queue("audit").nodes[:count]):
        room.decide(node, "yes" if at % 3 else "no", None, "audit")


def test_before_the_first_check_hidden_positives_tell(room, quality):
    found = quality.now()
    assert found["measured"] is None
    estimate = room.run.evidence.estimate
    assert found["expected"] is not None
    assert estimate is not None
    steps = {step["taken"]: step for step in found["expected"]["steps"]}
    assert not any(step["known"] for step in steps.values())
    for top in estimate["first"]:
        expected = [top["taken"] * top["precision"][end] for end in ("value", "low", "high")]
        assert steps[top["taken"]]["finds"] == pytest.approx(expected)
    assert found["expected"]["positives"] == pytest.approx(
        [estimate["positives"][end] for end in ("value", "low", "high")]
    )


def test_nothing_is_expected_without_a_signal(room, quality):
    room.run.evidence.estimate = None
    assert quality.now() == {"measured": None, "expected": None}


def test_the_slider_agrees_with_the_audit(room, quality):
    check(room, 15)
    audit, expected = read_audit(room.run), quality.now()["expected"]
    budgets = [audit.choose(budget=step["taken"]) for step in expected["steps"]]
    taken = np.array([step["taken"] for step in expected["steps"]])
    finds = tied([budget.found for budget in budgets], taken, audit.estimate().positives)
    for step, budget, found in zip(expected["steps"], budgets, finds, strict=True):
        assert step["finds"] == pytest.approx([found.value, found.low, found.high])
        precision = budget.precision
        assert step["known"] == (precision.high - precision.low <= 0.5)
        assert step["score"] == room.run.scores[audit.ranking[step["taken"] - 1]]
    positives = audit.estimate().positives
    assert expected["positives"] == [positives.value, positives.low, positives.high]


@pytest.mark.parametrize("checks", [3, 8, 15, 20])
def test_finds_of_all_nodes_are_all_positives(room, quality, checks):
    check(room, checks)
    expected = quality.now()["expected"]
    finds = np.array([step["finds"] for step in expected["steps"]])
    assert finds[-1].tolist() == expected["positives"]
    assert (np.diff(finds, axis=0) >= 0).all()
    value, low, high = finds.T
    assert (low <= value).all()
    assert (value <= high).all()
    left = np.array([expected["steps"][-1]["taken"] - step["taken"] for step in expected["steps"]])
    assert (low >= expected["positives"][1] - left - 1e-9).all()


def test_measured_rows_are_those_of_the_command(room, quality):
    check(room, 12)
    audit, measured = read_audit(room.run), quality.now()["measured"]
    assert measured["title"] == measured_title(audit.estimate())
    told = measured_rows(audit.estimate())
    assert [row["name"] for row in measured["rows"]] == [words for words, _, _ in told]
    assert [(row["value"], row["range"]) for row in measured["rows"]] == [(value, ends) for _, value, ends in told]


def test_every_verdict_and_undo_counts_at_once(room, quality):
    check(room, 5)
    before = quality.now()
    assert quality.now() is before  # nothing is computed twice
    room.decide(room.queue("audit").nodes[5], "yes", None, "audit")
    assert quality.now()["measured"]["title"] != before["measured"]["title"]
    room.undo(None)
    assert quality.now() == before


def test_finds_of_ones_own_are_no_measure(room, quality):
    room.decide(int(room.run.others[0]), "yes", None, "finds")
    found = quality.now()
    assert found["measured"]["title"] == "Known from 1 node of your own choice"
    assert not any(step["known"] for step in found["expected"]["steps"])


@pytest.mark.parametrize("size", [0, 1, 7, 59, 1000, 10**6])
def test_steps_ascend_to_the_end(size):
    steps = slider_steps(size)
    assert (np.diff(steps) > 0).all()
    assert not size or (steps[0] == 1 and steps[-1] == size)
