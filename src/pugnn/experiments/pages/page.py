"""The pages of the repeated tables as lists of blocks: measured values beside the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pugnn.experiments.pages.blocks import Block, Heading, Line, Paragraph, Text, table
from pugnn.experiments.pages.sections import comparison, over_all, pairs, sensitivity
from pugnn.experiments.pages.summary import Result, Summary, closeness
from pugnn.experiments.pages.wording import NONE, dataset_name, level, sentence, signed
from pugnn.experiments.published import Published

Counts = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class TablePage:
    """Everything on a page. Texts are plain; what is between backticks is set as code.

    Args:
        title: such as ``Comparison of the methods (Table 2 of the paper)``.
        question: what is measured, and how.
        command: makes the page.
        footer: versions, number of trainings, time.
        results: one per training.
        published: the paper's values.
        rows: in order.
        reading_words: meaning of each reading, in order.
        reference: the row against which the others are tested.
        kind: drawn against the label ratio, over two priors (rows ``near, far``), or over δ.
    """

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


def table_page(page: TablePage) -> Iterator[Block]:
    """A table of the paper, reading by reading."""
    yield from opening(page.title, page.question, page.command, page.footer)
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
                    if summary.labels(dataset, ratio) is not None:  # otherwise published, but not asked for here
                        yield from sensitivity(summary, dataset, ratio, page.kind)


def statistics_page(measured: Counts, published: Counts, command: str) -> Iterator[Block]:
    """Table 1, the numbers of nodes by data set."""
    yield from opening(
        "Statistics of the data sets (Table 1 of the paper)",
        "Numbers of nodes: first line as loaded, second line as published, with the difference.",
        command,
        "As the data sets are loaded, with the paper's positive classes.",
    )
    datasets = list(dict.fromkeys([*published, *measured]))
    counts = dict.fromkeys(key for source in (published, measured) for name in datasets for key in source.get(name, {}))
    lines = []
    for count in counts:
        line: list[Text | str] = [count]
        for name in datasets:
            ours, theirs = measured.get(name, {}).get(count), published.get(name, {}).get(count)
            under = NONE if theirs is None else f"{theirs:,}"
            if ours is not None and theirs is not None:
                under += f" ({signed(ours - theirs, ',')})"
            line.append(Text(NONE if ours is None else f"{ours:,}", under))
        lines.append(line)
    yield table("Numbers of nodes", ["", *map(dataset_name, datasets)], lines)


def readings_page(pages: Sequence[TablePage], command: str) -> Iterator[Block]:
    """Which reading comes closest to the paper, table by table."""
    yield from opening(
        "Which reading comes closest to the paper",
        "The paper leaves several things open; a reading settles them one way. Each number is the mean absolute "
        "difference, in points of macro-F1, between measured and published means, over the cells of the table that "
        "were measured under every reading. Smaller is closer; the closest reading comes first.",
        command,
        "The numbers themselves are on the pages of the tables.",
    )
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
        lines: list[Line] = []
        for one in found:
            overall = Text(f"{one.overall:.1f}", strong=one is found[0])
            lines.append([one.reading, overall, *(f"{one.by_row[row]:.1f}" for row in rows)])
        yield table(page.title, ["reading", Text("all", f"{cells} cells"), *rows], lines)
    if words:
        yield Heading("The readings", 2)
        for name, meaning in words.items():
            yield Paragraph(f"“{name}”: {sentence(meaning)}")


def opening(title: str, question: str, command: str, footer: str) -> Iterator[Block]:
    """How every page begins: what it shows, and what made it."""
    yield Heading(title, 1)
    yield Paragraph(question)
    yield Paragraph(f"Made by `{command}`. {footer}".strip())


def _summaries(page: TablePage) -> dict[str, Summary]:
    """A summary per reading that has results, in the order of the page."""
    by_reading: dict[str, list[Result]] = {reading: [] for reading in page.reading_words}
    for result in page.results:
        by_reading.setdefault(result.reading, []).append(result)
    return {
        reading: Summary(results, page.published, page.rows, page.reference)
        for reading, results in by_reading.items()
        if results
    }


def _how_to_read(page: TablePage) -> str:
    text = (
        "First line of a cell: measured macro-F1 (%) on the test nodes, mean ± standard deviation over the draws. "
        "Second line: published value and, in brackets, measured minus published. Bold: highest measured mean of its "
        f"{'column' if page.kind == 'comparison' else 'table'}. {NONE}: not measured or not published."
    )
    if page.reference is None:
        return text
    reference = {"comparison": "", "priors": "the priors ", "delta": "δ = "}[page.kind] + page.reference
    return text + (
        f" ▲ and ▼: significantly better or worse than {reference} ({level()}, two-sided Wilcoxon signed-rank test on "
        "the same draws, Holm-corrected over the rows of a data set and ratio)."
    )
