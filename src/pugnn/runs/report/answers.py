"""The three answers that come first, on the terminal and in the report: how many, how good, what next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pugnn.errors import counted, percent, shown
from pugnn.evidence.bands import REMEDY, WIDE, no_signal_words
from pugnn.runs.run import Evidence, Results

#: The precision of the list is told for its first so many nodes.
TOLD_FOR = 100
#: Ids that are named on the first screen.
NAMED = 3

#: What a list of suggestions is for.
GOALS = {
    "precision": ("Best finds", "The top of the list, without near copies. How many are right tells how good it is."),
    "discovery": (
        "Likely positives of other kinds",
        "They touch no known positive, and resemble one less than is typical of likely positives, or not at all.",
    ),
    "learning": (
        "Nodes that teach most",
        "They are chosen to stand for many others; the answers improve the next run most.",
    ),
}


@dataclass(frozen=True)
class Answer:
    """A question, the answer in a few words, and the rest of the sentence."""

    question: str
    short: str
    text: str


def answers(nodes: int, evidence: Evidence, results: Results) -> list[Answer]:
    """How many positives there are among so many unlabelled nodes, how good the list is, and what to do next.

    Example:
        >>> found = answers(50, Evidence(), Results(threshold=0.5, prior=0.1))
        >>> print(*(f"{each.question} {each.short}" for each in found), sep="; ")
        How many? Not known yet.; How good is the list? Not known yet.; What next? Check the first 20.
    """
    return [_how_many(nodes, evidence, results), _how_good(evidence), _what_next(evidence, results)]


def feedback_command(run: str, checked: str | None = None) -> str:
    """The command that trains again with the answers, which may be in a table with verdicts."""
    answers = "--confirmed confirmed.csv --rejected rejected.csv" if checked is None else f"--checked {checked}"
    return f"pugnn fit --config {run}/run.json {answers}"


def _how_many(nodes: int, evidence: Evidence, results: Results) -> Answer:
    question, estimate, prior = "How many?", evidence.estimate, evidence.settled_prior
    decided = "" if results.decided_by is None else f" Decided positive: {results.decided_by}."
    if prior is None:
        return Answer(question, "Not known yet.", "This run made no estimate.")
    if prior["source"] == "assumed":
        why = "The data do not say." if estimate is not None else _why_not(evidence)
        assumed = (
            f"This run assumes {percent(prior['value'])} of the {nodes:,} unlabelled nodes; if you know, give --prior."
        )
        return Answer(question, "Not known yet.", f"{why} {assumed}")
    if estimate is not None and not evidence.signal:
        return Answer(question, "Not known.", no_signal_words(estimate["chance"]) + decided)
    value, low, high = (about(prior[name] * nodes) for name in ("value", "low", "high"))
    short = f"About {value} positives" + (f" ({low} to {high})" if low != high else "")
    text = f"among the {nodes:,} unlabelled nodes"
    if prior["source"] == "estimated" and prior["high"] > WIDE * prior["low"]:
        text += (
            ". Known positives alone limit this number from above, but hardly from below. Check twenty finds to know "
            "better: pugnn suggest, then --checked."
        )
    else:
        text += {
            "given": ", as the share that was given says.",
            "range": ", estimated within the range that was given.",
            "estimated": ", estimated from known positives that were hidden in turn.",
        }[prior["source"]]
    truth = None if estimate is None else estimate["truth"]
    if truth is not None:
        text += f" In truth {about(truth['prior'] * nodes)}."
    return Answer(question, short, text + decided)


def _how_good(evidence: Evidence) -> Answer:
    question, estimate = "How good is the list?", evidence.estimate
    if estimate is None:
        return Answer(question, "Not known yet.", _why_not(evidence))
    if not evidence.signal:
        return Answer(question, "No better than chance,", "as far as hidden positives tell.")
    if not estimate["first"]:
        return Answer(question, "Not known.", "There are too few unlabelled nodes for a share of the first ones.")
    told = [each for each in estimate["first"] if each["taken"] <= TOLD_FOR] or estimate["first"]
    taken, band = told[-1]["taken"], told[-1]["precision"]
    hidden = estimate["hidden"]
    text = (
        "are expected to be positive if the known positives are typical. Half of the "
        f"{hidden['count']:,} known ones, when hidden, rank in the top {percent(hidden['median_rank'])}."
    )
    truth = estimate["truth"]
    right = [] if truth is None else [each["precision"] for each in truth["first"] if each["taken"] == taken]
    if right:
        text += f" In truth {round(right[0] * taken):,} of the first {taken:,} are."
    value, low, high = (math.floor(band[end] * taken + 0.5) for end in ("value", "low", "high"))
    short = f"About {value:,} of the first {taken:,}" + (f" ({low:,} to {high:,})" if low < high else "")
    return Answer(question, short, text)


def _what_next(evidence: Evidence, results: Results) -> Answer:
    question, suggested = "What next?", results.suggestions
    again = "Then run again with the answers: right ones as known positives, wrong ones as known negatives."
    if not evidence.signal:
        nobody = (results.decided_by or "").startswith("nobody")
        decide = " To decide all the same, run again with --decide." if nobody else ""
        return Answer(question, "Provide more evidence.", f"{REMEDY}{decide}")
    sure = [shown(each["id"], 20) for each in suggested["precision"]] if suggested else []
    if sure:
        more = ", …" if len(sure) > NAMED else "."
        return Answer(question, "Check the best finds first:", f"{', '.join(sure[:NAMED])}{more} {again}")
    if results.degenerate:
        return Answer(question, "Run again.", "This result is degenerate: the notice says what to change.")
    return Answer(question, "Check the first 20.", again)


def _why_not(evidence: Evidence) -> str:
    missing = evidence.estimate_missing or "this run made no estimate."
    return missing[:1].upper() + missing[1:]


def about(number: float) -> str:
    """A number that is only roughly known, to two digits: ``3,100``, ``87``, ``0``."""
    if abs(number) < 100:
        return f"{number:.0f}"
    digits = 2 - len(str(int(abs(number))))
    return f"{round(number, digits):,.0f}"


def with_band(band: Mapping[str, float], unit: str = "%") -> str:
    """A value with its band in words: ``74 % (62 to 81)``, ``0.3 % (0.2 to 0.5)``; a factor has the unit ``×``."""
    factor = 100 if unit == "%" else 1
    digits = 0 if factor * band["high"] >= 10 else 1
    value, low, high = (f"{factor * band[end]:.{digits}f}" for end in ("value", "low", "high"))
    return f"{value} {unit} ({low} to {high})" if low != high else f"{value} {unit}"


def what_changed(changes: Mapping[str, Any]) -> str:
    """What a run with feedback was given, and how it went on."""
    told = f"{counted(changes['confirmed'], 'node')} confirmed and {changes['rejected']:,} rejected since the run"
    how = "training went on from that model" if changes["warm"] else "training started anew"
    return f"{told} {shown(changes['before'])}; {how}."
