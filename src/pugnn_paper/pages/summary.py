"""The numbers on the pages."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from pugnn_paper.published import Published
from pugnn_paper.statistics import Paired, average_ranks, best_rows, compare_all, mean_and_deviation

#: Level of the tests.
LEVEL = 0.05

#: Data set, label ratio and draw: what two rows have in common when they are compared.
Case = tuple[str, float, int]


@dataclass(frozen=True)
class Place:
    """The place of a training in a table.

    A row is what is compared: a method (``pu-gnn``), a variant (``L_G only``), near and far prior (``0.6, 0.3``) or a
    distance δ (``3``). The same draw has the same split and labels for all rows.
    """

    reading: str
    dataset: str
    row: str
    ratio: float
    draw: int


@dataclass(frozen=True)
class Result(Place):
    """A training and what came of it: number of labels, metrics on the test nodes in percent, and training time."""

    labels: int
    macro_f1: float
    roc_auc: float | None
    seconds: float


@dataclass(frozen=True)
class Entry:
    """One cell of a table, compared within its column; mean and standard deviation are in percent.

    ``mean`` is ``None`` where nothing was measured, ``deviation`` is ``nan`` with fewer than two draws, and ``mark``
    means significantly better (▲) or worse (▼) than the reference row.
    """

    mean: float | None
    deviation: float
    published: tuple[float, float] | None
    mark: Literal["", "▲", "▼"]
    best: bool

    @property
    def difference(self) -> float | None:
        """Measured minus published mean, as far as both exist."""
        return None if self.mean is None or self.published is None else self.mean - self.published[0]


class Summary:
    """The results of one reading.

    Args:
        results: of this reading; scores that are not finite count as not measured.
        published: the paper's values.
        rows: all rows, in their order.
        reference: the row against which the others are tested.
    """

    def __init__(
        self, results: Iterable[Result], published: Published, rows: Sequence[str], reference: str | None
    ) -> None:
        self.results = [result for result in results if math.isfinite(result.macro_f1)]
        self.published = published
        self.rows = rows
        self.reference = reference
        self._scores: dict[tuple[str, str], dict[Case, float]] = defaultdict(dict)
        for result in self.results:
            case = (result.dataset, result.ratio, result.draw)
            self._scores[result.dataset, result.row][case] = result.macro_f1
        measured = {result.dataset for result in self.results}
        # The paper's order, then whatever else was measured.
        order = dict.fromkeys([dataset for dataset, _, _ in published] + sorted(measured))
        self.datasets = [dataset for dataset in order if dataset in measured]

    def ratios(self, dataset: str) -> list[float]:
        """Ratios with a measured or published value."""
        return sorted(
            {result.ratio for result in self.results if result.dataset == dataset}
            | {ratio for name, _, ratio in self.published if name == dataset}
        )

    def labels(self, dataset: str, ratio: float) -> tuple[int, int] | None:
        """Least and largest number of labels in a column."""
        return _ends(r.labels for r in self.results if (r.dataset, r.ratio) == (dataset, ratio))

    def draws(self, dataset: str) -> tuple[int, int]:
        """Least and largest number of draws of the measured cells of a data set."""
        drawn = Counter((result.row, result.ratio) for result in self.results if result.dataset == dataset)
        return _ends(drawn.values()) or (0, 0)

    def column(self, dataset: str, ratio: float) -> dict[str, Entry]:
        """The cells of a data set and ratio, for every row that this data set has at any ratio."""
        published = {row for name, row, _ in self.published if name == dataset}
        scores = {
            row: {case: score for case, score in self._scores[dataset, row].items() if case[1] == ratio}
            for row in self.rows
            if row in published or self._scores[dataset, row]
        }
        measured = {row: mean_and_deviation(list(draws.values())) for row, draws in scores.items() if draws}
        best, marks = best_rows({row: mean for row, (mean, _) in measured.items()}), self._marks(scores)
        entries = {}
        for row in scores:
            mean, deviation = measured.get(row, (None, math.nan))
            paper = self.published.get((dataset, row, ratio))
            entries[row] = Entry(mean, deviation, paper, marks.get(row, ""), row in best)
        return entries

    def ranks(self, datasets: Sequence[str]) -> tuple[dict[str, float], int]:
        """Average ranks of the rows measured on each of these data sets, over the blocks that all of them have."""
        # A row that was left out on a data set must not exclude that data set for the others.
        rows = [row for row in self.rows if all(self._scores[name, row] for name in datasets)]
        # Ratios that give the same number of labels are the same draws, and count once.
        once = {name: {self.labels(name, ratio): ratio for ratio in self.ratios(name)}.values() for name in datasets}
        scores = {
            row: {
                case: score
                for name in datasets
                for case, score in self._scores[name, row].items()
                if case[1] in once[name]
            }
            for row in rows
        }
        return average_ranks(scores)

    def pairs(self, dataset: str) -> dict[tuple[str, str], Paired]:
        """All pairs of the paper's rows, the reference's first; p is corrected over them.

        A draw gives one pair of values, each a mean over the ratios, which share split and seed.
        """
        known = {row for name, row, _ in self.published if name == dataset}
        rows = [row for row in self.rows if row in known and self._scores[dataset, row]]
        rows.sort(key=lambda row: row != self.reference)
        return compare_all({pair: self._means_by_draw(dataset, *pair) for pair in combinations(rows, 2)})

    def average(self, dataset: str, row: str, name: Literal["roc_auc", "seconds"]) -> float | None:
        """Mean of a value over the trainings of a row on a data set; ``None`` where nothing was measured."""
        own = (getattr(result, name) for result in self.results if (result.dataset, result.row) == (dataset, row))
        known = [number for number in own if number is not None and math.isfinite(number)]
        return mean_and_deviation(known)[0] if known else None

    def _means_by_draw(self, dataset: str, *rows: str) -> list[dict[int, float]]:
        """For each row its mean over the ratios, by draw, over the cases that all these rows have."""
        scores = [self._scores[dataset, row] for row in rows]
        common = sorted(set.intersection(*(set(own) for own in scores)))
        draws = dict.fromkeys(case[2] for case in common)
        return [
            {draw: mean_and_deviation([own[case] for case in common if case[2] == draw])[0] for draw in draws}
            for own in scores
        ]

    def _marks(self, scores: Mapping[str, Mapping[Case, float]]) -> dict[str, Literal["▲", "▼"]]:
        if self.reference is None or self.reference not in scores:
            return {}
        reference = scores[self.reference]
        compared = compare_all({row: (own, reference) for row, own in scores.items() if row != self.reference})
        significant = {row: paired for row, paired in compared.items() if paired.p is not None and paired.p < LEVEL}
        return {row: "▲" if paired.direction > 0 else "▼" for row, paired in significant.items()}


@dataclass(frozen=True)
class Closeness:
    """How far a reading is from the paper: mean absolute differences (points) over all cells and by row."""

    reading: str
    overall: float
    by_row: dict[str, float]


def closeness(summaries: Mapping[str, Summary]) -> tuple[list[Closeness], int]:
    """The readings, closest to the paper first, over the published cells that all of them measured; and their number.

    Only common cells count: a reading measured on easier cells alone would otherwise look closer than it is.
    """
    differences = {
        reading: {
            (dataset, row, ratio): abs(entry.difference)
            for dataset in summary.datasets
            for ratio in summary.ratios(dataset)
            for row, entry in summary.column(dataset, ratio).items()
            if entry.difference is not None
        }
        for reading, summary in summaries.items()
    }
    cells = set.intersection(*(set(own) for own in differences.values())) if differences else set()
    if not cells:
        return [], 0
    found = []
    for reading, own in differences.items():
        by_row = defaultdict(list)
        for cell in sorted(cells):
            by_row[cell[1]].append(own[cell])
        overall = sum(own[cell] for cell in sorted(cells)) / len(cells)
        found.append(Closeness(reading, overall, {row: sum(some) / len(some) for row, some in by_row.items()}))
    return sorted(found, key=lambda one: one.overall), len(cells)


def _ends(numbers: Iterable[int]) -> tuple[int, int] | None:
    known = set(numbers)
    return (min(known), max(known)) if known else None
