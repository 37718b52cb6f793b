"""Numbers and dates: standardised; amounts: their logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pugnn.features.attribute_table import MAX_FLOAT, Cells, number_in_text
from pugnn.features.encoding import ENCODINGS, ColumnFeatures, Encoding, Reading

#: The number in a text, or null.
NUMBER_IN_TEXT = number_in_text("cell")

#: The numbers of a column have a long tail if the 99th percentile is so many times the median.
LONG_TAIL = 10.0

#: Features are rounded by about this share of them.
PRECISION = 1e-6


def days_in_text(cell: str) -> str:
    """SQL for the date in a text as days since 1970, or null.

    Long texts are none. The year comes first and has four digits: DuckDB would read 3-7-12 as a day of the year 3.
    """
    return (
        rf"CASE WHEN strlen({cell}) < 64 AND regexp_matches({cell}, '^\s*\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}([T ]|$)') "
        f"THEN epoch_us(try_cast(trim({cell}) AS TIMESTAMP)) / 86400e6 END"
    )


#: The date in a text, or null.
DAYS_IN_TEXT = days_in_text("cell")


@ENCODINGS.register("number")
@dataclass(frozen=True)
class NumberEncoding(Encoding):
    """Numbers minus their mean, divided by their (population) standard deviation."""

    group = "standardised"
    stand_in = "the mean"

    mean: float  # of the values that are not missing
    deviation: float  # their standard deviation; 1 if they are all the same
    dates: bool  # whether the column holds dates, which count as days since 1970

    @classmethod
    def learn(cls, cells: Cells) -> Self:  # noqa: D102
        dates = cells.is_date or _mostly_dates(cells)
        return cls(*_moments(cells, read_numbers(cells, dates=dates)), dates)

    def read(self, cells: Cells) -> ColumnFeatures:  # noqa: D102
        return _standardised(read_numbers(cells, dates=self.dates), self.mean, self.deviation)

    def readings(self) -> list[tuple[str, Reading]]:  # noqa: D102
        return [(self.column, self._original)]

    def _original(self, value: float) -> str:
        """The number, or date, that was standardised."""
        number = _original(value, self.mean, self.deviation)
        return _day(number) if self.dates else f"{number:.6g}"

    def describe_values(self) -> str:  # noqa: D102
        if self.dates:
            return f"dates, standardised: mean {_day(self.mean)}, standard deviation {self.deviation:,.4g} days"
        return f"standardised: mean {self.mean:,.4g}, standard deviation {self.deviation:,.4g}"


@ENCODINGS.register("amount")
@dataclass(frozen=True)
class AmountEncoding(Encoding):
    r"""Logarithms of amounts, :math:`\log(1 + x)`, standardised; those of negative ones mirrored."""

    group = "logarithms, standardised"
    stand_in = "the mean"

    mean: float  # of the logarithms
    deviation: float  # their standard deviation; 1 if they are all the same

    @classmethod
    def learn(cls, cells: Cells) -> Self:  # noqa: D102
        return cls(*_moments(cells, _logarithms(cells)))

    def read(self, cells: Cells) -> ColumnFeatures:  # noqa: D102
        return _standardised(_logarithms(cells), self.mean, self.deviation)

    def readings(self) -> list[tuple[str, Reading]]:  # noqa: D102
        return [(self.column, self._original)]

    def _original(self, value: float) -> str:
        """The amount whose logarithm was standardised."""
        number = _original(value, self.mean, self.deviation)
        return f"{np.copysign(np.expm1(abs(number)), number):.6g}"

    def describe_values(self) -> str:  # noqa: D102
        return f"log(1 + amount), standardised: mean {self.mean:,.4g}, standard deviation {self.deviation:,.4g}"


def long_tail(values: NDArray[np.floating]) -> bool:
    """Whether numbers are amounts whose largest are out of proportion: none is negative, and the tail is long."""
    positive = values[values > 0]
    if not len(positive) or (values < 0).any():
        return False
    median, high = np.quantile(positive, (0.5, 0.99))
    return bool(high > LONG_TAIL * median)


def _logarithms(cells: Cells) -> NDArray[np.float64]:
    values = read_numbers(cells, dates=False)
    return np.copysign(np.log1p(np.abs(values)), values)


def _moments(cells: Cells, values: NDArray[np.float64]) -> tuple[str, int, float, float]:
    """What both encodings begin with: the column, how many of its values are missing, their mean and deviation."""
    missing = np.isnan(values)
    present = values[~missing]
    spread = present.max() - present.min()
    deviation = float(present.std() or spread) if spread else 1.0  # squares of numbers below 1e-162 are 0
    return cells.name, cells.count_missing(missing), float(present.mean()), deviation


def _standardised(values: NDArray[np.float64], mean: float, deviation: float) -> ColumnFeatures:
    missing = np.isnan(values)
    standardised = np.where(missing, 0.0, (values - mean) / deviation)
    return ColumnFeatures(standardised[:, None].astype(np.float32), missing)


def _original(value: float, mean: float, deviation: float) -> float:
    """What was standardised: 0 where it differs from that no more than single precision does."""
    number = value * deviation + mean
    return number if abs(number) > PRECISION * max(abs(mean), deviation) else 0.0


def read_numbers(cells: Cells, *, dates: bool) -> NDArray[np.float64]:
    """One number per node, NaN if missing; a cell that is not a number is an error."""
    if cells.numbers is not None:
        if cells.is_date == dates:
            return cells.values
        values = np.where(np.isnan(cells.values), np.nan, np.inf)  # a number is not a date
    else:
        number = "NULL"
        if cells.is_text:
            number = DAYS_IN_TEXT if dates else NUMBER_IN_TEXT
        elif cells.is_date == dates:
            number = "epoch_us(cell) / 86400e6" if dates else "try_cast(cell AS DOUBLE)"
        values = cells.read(f"CASE WHEN present THEN coalesce({number}, 'inf'::DOUBLE) END", np.nan)
    beyond = np.abs(values) > MAX_FLOAT
    if beyond.any():
        at = int(beyond.argmax())
        wrong = "is not a number" if np.isinf(values[at]) else "is not a finite 32-bit number"
        raise cells.complaint(at, "is not a date such as 2024-01-31" if dates else wrong)
    return values


def _day(days: float) -> str:
    return str(np.datetime64(0, "D") + np.timedelta64(round(days), "D"))


def _mostly_dates(cells: Cells) -> bool:
    if not cells.is_text or cells.numbers is not None:
        return False
    ((dates, numbers),) = cells.survey(f"count({DAYS_IN_TEXT}), count({NUMBER_IN_TEXT})", "WHERE present")
    return bool(dates > numbers)
