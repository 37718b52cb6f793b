"""The three answers that come first, on the terminal and in the report: what is known, what is measured, what to do."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pugnn.errors import counted, percent, shown
from pugnn.evidence.bands import REMEDY
from pugnn.evidence.measured import is_vague, is_wide
from pugnn.runs.folder import next_free
from pugnn.runs.run import Evidence, Results
from pugnn.training.scoring import ABOVE_ALL_SCORES

#: Precision is told for the first so many nodes.
TOLD_FOR = 100
#: Nodes that are drawn to be checked, at about a minute each.
CHECKS = 20

#: What a list of suggestions is for.
GOALS = {
    "precision": ("Best finds", "The top of the list, without near copies."),
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
    """A question, the answer in a few words, the rest of it, and the command to go on with, if there is one."""

    question: str
    short: str
    text: str
    command: str = ""


def answers(run: Path, nodes: int, evidence: Evidence, results: Results) -> list[Answer]:
    """What is known of a run's ranking of so many unlabelled nodes, what is measured, and what to do next.

    Example:
        >>> found = answers(Path("runs/mine"), 50, Evidence(), Results(threshold=0.5, prior=0.1))
        >>> print(*(f"{each.question}: {each.short}" for each in found), sep="; ")
        What is known: Nothing.; What is measured: Nothing yet.; What to do next: Check 20 nodes.
        >>> found[2].command
        'pugnn audit runs/mine'
    """
    return [_known(evidence), _measured(nodes, evidence), _next(run, nodes, evidence, results)]


def feedback_command(run: str, checked: str | None = None) -> str:
    """The command that trains again with the answers, which may be in a table with verdicts."""
    answers = "--confirmed confirmed.csv --rejected rejected.csv" if checked is None else f"--checked {checked}"
    return f"pugnn fit --config {run}/run.json {answers}"


def _known(evidence: Evidence) -> Answer:
    question, estimate = "What is known", evidence.estimate
    if estimate is None:
        missing = evidence.estimate_missing or "this run hid no known positives."
        return Answer(question, "Nothing.", missing[:1].upper() + missing[1:])
    if not evidence.signal:
        short, _, text = estimate["headline"][0].partition(": ")
        return Answer(question, f"{short}.", text[:1].upper() + text[1:])
    first, *rest = estimate["headline"]
    return Answer(question, first, " ".join(rest))


def _measured(nodes: int, evidence: Evidence) -> Answer:
    question, audit, measured = "What is measured", evidence.audit, evidence.measured
    if measured is None:
        count = min(CHECKS, nodes) if audit is None else audit["drawn"]
        time = f"about {counted(count, 'minute')}"
        text = f"Check {counted(count, 'node')} drawn for it, {time}."
        if not evidence.signal:
            text = f"An audit of {counted(count, 'node')} would show how many positives there are."
        if audit is not None:
            text = f"{counted(count, 'node')} drawn for it, none checked: {time}."
        return Answer(question, "Nothing yet.", text + _truth(evidence, nodes))
    top = told_top(measured)
    short = "" if top is None else _of_the_first(top["taken"], top["precision"])
    sentences = [f"Measured on {on_checks(measured)}."]
    if (decided := measured["decided"]) is not None:
        sentences.append(
            f"Precision of the {decided['taken']:,} decided positive: {share_words(decided['precision'])}."
        )
    sentences.append(f"{number_words(measured['positives'])}.")
    return Answer(question, short, " ".join(sentences) + _truth(evidence, nodes))


def told_top(measured: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first 100 nodes, or the most of them of which the precision is known; ``None`` for a list of fewer than 10.

    Where none of it is known, it is the largest.
    """
    tops = [each for each in measured["first"] if each["taken"] <= TOLD_FOR]
    return next((each for each in reversed(tops) if not unknown_share(each["precision"])), tops[-1] if tops else None)


def on_checks(measured: Mapping[str, Any]) -> str:
    """What a measurement rests on: ``20 checks``, ``20 checks and 50 nodes besides``."""
    if not measured["checks"]:
        return f"{counted(measured['others'], 'node')} that were not drawn at random"
    besides = f" and {counted(measured['others'], 'node')} besides" if measured["others"] else ""
    return counted(measured["checks"], "check") + besides


def unknown_share(band: Mapping[str, float]) -> bool:
    """Whether a share is drawn pale and called unknown."""
    return is_wide(band["low"], band["high"])


def unknown_number(band: Mapping[str, float]) -> bool:
    """Whether a number is called unknown."""
    return is_vague(band["low"], band["high"])


def choice_words(choice: Mapping[str, Any]) -> str:
    """A list for a purpose (:class:`pugnn.evidence.purposes.Choice`, in plain values) and what is measured of it."""
    precision, recall = (share_words(choice[name]) for name in ("precision", "recall"))
    named = {"found": "Positives among them", "missed": "Positives missed", "cost": "Cost"}
    numbers = [number_words(choice[name], words) for name, words in named.items() if choice[name] is not None]
    listed = f"the first {counted(choice['taken'], 'node')}" if choice["taken"] else "no node"
    return f"For {choice['purpose']}: {listed}. Precision: {precision}. Recall: {recall}. {'. '.join(numbers)}."


def number_words(band: Mapping[str, float], what: str = "Number of positives") -> str:
    """A number of positives in words; one whose interval says little is called unknown."""
    value, low, high = about(band["value"]), about(band["low"], math.floor), about(band["high"], math.ceil)
    if unknown_number(band):
        return f"{what}: unknown, {low} to {high}"
    return f"{what}: {value}" + (f" ({low} to {high})" if low != high else "")


def _of_the_first(taken: int, band: Mapping[str, float]) -> str:
    value, low, high = (round(band[end] * taken) for end in ("value", "low", "high"))
    rest = f"of the first {taken:,} are positive."
    if unknown_share(band):
        return f"Unknown: {low:,} to {high:,} {rest}"
    if low < value == high:  # all that were checked are
        return f"At least {low:,} {rest}"
    if low == value < high:
        return f"At most {high:,} {rest}"
    return f"{value:,}{f' ({low:,} to {high:,})' if low < high else ''} {rest}"


def share_words(band: Mapping[str, float]) -> str:
    """A measured share in words; one whose interval says little is called unknown."""
    if unknown_share(band):
        return f"unknown, {percent(band['low'])} to {percent(band['high'])}"
    if band["low"] < band["value"] == band["high"]:
        return f"at least {percent(band['low'])}"
    return f"at most {percent(band['high'])}" if band["low"] == band["value"] < band["high"] else with_band(band)


def _truth(evidence: Evidence, nodes: int) -> str:
    """What the truth says of the list, where it was given."""
    truth = None if evidence.estimate is None else evidence.estimate["truth"]
    if truth is None:
        return ""
    right = [each["precision"] for each in truth["first"] if each["taken"] == TOLD_FOR]
    first = f"{round(right[0] * TOLD_FOR):,} of the first {TOLD_FOR:,} are positive, and " if right else ""
    return f" By the truth that was given, {first}{about(truth['prior'] * nodes)} of all {nodes:,}."


def _next(run: Path, nodes: int, evidence: Evidence, results: Results) -> Answer:
    question, audit, path = "What to do next", evidence.audit, shlex.quote(str(run))
    if audit is not None:
        files = audit["files" if audit["open"] else "checked"] or ["checked.csv"]
        if audit["open"]:
            short = f"Check the nodes in {shown(Path(files[-1]).name)}."
            text = "Fill in its column verdict with yes or no, and then:"
            return Answer(question, short, text, f"pugnn audit {path} {shlex.quote(files[-1])}")
        text = "The next round learns from the verdicts; then check again."
        return Answer(question, "Train again.", text, command_of_next_round(run, files))
    if not results.ranked:
        return Answer(question, "Run again.", "This result is degenerate: the notice says what to change.")
    if not evidence.signal:
        none_can_be = results.threshold >= ABOVE_ALL_SCORES
        decide = " To decide all the same, run again with --decide." if none_can_be else ""
        return Answer(question, "Provide more evidence.", f"{REMEDY}{decide}")
    text = "They are drawn at random from all parts of the list, and your verdicts show how good it is:"
    return Answer(question, f"Check {counted(min(CHECKS, nodes), 'node')}.", text, f"pugnn audit {path}")


def command_of_next_round(run: Path, checked: Sequence[str]) -> str:
    """The command that trains a new run beside this one, with the verdicts in files."""
    files = " --checked ".join(map(shlex.quote, checked))
    return f"{feedback_command(shlex.quote(str(run)), files)} --out {shlex.quote(str(next_round(run)))}"


def next_round(run: Path) -> Path:
    """A folder for the next run: ``mine-2`` after ``mine``, ``mine-3`` after that, the first that is free."""
    return next_free(run.parent, re.sub(r"-[1-9]\d?$", "", run.name), first=2)


def about(number: float, to_whole: Callable[[float], int] = round) -> str:
    """A number that is only roughly known, to two digits: ``3,100``, ``87``, ``0``; ends of an interval go outwards."""
    unit = 10 ** max(0, len(str(int(abs(number)))) - 2)
    return f"{unit * to_whole(round(number / unit, 9)):,}"


def with_band(band: Mapping[str, float], unit: str = "%") -> str:
    """A value with its band in words: ``74 % (62 to 81)``, ``0.3 % (0.2 to 0.5)``; a factor has the unit ``×``."""
    factor = 100 if unit == "%" else 1
    digits = 0 if factor * band["high"] >= 10 else 1
    value, low, high = (f"{factor * band[end]:.{digits}f}" for end in ("value", "low", "high"))
    return f"{value} {unit} ({low} to {high})" if low != high else f"{value} {unit}"


def what_changed(changes: Mapping[str, Any]) -> str:
    """What a run with feedback was given, and how it went on."""
    told = f"{counted(changes['confirmed'], 'node')} confirmed and {changes['rejected']:,} rejected since the run"
    how = "training went on from that model" if changes["warm"] else "training started from scratch"
    return f"{told} {shown(changes['before'])}; {how}."
