"""The sections of a page of results: tables and charts of one reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from pugnn_paper.pages.blocks import NONE, Block, Figure, Heading, Line, Paragraph, Text, columns_table, table
from pugnn_paper.pages.line_charts import Point, Series, Tick, line_chart
from pugnn_paper.pages.summary import LEVEL, Entry, Summary
from pugnn_paper.pages.wording import LEVEL_WORDS, dataset_name, entry_cell, number, p_value, span
from pugnn_paper.statistics import MIN_PAIRS


def comparison(summary: Summary, dataset: str) -> Iterator[Block]:
    """A data set's rows against the label ratio."""
    name, ratios = dataset_name(dataset), summary.ratios(dataset)
    columns = {ratio: summary.column(dataset, ratio) for ratio in ratios}
    yield Heading(f"{name}, {span(summary.draws(dataset), 'draw')}", 3)
    heads = [Text(f"{ratio:g}", span(summary.labels(dataset, ratio), "label")) for ratio in ratios]
    rows = list(columns[ratios[0]])
    # The reference comes first, so that it has the same colour on every chart.
    drawn = sorted(rows, key=lambda row: row != summary.reference)
    yield Figure(
        line_chart(
            [_series(row, {ratio: column[row] for ratio, column in columns.items()}) for row in drawn],
            [Tick(ratio, head.text, head.under) for ratio, head in zip(ratios, heads, strict=True)],
            title=f"Macro-F1 on {name} against the label ratio",
            x_title="label ratio",
            log=True,
        )
    )
    cells = [{row: entry_cell(entry) for row, entry in column.items()} for column in columns.values()]
    yield columns_table(f"Macro-F1 on {name}", ["label ratio", *heads], cells, rows)
    yield from _caveat(summary, dataset)


def sensitivity(summary: Summary, dataset: str, ratio: float, kind: Literal["priors", "delta"]) -> Iterator[Block]:
    """What a setting of PU-GNN changes, on one data set and ratio."""
    where = f"{dataset_name(dataset)} at ratio {ratio:g}"
    counted = span(summary.labels(dataset, ratio), "label") or "not measured"
    yield Heading(f"{where} ({counted}), {span(summary.draws(dataset), 'draw')}", 3)
    entries = summary.column(dataset, ratio)
    cells = {row: entry_cell(entry) for row, entry in entries.items()}
    if kind == "priors":
        near, far = (sorted({row.split(", ")[place] for row in entries}) for place in (0, 1))
        rows = {name: {one: f"{one}, {name}" for one in near if f"{one}, {name}" in entries} for name in far}
        title = f"Macro-F1 on {where} by the two priors"
        x_title = "prior of the near nodes, π̂; each line is a prior of the far ones, π̆"
        head = ["far π̆, near π̂", *near]
    else:
        rows = {"macro-F1": {row: row for row in entries}}
        title, x_title = f"Macro-F1 on {where} against δ", "δ, the distance up to which a node is near"
        head = ["δ", *entries]
    series = [_series(name, {float(x): entries[row] for x, row in own.items()}) for name, own in rows.items()]
    ticks = [Tick(float(x), x) for x in head[1:]]
    yield Figure(line_chart(series, ticks, title=title, x_title=x_title, log=False))
    lines = [[name, *(cells[own[x]] if x in own else NONE for x in head[1:])] for name, own in rows.items()]
    yield table(title, head, lines)
    yield from _caveat(summary, dataset)
    known = [time for row in entries if (time := summary.average(dataset, row, "seconds")) is not None]
    if known:
        yield Paragraph(f"Mean training time: {sum(known) / len(known):.2f} seconds.")


def over_all(summary: Summary) -> Iterator[Block]:
    """Ranks, ranking quality and time: a line per row, a column per data set."""
    several = len(summary.datasets) > 1
    ranked = {dataset_name(name): summary.ranks([name]) for name in summary.datasets}
    if several:
        ranked["all"] = summary.ranks(summary.datasets)
    if any(len(ranks) > 1 for ranks, _ in ranked.values()):
        yield Heading("Average rank", 3)
        words = "1 is best; over the blocks, each a ratio and draw, that all rows have."
        if several:
            words += " Under “all”, among the rows that were measured on every data set."
        yield Paragraph(words, note=True)
        head: Line = ["", *(Text(name, f"{blocks} blocks") for name, (_, blocks) in ranked.items())]
        columns = [{row: number(rank, 2) for row, rank in ranks.items()} for ranks, _ in ranked.values()]
        yield columns_table("Average rank", head, columns, summary.rows)
    averages: tuple[tuple[str, Literal["roc_auc", "seconds"], int], ...] = (
        ("Mean ROC-AUC (%), over ratios and draws", "roc_auc", 1),
        ("Mean training time (seconds)", "seconds", 2),
    )
    for title, value, digits in averages:
        columns = []
        for name in summary.datasets:
            means = ((row, summary.average(name, row, value)) for row in summary.rows)
            columns.append({row: number(mean, digits) for row, mean in means if mean is not None})
        if any(columns):
            yield Heading(title, 3)
            yield columns_table(title, ["", *map(dataset_name, summary.datasets)], columns, summary.rows)


def pairs(summary: Summary) -> Iterator[Block]:
    """Every two of the rows that have published values, by data set."""
    by_dataset = {name: summary.pairs(name) for name in summary.datasets}
    names = dict.fromkeys(pair for found in by_dataset.values() for pair in found)
    if not names or max(summary.draws(name)[1] for name in summary.datasets) < 2:
        return
    yield Heading("Pairs of the paper's rows", 3)
    yield Paragraph(
        "Wins / ties / losses of the first over the draws, each draw the mean over the label ratios, with the p of the "
        "Wilcoxon signed-rank test, Holm-corrected over the pairs of a data set.",
        note=True,
    )
    lines: list[Line] = []
    for first, second in names:
        compared = [found.get((first, second)) for found in by_dataset.values()]
        cells = (Text(f"{one.wins} / {one.ties} / {one.losses}", p_value(one.p)) if one else NONE for one in compared)
        lines.append([f"{first} – {second}", *cells])
    yield table("Pairs of rows", ["", *map(dataset_name, by_dataset)], lines)


def _series(name: str, entries: Mapping[float, Entry]) -> Series:
    """A line of a chart; the paper's rows are in the foreground."""
    measured = [Point(x, entry.mean, entry.deviation) for x, entry in entries.items() if entry.mean is not None]
    published = [Point(x, *entry.published) for x, entry in entries.items() if entry.published is not None]
    return Series(name, measured, published, strong=bool(published))


def _caveat(summary: Summary, dataset: str) -> Iterator[Paragraph]:
    """What the number of draws is too small to show."""
    most = summary.draws(dataset)[1]
    tests = len(summary.column(dataset, summary.ratios(dataset)[0])) - 1
    if most == 1:
        yield Paragraph("One draw: there is no spread, and nothing is tested.", note=True)
    elif summary.reference is not None and (most < MIN_PAIRS or tests * 2 / 2**most >= LEVEL):
        yield Paragraph(
            f"With {most} draws, a test corrected over {tests} rows cannot reach the {LEVEL_WORDS}: nothing is marked.",
            note=True,
        )
