"""The pages of the repeated tables, as Markdown and as HTML: measured values beside the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pugnn.experiments.pages.blocks import Block, Cell, Heading, Paragraph, Table, to_html, to_markdown
from pugnn.experiments.pages.sections import comparison, over_all, pairs, sensitivity
from pugnn.experiments.pages.summary import Summary, closeness
from pugnn.experiments.pages.wording import NONE, dataset_name, level, sentence, signed
from pugnn.experiments.results import Published, Result

Counts = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class TablePage:
    """All that a page shows. Texts are plain; what stands between backticks is set as code.

    Args:
        name: such as ``table2``.
        title: such as ``Comparison of the methods (Table 2 of the paper)``.
        question: one or two sentences: what is measured, and how.
        command: the command that makes the page.
        footer: versions, number of trainings, time.
        results: one per training.
        published: the paper's values.
        rows: all rows, in their order.
        reading_words: what each reading means, in the order of the page.
        reference: the row against which the others are tested.
        kind: how it is drawn: against the label ratio, over two priors (rows ``near, far``), or over δ.
    """

    name: str
    title: str
    question: str
    command: str
    footer: str
    results: list[Result]
    published: Published
    rows: list[str]
    reading_words: dict[str, str]
    reference: str | None
    kind: Literal["comparison", "priors", "delta"]


def markdown(page: TablePage) -> str:
    """The page as Markdown for GitHub."""
    return to_markdown(list(_table_page(page)))


def html(page: TablePage) -> str:
    """The page as one HTML file with charts."""
    return to_html(list(_table_page(page)), page.title)


def statistics_markdown(measured: Counts, published: Counts, command: str, footer: str) -> str:
    """Table 1, the numbers of nodes by data set, as Markdown."""
    return to_markdown(list(_statistics_page(measured, published, command, footer)))


def statistics_html(measured: Counts, published: Counts, command: str, footer: str) -> str:
    """Table 1, the numbers of nodes by data set, as HTML."""
    return to_html(list(_statistics_page(measured, published, command, footer)), _STATISTICS_TITLE)


def readings_markdown(pages: Sequence[TablePage], command: str, footer: str) -> str:
    """Which reading comes closest to the paper, table by table, as Markdown."""
    return to_markdown(list(_readings_page(pages, command, footer)))


def readings_html(pages: Sequence[TablePage], command: str, footer: str) -> str:
    """Which reading comes closest to the paper, table by table, as HTML."""
    return to_html(list(_readings_page(pages, command, footer)), _READINGS_TITLE)


_STATISTICS_TITLE = "Statistics of the data sets (Table 1 of the paper)"
_REFERENCE = {"comparison": "", "priors": "the priors ", "delta": "δ = "}
_READINGS_TITLE = "Which reading comes closest to the paper"


def _statistics_page(measured: Counts, published: Counts, command: str, footer: str) -> Iterator[Block]:
    yield Heading(_STATISTICS_TITLE, 1)
    yield Paragraph("Numbers of nodes: first line as loaded, second line as published, with the difference.")
    yield _made_by(command, footer)
    datasets = list(dict.fromkeys([*published, *measured]))
    counts = dict.fromkeys(key for table in (published, measured) for name in datasets for key in table.get(name, {}))
    lines = []
    for count in counts:
        line = [Cell(count)]
        for name in datasets:
            ours, theirs = measured.get(name, {}).get(count), published.get(name, {}).get(count)
            under = NONE if theirs is None else f"{theirs:,}"
            if ours is not None and theirs is not None:
                under += f" ({signed(ours - theirs, ',')})"
            line.append(Cell(NONE if ours is None else f"{ours:,}", under))
        lines.append(line)
    yield Table("Numbers of nodes", [Cell(""), *(Cell(dataset_name(name)) for name in datasets)], lines)


def _readings_page(pages: Sequence[TablePage], command: str, footer: str) -> Iterator[Block]:
    yield Heading(_READINGS_TITLE, 1)
    yield Paragraph(
        "The paper leaves several things open; a reading settles them one way. Each number is the mean absolute "
        "difference, in points of macro-F1, between measured and published means, over the cells of the table that "
        "were measured under every reading. Smaller is closer; the closest reading stands first."
    )
    yield _made_by(command, footer)
    words: dict[str, str] = {}
    for page in pages:
        words |= page.reading_words
        found, cells = closeness(_summaries(page))
        yield Heading(page.title, 2)
        if not found:
            yield Paragraph("No published cell was measured under every reading.")
            continue
        # Twenty pairs of priors would make a table that nobody reads.
        rows = [row for row in page.rows if row in found[0].by_row] if page.kind == "comparison" else []
        lines = [
            [
                Cell(one.reading),
                Cell(f"{one.overall:.1f}", strong=one is found[0]),
                *(Cell(f"{one.by_row[row]:.1f}") for row in rows),
            ]
            for one in found
        ]
        yield Table(page.title, [Cell("reading"), Cell("all", f"{cells} cells"), *map(Cell, rows)], lines)
    if words:
        yield Heading("The readings", 2)
        for name, meaning in words.items():
            yield Paragraph(f"“{name}”: {sentence(meaning)}")


def _table_page(page: TablePage) -> Iterator[Block]:
    yield Heading(page.title, 1)
    yield Paragraph(page.question)
    yield _made_by(page.command, page.footer)
    yield Paragraph(_how_to_read(page), note=True)
    for reading, summary in _summaries(page).items():
        yield Heading(f"Reading “{reading}”", 2)
        if page.reading_words.get(reading):
            yield Paragraph(sentence(page.reading_words[reading]))
        if page.kind == "comparison":
            for dataset in summary.datasets:
                yield from comparison(summary, dataset)
            yield from over_all(summary)
            yield from pairs(summary)
        else:
            for dataset in summary.datasets:
                for ratio in summary.ratios(dataset):
                    if summary.labels(dataset, ratio) is None:  # published, but not asked for here
                        continue
                    yield from sensitivity(summary, dataset, ratio, page.kind)


def _summaries(page: TablePage) -> dict[str, Summary]:
    """A summary per reading that has results, in the order of the page."""
    measured = dict.fromkeys(result.reading for result in page.results)
    order = dict.fromkeys([*page.reading_words, *measured])
    return {
        reading: Summary(
            (result for result in page.results if result.reading == reading), page.published, page.rows, page.reference
        )
        for reading in order
        if reading in measured
    }


def _how_to_read(page: TablePage) -> str:
    text = (
        "First line of a cell: measured macro-F1 (%) on the test nodes, mean ± standard deviation over the draws. "
        "Second line: published value and, in brackets, measured minus published. Bold: highest measured mean of its "
        f"{'column' if page.kind == 'comparison' else 'table'}. {NONE}: not measured or not published."
    )
    if page.reference is None:
        return text
    return text + (
        f" ▲ and ▼: significantly better or worse than {_REFERENCE[page.kind]}{page.reference} ({level()}, "
        "two-sided Wilcoxon signed-rank test on the same draws, Holm-corrected over the rows of a data set and ratio)."
    )


def _made_by(command: str, footer: str) -> Paragraph:
    return Paragraph(f"Made by `{command}`. {footer}".strip())
