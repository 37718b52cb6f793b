"""The page of a study: a summary of its rows, then every case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from pugnn.metrics import METRICS
from pugnn.task import Sampling
from pugnn_paper.pages.blocks import NONE, Block, Heading, Line, Paragraph, Text, columns_table, table
from pugnn_paper.pages.repeated import opening
from pugnn_paper.pages.study_summary import Case, Metric, StudyResult, StudySummary
from pugnn_paper.pages.wording import dataset_name, number, p_value, signed, span, spread
from pugnn_paper.rows import Row
from pugnn_paper.statistics import best_rows

METRIC_NAMES: dict[Metric, str] = {name: METRICS[name].words for name in get_args(Metric)}
#: Metrics that every summary has.
_USUAL: tuple[Metric, ...] = ("average_precision", "roc_auc", "precision_at_100", "macro_f1")

#: The share of positives among the unlabelled nodes, or the one that the data set has.
Share = float | Literal["natural"]


def share_words(share: Share) -> str:
    """A share as pages name it.

    Example:
        >>> share_words("natural"), share_words(0.005)
        ('natural', '0.5 %')
    """
    return "natural" if share == "natural" else f"{100 * share:g} %"


@dataclass(frozen=True)
class Study:
    """Rows on the tasks of several data sets, for numbers of labels (or the paper's label ratios) drawn in some ways.

    Args:
        title: of its page.
        question: what it shows and how it is measured.
        rows: what is compared, by name.
        datasets: by name.
        metrics: those with tables of their own; the first decides which row is best.
        labels: numbers of labels, drawn from all positives; every other node is unlabelled and scored.
        samplings: ways to draw them.
        ratios: label ratios of the paper's protocol, with its training split.
        shares: to which positives are made rare.
        paper_classes: whether the paper's classes are positive, where it has some; otherwise they are chosen by size.
        both_classes: whether the largest class is positive in a second task, where classes are chosen by size.
        near: a row that is at most so many points below the best row of a case counts as good as the best.
        baselines: the row that a row is compared with.
        left_out: why a method is not trained on a data set, by both names.
    """

    title: str
    question: str
    rows: Mapping[str, Row]
    datasets: tuple[str, ...]
    metrics: tuple[Metric, ...]
    labels: tuple[int, ...] = ()
    samplings: tuple[Sampling, ...] = ("uniform",)
    ratios: tuple[float, ...] = ()
    shares: tuple[Share, ...] = ()
    paper_classes: bool = True
    both_classes: bool = False
    near: float = 1.5
    baselines: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyPage:
    """The part of a study that was asked for, with its results; ``command`` makes the page.

    ``settings`` are the ways to draw labels, in the order in which they are shown.
    """

    study: Study
    rows: Sequence[str]
    datasets: Sequence[str]
    settings: Sequence[str]
    results: list[StudyResult]
    command: str
    footer: str


def study_page(page: StudyPage) -> Iterator[Block]:
    """Summary, then for each metric the differences from the baselines and the values themselves."""
    study, summary = page.study, StudySummary(page.results, page.rows)
    yield from opening(study.title, study.question, page.command, page.footer)
    yield from _left_out(page)
    if not summary.rows:
        return
    yield from standings(study, summary)
    for metric in study.metrics:
        name = METRIC_NAMES[metric]
        yield Heading(f"{name[0].upper()}{name[1:]} (%)", 2)
        yield from differences(study, summary, metric)
        yield Paragraph(
            "Mean ± standard deviation over the draws. Bold: highest mean of its column. Percentage in the head of a "
            f"column: positive share of the test nodes. {NONE}: not measured.",
            note=True,
        )
        for title, cases in _groups(summary.cases).items():
            draws = [len(own[case]) for own in summary.scores(metric).values() for case in cases if case in own]
            if draws:
                yield Heading(f"{title}, {span((min(draws), max(draws)), 'draw')}", 3)
                yield _values(summary, metric, cases, title)


def _left_out(page: StudyPage) -> Iterator[Paragraph]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for (method, dataset), why in page.study.left_out.items():
        if dataset in page.datasets and method in {page.study.rows[row].method for row in page.rows}:
            reasons.setdefault((method, why), []).append(dataset_name(dataset))
    for (method, why), datasets in reasons.items():
        yield Paragraph(f"Left out: {method} on {', '.join(datasets)} ({why}).")


def standings(study: Study, summary: StudySummary) -> Iterator[Block]:
    """A line for each row, over all its cases."""
    first, *_ = study.metrics
    used = {*_USUAL, *study.metrics}
    shown: tuple[Metric, ...] = (first, *(metric for metric in METRIC_NAMES if metric in used - {first}))
    yield Heading("Summary", 2)
    yield Paragraph(
        "A case is a data set with its positive classes, a number of labels and a way to draw them. AP (average "
        "precision), AUC, P@100 (precision among the 100 nodes that score highest) and macro-F1 are means over cases, "
        f"in percent. Near best: cases where the {METRIC_NAMES[first]} of the row is at most {study.near:g} points "
        "below that of the best row; worst gap: its largest distance from the best, in points. Share error: mean "
        "absolute difference between the share of test nodes that is decided positive and the true one, in points. All "
        "or none: trainings that decide every test node alike. Prior: whether the row is given the positive share of "
        "the unlabelled nodes. Seconds are those of a training on one core. Where a row lacks cases, the second line "
        "is the mean of another row on the same cases.",
        note=True,
    )
    given = {result.row for result in summary.results if result.prior_given}
    heads: list[Text | str] = ["row", "prior", *(METRICS[metric].short for metric in shown)]
    heads += [Text("near", "best"), Text("worst", "gap"), Text("share", "error"), Text("all or", "none"), "seconds"]
    lines: list[Line] = []
    for row in summary.rows:
        found = summary.standing(row, first, shown, near=study.near)
        lines.append(
            [
                row,
                "given" if row in given else NONE,
                _first_mean(study, summary, row, first),
                *(number(found.means[metric], 1) for metric in shown[1:]),
                f"{found.near_best} / {found.cases}",
                number(found.worst_gap, 1),
                f"{found.share_error:.1f}",
                f"{found.one_sided} / {found.trainings}",
                f"{found.seconds:.1f}",
            ]
        )
    yield table("Summary", heads, lines)


def _first_mean(study: Study, summary: StudySummary, row: str, metric: Metric) -> Text:
    """The row's mean; where it lacks cases, with that of its baseline on the same ones, which alone is comparable."""
    cases, baseline, under = summary.cases_of(row), study.baselines.get(row), ""
    if len(cases) < len(summary.cases) and baseline in summary.rows:
        under = f"{baseline}: {number(summary.over(metric, baseline, cases), 1)}"
    return Text(number(summary.over(metric, row, cases), 1), under)


def differences(study: Study, summary: StudySummary, metric: Metric) -> Iterator[Block]:
    """Every row minus its baseline."""
    found = summary.differences(metric, study.baselines)
    if not found:
        return
    name = f"Differences in {METRIC_NAMES[metric]}"
    yield Heading(name, 3)
    yield Paragraph(
        "In points, on the cases and draws that both rows have: means over each data set, and over all tasks, a task "
        "being a data set with its positive classes. Then wins / ties / losses of the first row over the tasks, with "
        "the p of the Wilcoxon signed-rank test, Holm-corrected over the lines.",
        note=True,
    )
    datasets = list(dict.fromkeys(case.dataset for case in summary.cases))
    lines: list[Line] = []
    for row, one in found.items():
        gaps, paired = map(one.by_dataset.get, datasets), one.paired
        lines.append(
            [
                Text(row, f"minus {study.baselines[row]}"),
                Text(signed(one.overall, ".1f"), strong=True),
                Text(f"{paired.wins} / {paired.ties} / {paired.losses}", p_value(paired.p)),
                *(NONE if gap is None else signed(gap, ".1f") for gap in gaps),
            ]
        )
    yield table(name, ["", "all tasks", "w / t / l", *map(dataset_name, datasets)], lines)


def _groups(cases: Sequence[Case]) -> dict[str, list[Case]]:
    """Cases that share a table: those of a data set, or all of them if each has a data set of its own."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(dataset_name(case.dataset), []).append(case)
    return {"All data sets": list(cases)} if len(groups) == len(cases) > 1 else groups


def _values(summary: StudySummary, metric: Metric, cases: Sequence[Case], title: str) -> Block:
    """A line per row, a column per case."""
    columns = [summary.means(metric, case) for case in cases]
    several = len({case.dataset for case in cases}) > 1
    heads: list[Text | str] = [""]
    for case in cases:
        share = next(result.share_positive for result in summary.results if result.case == case)
        name, under = (dataset_name(case.dataset), case.setting) if several else (case.setting, case.positive)
        heads.append(Text(name, f"{under}, {share:.{0 if share >= 10 else 1}f} %"))
    best = [best_rows({row: mean for row, (mean, _) in column.items()}) for column in columns]
    texts = [
        {row: Text(spread(*entry), strong=row in strong) for row, entry in column.items()}
        for column, strong in zip(columns, best, strict=True)
    ]
    return columns_table(f"{METRIC_NAMES[metric]}, {title}", heads, texts, summary.rows)
