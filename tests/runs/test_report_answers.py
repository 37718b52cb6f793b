from copy import deepcopy
from pathlib import Path

import pytest

from estimates import CHANGES, ESTIMATE, MEASURED, band
from pugnn.runs.report.answers import (
    about,
    answers,
    feedback_command,
    next_round,
    unknown_share,
    what_changed,
    with_band,
)
from pugnn.runs.run import Evidence, Results, read_section
from pugnn.training.scoring import ABOVE_ALL_SCORES

RECORD = {"threshold": 0.5, "prior": 0.18, "estimate": ESTIMATE, "degenerate": []}
DRAWN = {"drawn": 20, "open": 20, "files": ["runs/mine/audit-1.csv"], "checked": [], "measured": None}
CHECKED = {**DRAWN, "open": 0, "checked": ["runs/mine/audit-1.csv"], "measured": MEASURED}


def told(nodes=17_000, path="runs/mine", **changes):
    record = {**RECORD, **changes}
    found = answers(Path(path), nodes, read_section(Evidence, record), read_section(Results, record))
    return [" ".join(filter(None, (f"{each.question}:", each.short, each.text, each.command))) for each in found]


def estimate(**changes):
    return {**deepcopy(ESTIMATE), **changes}


def measured(**changes):
    return {**CHECKED, "measured": {**deepcopy(MEASURED), **changes}}


def test_before_an_audit():
    assert told() == [
        "What is known: Half of the 30 known positives, when hidden, rank in the top 4.1 %. Picking from the top 10 % "
        "of the list finds 5.4 to 8.3 times as many positives as picking at random.",
        "What is measured: Nothing yet. Check 20 nodes drawn for it, about 20 minutes. By the truth that was given, 75 "
        "of the first 100 are positive, and 2,900 of all 17,000.",
        "What to do next: Check 20 nodes. They are drawn at random from all parts of the list, and your verdicts show "
        "how good it is: pugnn audit runs/mine",
    ]


def test_no_unmeasured_number_of_positives_is_told():
    words = " ".join(
        told(settled_prior={**band(0.35, 0.04, 0.57), "source": "estimated"}, estimate=estimate(truth=None))
    )
    assert "positives (" not in words
    assert "9,700" not in words


def test_after_the_draw_the_nodes_are_to_be_checked():
    _, measure, later = told(audit=DRAWN, estimate=estimate(truth=None))
    assert measure == "What is measured: Nothing yet. 20 nodes drawn for it, none checked: about 20 minutes."
    assert later == (
        "What to do next: Check the nodes in audit-1.csv. Fill in its column verdict with yes or no, and then: "
        "pugnn audit runs/mine runs/mine/audit-1.csv"
    )


def test_after_the_checks_the_next_round_is_trained(tmp_path):
    _, measure, later = told(audit=CHECKED, estimate=estimate(truth=None))
    assert measure == (
        "What is measured: 72 (58 to 83) of the first 100 are positive. Measured on 20 checks. Precision of the 3,100 "
        "decided positive: 52 % (38 to 66). Number of positives: 2,800 (1,900 to 4,100)."
    )
    assert later == (
        "What to do next: Train again. The next round learns from the verdicts; then check again. "
        "pugnn fit --config runs/mine/run.json --checked runs/mine/audit-1.csv --out runs/mine-2"
    )
    two = {**CHECKED, "checked": ["my runs/a/audit-1.csv", "my runs/a/audit-2.csv"]}
    assert "--checked 'my runs/a/audit-1.csv' --checked 'my runs/a/audit-2.csv'" in told(path="my runs/a", audit=two)[2]
    (tmp_path / "mine-2").mkdir()
    assert next_round(tmp_path / "mine") == tmp_path / "mine-3"
    assert next_round(tmp_path / "mine-2").name == "mine-3"
    (tmp_path / "mine-3.partial").mkdir()  # a run that was stopped
    assert next_round(tmp_path / "mine").name == "mine-4"


def test_wide_intervals_are_called_unknown():
    tops = [{"taken": 50, "checked": 3, "precision": band(0.5, 0.1, 0.9)}]
    decided = {**MEASURED["decided"], "precision": band(0.4, 0.01, 0.8)}
    wide = measured(first=tops, decided=decided, positives=band(300, 40, 6000))
    assert told(audit=wide, estimate=None)[1] == (
        "What is measured: Unknown: 5 to 45 of the first 50 are positive. Measured on 20 checks. Precision of the "
        "3,100 decided positive: unknown, 1 % to 80 %. Number of positives: unknown, 40 to 6,000."
    )


def test_where_all_or_none_of_the_checked_are_positive_only_the_other_end_is_told():
    tops = [{"taken": 100, "checked": 10, "precision": band(1.0, 0.67, 1.0)}]
    decided = {**MEASURED["decided"], "precision": band(1.0, 0.52, 1.0)}
    words = told(audit=measured(first=tops, decided=decided))[1]
    assert "At least 67 of the first 100 are positive." in words
    assert "decided positive: at least 52 %." in words
    tops = [{"taken": 100, "checked": 10, "precision": band(0.0, 0.0, 0.26)}]
    decided = {**MEASURED["decided"], "precision": band(0.0, 0.0, 0.3)}
    words = told(audit=measured(first=tops, decided=decided))[1]
    assert "At most 26 of the first 100 are positive." in words
    assert "decided positive: at most 30 %." in words


def test_told_for_as_many_as_are_known():
    tops = [
        {"taken": 50, "checked": 50, "precision": band(0.9, 0.9, 0.9)},
        {"taken": 100, "checked": 50, "precision": band(0.5, 0.45, 0.99)},
    ]
    entirely = measured(first=tops, decided=None, checks=0, others=50)
    assert told(audit=entirely)[1].startswith(
        "What is measured: 45 of the first 50 are positive. Measured on 50 nodes that were not drawn at random."
    )
    assert "Measured on 20 checks and 1 node besides." in told(audit=measured(others=1))[1]
    assert told(audit=measured(first=[], decided=None))[1].startswith("What is measured: Measured on 20 checks.")


def test_no_signal_is_an_answer():
    words = "No signal: the known positives, when hidden, rank no better than by chance (p = 0.43)."
    found = estimate(signal=False, headline=[words, "…"], first=[], decided=None, truth=None)
    known, measure, later = told(estimate=found, threshold=ABOVE_ALL_SCORES)
    assert measure.endswith("Nothing yet. An audit of 20 nodes would show how many positives there are.")
    assert known == (
        "What is known: No signal. The known positives, when hidden, rank no better than by chance (p = 0.43)."
    )
    assert later == (
        "What to do next: Provide more evidence. More known positives, other attributes or edges, or a check of the "
        "ids could help. To decide all the same, run again with --decide."
    )
    assert "pugnn fit" in told(estimate=found, audit=CHECKED)[2], "the checks are more evidence"


def test_without_an_estimate_the_reason_is_told():
    known = told(estimate=None, estimate_missing="with a single known positive, nothing can be hidden.")[0]
    assert known == "What is known: Nothing. With a single known positive, nothing can be hidden."
    assert told(estimate=None)[0] == "What is known: Nothing. This run hid no known positives."


def test_small_lists_and_collapsed_runs():
    assert "Check 7 nodes drawn for it, about 7 minutes." in told(nodes=7, estimate=None)[1]
    collapsed = [{"code": "no-ranking", "message": "They do not rank above."}]
    assert told(degenerate=collapsed)[2].startswith("What to do next: Run again.")


@pytest.mark.parametrize(("low", "high", "wide"), [(0.2, 0.6, False), (0.2, 0.71, True)])
def test_a_share_unknown_share_beyond_one_half(low, high, wide):
    assert unknown_share(band(0.5, low, high)) == wide


def test_numbers_and_bands_in_words():
    assert [about(number) for number in (0, 7.6, 99.4, 104, 3104, 123456)] == [
        "0",
        "8",
        "99",
        "100",
        "3,100",
        "120,000",
    ]
    assert with_band(band(0.7, 0.62, 0.81)) == "70 % (62 to 81)"
    assert with_band(band(0.003, 0.002, 0.005)) == "0.3 % (0.2 to 0.5)"
    assert with_band(band(1, 1, 1)) == "100 %"
    assert with_band(band(4, 3.2, 5), "×") == "4.0 × (3.2 to 5.0)"


def test_what_feedback_changed():
    assert (
        what_changed(CHANGES)
        == "12 nodes confirmed and 8 rejected since the run mine; training went on from that model."
    )
    assert what_changed({**CHANGES, "warm": False}).endswith("; training started from scratch.")
    assert feedback_command("runs/mine") == (
        "pugnn fit --config runs/mine/run.json --confirmed confirmed.csv --rejected rejected.csv"
    )
