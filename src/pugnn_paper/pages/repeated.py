"""The pages of the repeated tables as lists of blocks: measured values beside the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pugnn_paper.pages.blocks import NONE, Block, Heading, Line, Paragraph, Text, table
from pugnn_paper.pages.sections import comparison, over_all, pairs, sensitivity
from pugnn_paper.pages.summary import Result, Summary, closeness
from pugnn_paper.pages.wording import LEVEL_WORDS, dataset_name, sentence, signed
from pugnn_paper.published import Published
from pugnn_paper.rows import Row

Counts = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class TableSpec:
    """One of the paper's tables of trained models: texts for its page, its rows by name, and what the paper measured.

    The other rows are tested against ``reference``. Results are drawn against the label ratio, over two priors (rows
    ``near, far``), or over δ.
    """

    title: str
    question: str
    rows: dict[str, Row]
    published: Published
    datasets: tuple[str, ...]
    ratios: tuple[float, ...]
    reference: str
    kind: Literal["comparison", "priors", "delta"]


@dataclass(frozen=True)
class TablePage:
    """Rows of a table with their results, under readings with their meaning; ``command`` makes the page."""

    spec: TableSpec
    rows: Sequence[str]
    readings: dict[str, str]
    results: list[Result]
    command: str
    footer: str

    @property
    def reference(self) -> str | None:
        """The row against which the others are tested, where it is among them."""
        return self.spec.reference if self.spec.reference in self.rows else None


def table_page(page: TablePage) -> Iterator[Block]:
    """A table of the paper, reading by reading."""
    yield from opening(page.spec.title, page.spec.question, page.command, page.footer)
    yield Paragraph(_how_to_read(page), note=True)
    for reading, summary in _summaries(page).items():
        yield Heading(f"Reading “{reading}”", 2)
        if page.readings.get(reading):
            yield Paragraph(sentence(page.readings[reading]))
        if page.spec.kind == "comparison":
            for dataset in summary.datasets:
                yield from comparison(summary, dataset)
            yield from over_all(summary)
            yield from pairs(summary)
        else:
            for dataset in summary.datasets:
                for ratio in summary.ratios(dataset):
                    if summary.labels(dataset, ratio) is not None:  # otherwise published, but not asked for here
                        yield from sensitivity(summary, dataset, ratio, page.spec.kind)


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
        words |= page.readings
        found, cells = closeness(_summaries(page))
        yield Heading(page.spec.title, 2)
        if not found:
            yield Paragraph("No published cell was measured under every reading.")
            continue
        # Twenty pairs of priors would make a table that nobody reads.
        rows = [row for row in page.rows if row in found[0].by_row] if page.spec.kind == "comparison" else []
        lines: list[Line] = []
        for one in found:
            overall = Text(f"{one.overall:.1f}", strong=one is found[0])
            lines.append([one.reading, overall, *(f"{one.by_row[row]:.1f}" for row in rows)])
        yield table(page.spec.title, ["reading", Text("all", f"{cells} cells"), *rows], lines)
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
    measured = [result.reading for result in page.results]
    return {
        reading: Summary(
            [result for result in page.results if result.reading == reading],
            page.spec.published,
            page.rows,
            page.reference,
        )
        for reading in dict.fromkeys([*page.readings, *measured])
        if reading in measured
    }


def _how_to_read(page: TablePage) -> str:
    text = (
        "First line of a cell: measured macro-F1 (%) on the test nodes, mean ± standard deviation over the draws. "
        "Second line: published value and, in brackets, measured minus published. Bold: highest measured mean of its "
        f"{'column' if page.spec.kind == 'comparison' else 'table'}. {NONE}: not measured or not published."
    )
    if page.reference is None:
        return text
    reference = {"comparison": "", "priors": "the priors ", "delta": "δ = "}[page.spec.kind] + page.reference
    return text + (
        f" ▲ and ▼: significantly better or worse than {reference} ({LEVEL_WORDS}, two-sided Wilcoxon signed-rank test "
        "on the same draws, Holm-corrected over the rows of a data set and ratio)."
    )
