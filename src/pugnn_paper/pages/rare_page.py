"""The page of the study of rare positives: means over all tasks, by share and number of labels."""

from __future__ import annotations

from collections.abc import Iterator

from pugnn.errors import counted
from pugnn.methods import DEFAULT_METHOD
from pugnn_paper.pages.blocks import NONE, Block, Heading, Paragraph, Text, columns_table
from pugnn_paper.pages.repeated import opening
from pugnn_paper.pages.study_page import METRIC_NAMES, StudyPage, differences, share_words, standings
from pugnn_paper.pages.study_summary import Metric, StudySummary
from pugnn_paper.pages.wording import number
from pugnn_paper.statistics import best_rows

#: Shares that are rare, and to which most graphs can be thinned.
RARE = (0.02, 0.005)


def rare_page(page: StudyPage) -> Iterator[Block]:
    """Summary, how often the default is as good as the best, its lead where positives are rare, then the means."""
    study, summary = page.study, StudySummary(page.results, page.rows)
    yield from opening(study.title, study.question, page.command, page.footer)
    if not summary.rows:
        return
    yield from standings(study, summary)
    by_share: dict[str, list[str]] = {}
    measured = {case.setting for case in summary.cases}
    for setting in page.settings:
        if setting in measured:
            by_share.setdefault(setting.rpartition(", ")[2], []).append(setting)
    yield from _near_best(page, summary, by_share)
    rare = [share_words(share) for share in RARE if share_words(share) in by_share]
    if rare:
        yield Heading(f"Positives that are {' and '.join(rare)} of the unlabelled nodes", 2)
        some = summary.among(setting for share in rare for setting in by_share[share])
        yield from differences(study, some, study.metrics[0])
    yield Paragraph(
        "The tables below have means over the tasks that exist for a share and a number of labels, in percent. Compare "
        f"rows and not shares, which have different tasks. Bold: highest mean of its column. {NONE}: not measured.",
        note=True,
    )
    for metric in study.metrics:
        name = METRIC_NAMES[metric]
        yield Heading(f"{name[0].upper()}{name[1:]} (%)", 2)
        for share, settings in by_share.items():
            yield Heading(f"Share: {share}", 3)
            yield _means(summary, metric, settings, f"{name}, {share}")


def _near_best(page: StudyPage, summary: StudySummary, by_share: dict[str, list[str]]) -> Iterator[Paragraph]:
    """In how many cases the default is close to the best row, in all and by share."""
    first, parts = page.study.metrics[0], []
    for words, settings in {"in all": page.settings, **by_share}.items():
        some = summary.among(settings)
        if DEFAULT_METHOD in some.rows:
            found = some.standing(DEFAULT_METHOD, first, (), near=page.study.near)
            parts.append(f"{words} {found.near_best} of {found.cases}")
    if parts:
        yield Paragraph(
            f"Cases where {DEFAULT_METHOD} is at most {page.study.near:g} points of {METRIC_NAMES[first]} below the "
            f"best row: {', '.join(parts)}."
        )


def _means(summary: StudySummary, metric: Metric, settings: list[str], name: str) -> Block:
    """A line per row, a column per number of labels."""
    cases = {setting: [case for case in summary.cases if case.setting == setting] for setting in settings}
    heads: list[Text | str] = [""]
    heads += [Text(setting.rpartition(", ")[0], counted(len(own), "task")) for setting, own in cases.items()]
    columns = []
    for own in cases.values():
        means = {row: mean for row in summary.rows if (mean := summary.over(metric, row, own)) is not None}
        columns.append({row: Text(number(mean, 1), strong=row in best_rows(means)) for row, mean in means.items()})
    return columns_table(name, heads, columns, summary.rows)
