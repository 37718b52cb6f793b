"""The numbers on the page of a study."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pugnn_paper.statistics import Paired, compare_all, mean_and_deviation

Metric = Literal[
    "average_precision", "roc_auc", "precision_at_positives", "precision_at_20", "precision_at_100", "macro_f1"
]


@dataclass(frozen=True)
class Case:
    """What rows are compared on: a data set, the classes that are positive in it, and how labels are drawn."""

    dataset: str
    positive: str
    setting: str


@dataclass(frozen=True)
class StudyPlace(Case):
    """The place of a training in a study. The same draw has the same labels for all rows."""

    row: str
    draw: int

    @property
    def case(self) -> Case:
        """The case that the training belongs to."""
        return Case(self.dataset, self.positive, self.setting)


@dataclass(frozen=True)
class StudyResult(StudyPlace):
    """A training and what came of it: metrics and shares of the test nodes are in percent."""

    prior_given: bool
    labels: int
    roc_auc: float | None
    average_precision: float | None
    precision_at_positives: float | None
    precision_at_20: float | None
    precision_at_100: float | None
    macro_f1: float | None
    share_positive: float
    share_decided: float
    seconds: float

    @property
    def one_sided(self) -> bool:
        """Whether all test nodes, or none, are decided positive."""
        return self.share_decided in (0.0, 100.0)


@dataclass(frozen=True)
class Standing:
    """A row over all its cases.

    ``near_best`` counts the cases where it is close to the best row, ``worst_gap`` is its largest distance from that;
    ``share_error`` is the mean absolute error (points) of the share decided positive.
    """

    cases: int
    means: dict[Metric, float | None]
    near_best: int
    worst_gap: float | None
    share_error: float
    one_sided: int
    trainings: int
    seconds: float


@dataclass(frozen=True)
class Difference:
    """A row minus its baseline on the cases and draws that both have: means by data set and over all tasks.

    A task is a data set with its positive classes; each is one pair of the test, since the settings and draws of a
    task are not independent.
    """

    by_dataset: dict[str, float]
    overall: float
    paired: Paired


class StudySummary:
    """The results of a study; ``rows`` is the order of those that have any."""

    def __init__(self, results: Sequence[StudyResult], rows: Iterable[str]) -> None:
        self.results = results
        measured = {result.row for result in results}
        self.rows = [row for row in rows if row in measured]
        self.cases = list(dict.fromkeys(result.case for result in results))
        self.scores = cache(self._scores)

    def _scores(self, metric: Metric) -> dict[str, dict[Case, dict[int, float]]]:
        """By row, case and draw; where the metric does not exist, there is no score."""
        found: dict[str, dict[Case, dict[int, float]]] = {row: defaultdict(dict) for row in self.rows}
        for result in self.results:
            value = getattr(result, metric)
            if value is not None:
                found[result.row][result.case][result.draw] = value
        return found

    def means(self, metric: Metric, case: Case) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation of each row that has scores in a case."""
        by_row = {row: own[case] for row, own in self.scores(metric).items() if case in own}
        return {row: mean_and_deviation(list(draws.values())) for row, draws in by_row.items()}

    def over(self, metric: Metric, row: str, cases: Iterable[Case]) -> float | None:
        """Mean of a row over some cases, as far as it has them."""
        known = [found[row][0] for case in cases if row in (found := self.means(metric, case))]
        return mean_and_deviation(known)[0] if known else None

    def among(self, settings: Iterable[str]) -> StudySummary:
        """The results with some settings alone."""
        wanted = set(settings)
        return StudySummary([result for result in self.results if result.setting in wanted], self.rows)

    def cases_of(self, row: str) -> list[Case]:
        """The cases that a row was measured on."""
        measured = {result.case for result in self.results if result.row == row}
        return [case for case in self.cases if case in measured]

    def standing(self, row: str, metric: Metric, others: Sequence[Metric], *, near: float) -> Standing:
        """A row over its cases; ``metric`` decides which row is best in a case, and how many points are close to it."""
        gaps = []
        for case in self.cases:
            found = {name: mean for name, (mean, _) in self.means(metric, case).items()}
            if row in found:
                gaps.append(max(found.values()) - found[row])
        own = [result for result in self.results if result.row == row]
        errors = [abs(result.share_decided - result.share_positive) for result in own]
        return Standing(
            cases=len(self.cases_of(row)),
            means={name: self.over(name, row, self.cases) for name in others},
            near_best=sum(gap <= near for gap in gaps),
            worst_gap=max(gaps, default=None),
            share_error=mean_and_deviation(errors)[0],
            one_sided=sum(result.one_sided for result in own),
            trainings=len(own),
            seconds=mean_and_deviation([result.seconds for result in own])[0],
        )

    def differences(self, metric: Metric, baselines: Mapping[str, str]) -> dict[str, Difference]:
        """Every row against its baseline, p corrected over the rows."""
        scores, found, pairs = self.scores(metric), {}, {}
        for row, baseline in baselines.items():
            if row not in scores or baseline not in scores:
                continue
            tasks: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
            for case, draws in scores[row].items():
                other = scores[baseline].get(case, {})
                both = [(draws[draw], other[draw]) for draw in draws if draw in other]
                tasks[case.dataset, case.positive] += both
            means = {
                task: tuple(mean_and_deviation(one)[0] for one in zip(*both, strict=True))
                for task, both in tasks.items()
                if both
            }
            if not means:
                continue
            gaps = {task: own - other for task, (own, other) in means.items()}
            datasets = dict.fromkeys(dataset for dataset, _ in gaps)
            by_dataset = {
                name: mean_and_deviation([gap for (dataset, _), gap in gaps.items() if dataset == name])[0]
                for name in datasets
            }
            found[row] = (by_dataset, mean_and_deviation(list(gaps.values()))[0])
            pairs[row] = tuple({task: pair[side] for task, pair in means.items()} for side in (0, 1))
        compared = compare_all(pairs)
        return {row: Difference(*gaps, compared[row]) for row, gaps in found.items()}
