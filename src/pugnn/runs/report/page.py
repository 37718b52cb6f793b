"""The page: the template with its values, style and script, and a policy that lets nothing else run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pugnn.errors import shown
from pugnn.explain.wording import score_words, signed
from pugnn.features import Statement, grouped
from pugnn.files import replacing
from pugnn.runs.report import charts
from pugnn.runs.report.answers import GOALS, answers, feedback_command, what_changed, with_band
from pugnn.runs.report.content import ReportContent, in_hops
from pugnn.runs.report.data import island, page_data
from pugnn.runs.report.templates import content_policy, fill_template, resource
from pugnn.runs.report.words import next_steps, summary

#: Parts of ``run.json`` that are shown elsewhere on the page.
ELSEWHERE = (
    "changes",
    "check_up",
    "degenerate",
    "estimate",
    "estimate_missing",
    "explanations",
    "method_notes",
    "metrics",
    "notes",
    "recipe",
    "settled_prior",
    "suggestions",
    "warnings",
)

#: Lines of the recipe, and of the repairs, that are shown.
MOST_LINES = 200


def write_report(path: Path, content: ReportContent) -> None:
    """Write the report of a run as one HTML file that works without a network."""
    page = render(content)
    with replacing(path) as temporary:
        temporary.write_bytes(page.encode("utf-8", "replace"))


def render(content: ReportContent) -> str:
    """The page as text. User content is escaped, in the template and in the data of the script."""
    style, script = resource(__package__, "style.css"), resource(__package__, "report.js")
    axis = charts.score_axis(content)
    data = {**page_data(content), "axis": axis}
    values = {
        "title": content.title,
        "content": content,
        "record": content.record,
        "policy": content_policy(style, script),
        "style": style,
        "script": script,
        "data": island(data),
        "listed": data["list"]["kept"],
        "answers": answers(content.record),
        "estimate": content.record.get("estimate"),
        "expected": _expected(content.record),
        "goals": GOALS,
        "suggestions": content.record.get("suggestions"),
        "command": feedback_command("…"),
        "changes": content.record.get("changes"),
        "summary": summary(content),
        "steps": next_steps(content),
        "axis": axis,
        "bins": charts.BINS,
        "height": charts.HEIGHT,
        "histograms": [charts.histogram(content.scores[ring.members], axis) for ring in content.rings],
        "rings": _rings(content),
        "degrees": charts.degree_bars(content),
        "curves": charts.curves(content.log),
        "picture": content.picture,
        "protocol": _protocol(content.record),
        "most_lines": MOST_LINES,
        "recipe": grouped(Statement(**line) for line in content.record["recipe"]),
        "settings": _settings(content.record),
    }
    filters: dict[str, Callable[..., str]] = {
        "shown": shown,
        "grouped": lambda number: f"{number:,}",
        "percent": _percent,
        "day": _day,
        "with_band": with_band,
        "what_changed": what_changed,
        "hops": in_hops,
        "signed": signed,
        "score_words": score_words,
    }
    return fill_template(__package__, "template.html", values, filters)


def _rings(content: ReportContent) -> list[dict[str, Any]]:
    """Sizes of the rings and, where the truth is known, the share of positives in each."""
    bars = charts.bars([ring.label for ring in content.rings], [len(ring.members) for ring in content.rings])
    lines = []
    for bar, ring in zip(bars, content.rings, strict=True):
        judged = ring.members[content.judged[ring.members]]
        positive = content.truth.positive[judged] if content.truth is not None and len(judged) else None
        lines.append({"bar": bar, "positive": None if positive is None else 100 * float(positive.mean())})
    return lines


def _expected(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What to expect of the top of the list and of the nodes decided positive, beside the truth where it is known."""
    estimate = record.get("estimate")
    if estimate is None:
        return []
    truth = estimate["truth"]
    right = {} if truth is None else {each["taken"]: each["precision"] for each in truth["first"]}
    lines = [
        {"words": f"first {each['taken']:,}", "truth": right.get(each["taken"]), **each} for each in estimate["first"]
    ]
    decided = estimate["decided"]
    if decided is None:  # nobody is
        return lines
    share = None if truth is None else truth["decided"]["precision"]
    return [*lines, {"words": f"{decided['taken']:,} decided positive", "lift": None, "truth": share, **decided}]


def _protocol(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How the known positives were drawn, if they were."""
    names = ("dataset", "labels", "label_ratio", "label_ratio_of", "unlabelled", "truth", "seed")
    options = record["options"]
    return [(_words(name), str(options[name])) for name in names if options.get(name) is not None]


def _settings(record: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The rest of ``run.json`` in groups of names and values."""
    groups: dict[str, list[tuple[str, str]]] = {"run": []}
    for name, value in record.items():
        if name in ELSEWHERE:
            continue
        if isinstance(value, Mapping):
            groups[name] = [(_words(key), _plain(inner)) for key, inner in _flat(value)]
        else:
            groups["run"].append((_words(name), _plain(value)))
    return [(_words(name), rows) for name, rows in groups.items() if rows]


def _flat(values: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for name, value in values.items():
        flat += _flat(value, f"{before}{name} · ") if isinstance(value, Mapping) else [(before + name, value)]
    return flat


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else shown(value, limit=300)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _percent(value: float) -> str:
    return f"{value:.0f} %" if value >= 1 or value == 0 else f"{max(value, 0.1):.1f} %"


def _day(moment: str) -> str:
    """``2026-05-04T10:11:12+00:00`` → ``4 May 2026, 10:11 UTC``."""
    when = datetime.fromisoformat(moment).astimezone(UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"
