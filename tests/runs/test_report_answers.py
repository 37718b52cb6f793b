from copy import deepcopy

import pytest

from estimates import CHANGES, ESTIMATE, SUGGESTIONS, band
from pugnn.runs.report.answers import about, answers, feedback_command, what_changed, with_band
from pugnn.runs.run import Evidence, Results, read_section

RECORD = {
    "threshold": 0.5,
    "prior": 0.18,
    "settled_prior": ESTIMATE["prior"],
    "estimate": ESTIMATE,
    "suggestions": SUGGESTIONS,
    "degenerate": [],
    "decided_by": "the first 3,000, the given budget",
}


def told(**changes):
    return [f"{each.question} {each.short} {each.text}" for each in answers_of({**RECORD, **changes}, 17_000)]


def answers_of(record, nodes):
    return answers(nodes, read_section(Evidence, record), read_section(Results, record))


def estimate(**changes):
    return {**deepcopy(ESTIMATE), **changes}


def test_the_three_answers():
    assert told() == [
        "How many? About 3,100 positives (1,900 to 4,400) among the 17,000 unlabelled nodes, estimated from known "
        "positives that were hidden in turn. In truth 2,900. Decided positive: the first 3,000, the given budget.",
        "How good is the list? About 72 of the first 100 (62 to 81) are expected to be positive if the known positives "
        "are typical. Half of the 30 known ones, when hidden, rank in the top 4.1 %. In truth 75 of the first 100 are.",
        "What next? Check the best finds first: user-0000003, user-0000004, user-0000008, … Then run again with the "
        "answers: right ones as known positives, wrong ones as known negatives.",
    ]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("given", "17,000 unlabelled nodes, as the share that was given says."),
        ("range", "17,000 unlabelled nodes, estimated within the range that was given."),
    ],
)
def test_says_how_the_number_is_known(source, words):
    prior = {**band(0.1, 0.1, 0.1), "source": source}
    assert told(settled_prior=prior, estimate=None, decided_by=None)[0] == (
        f"How many? About 1,700 positives among the {words}"
    )


def test_a_wide_interval_is_the_answer():
    wide = {**band(0.35, 0.04, 0.57), "source": "estimated"}
    rule = "the top list with the highest expected F1"
    assert told(settled_prior=wide, estimate=estimate(truth=None), decided_by=rule)[0] == (
        "How many? About 6,000 positives (680 to 9,700) among the 17,000 unlabelled nodes. Known positives alone "
        "limit this number from above, but hardly from below. Check twenty finds to know better: pugnn suggest, then "
        "--checked. "
        "Decided positive: the top list with the highest expected F1."
    )


def test_no_signal_is_an_answer():
    found = estimate(signal=False, chance=0.43, positives=None, first=[], decided=None, truth=None)
    estimated = {**band(0.35, 0.04, 0.57), "source": "estimated"}
    nobody = "nobody, because no signal was found"
    assert told(settled_prior=estimated, estimate=found, decided_by=nobody) == [
        "How many? Not known. No signal found: the known positives cannot be told from other nodes (p = 0.43). "
        "Decided positive: nobody, because no signal was found.",
        "How good is the list? No better than chance, as far as hidden positives tell.",
        "What next? Provide more evidence. More known positives, other attributes or edges, or a check of the ids "
        "could help. To decide all the same, run again with --decide.",
    ]


def test_a_short_list_is_told_for_what_there_is():
    short = estimate(first=ESTIMATE["first"][:1], truth=None)
    assert told(estimate=short)[1].startswith("How good is the list? About 9 of the first 10 (7 to 10) are")
    assert told(estimate=estimate(first=[], truth=None))[1] == (
        "How good is the list? Not known. There are too few unlabelled nodes for a share of the first ones."
    )
    sharp = estimate(first=[{**ESTIMATE["first"][0], "precision": band(1.0, 1.0, 1.0)}], truth=None)
    assert told(estimate=sharp)[1].startswith("How good is the list? About 10 of the first 10 are expected")


def test_without_an_estimate_the_reason_is_told():
    assumed = {**band(0.1, 0.0, 1.0), "source": "assumed"}
    missing = "with a single known positive, nothing can be hidden."
    many, good, _ = told(settled_prior=assumed, estimate=None, estimate_missing=missing)
    assert many == (
        "How many? Not known yet. With a single known positive, nothing can be hidden. This run assumes 10 % of "
        "the 17,000 unlabelled nodes; if you know, give --prior."
    )
    assert good == "How good is the list? Not known yet. With a single known positive, nothing can be hidden."
    assert told(settled_prior=assumed)[0].startswith("How many? Not known yet. The data do not say. This run")


def test_runs_of_earlier_versions_have_answers():
    many, good, later = (
        f"{each.short} {each.text}" for each in answers_of({"threshold": 0.5, "prior": 0.1, "degenerate": []}, 5)
    )
    assert many == good == "Not known yet. This run made no estimate."
    assert later.startswith("Check the first 20. Then run again")


def test_nothing_is_to_be_checked_in_a_degenerate_run():
    collapsed = [{"code": "no-ranking", "message": "They do not rank above."}]
    assert told(suggestions=None, degenerate=collapsed)[2].startswith("What next? Run again.")


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
    assert what_changed({**CHANGES, "warm": False}).endswith("; training started anew.")
    assert feedback_command("runs/mine") == (
        "pugnn fit --config runs/mine/run.json --confirmed confirmed.csv --rejected rejected.csv"
    )
