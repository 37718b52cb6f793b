"""Numbers and dates: standardised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError
from pugnn.features.attribute_table import MAX_FLOAT, Cells, number_in_text
from pugnn.features.encoding import ENCODINGS, ColumnFeatures, Encoding, Reading, count_missing

#: The number in a text, or null.
NUMBER_IN_TEXT = number_in_text("cell")

#: The date in a text as days since 1970, or null. Long texts are none. The year comes first and has four digits: DuckDB
#: would read 3-7-12 as a day of the year 3.
DAYS_IN_TEXT = (
    r"CASE WHEN strlen(cell) < 64 AND regexp_matches(cell, '^\s*\d{4}[-/]\d{1,2}[-/]\d{1,2}([T ]|$)') "
    "THEN epoch_us(try_cast(trim(cell) AS TIMESTAMP)) / 86400e6 END"
)

_NOT_READ = "'inf'::DOUBLE"


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
        values = read_numbers(cells, dates=dates)
        missing = np.isnan(values)
        present = values[~missing]
        spread = present.max() - present.min()
        deviation = float(present.std() or spread) if spread else 1.0  # squares of numbers below 1e-162 are 0
        return cls(cells.name, count_missing(cells, missing), float(present.mean()), deviation, dates)

    def read(self, cells: Cells) -> ColumnFeatures:  # noqa: D102
        values = read_numbers(cells, dates=self.dates)
        missing = np.isnan(values)
        standardised = np.where(missing, 0.0, (values - self.mean) / self.deviation)
        beyond = np.abs(standardised) > MAX_FLOAT
        if beyond.any():
            learned = f"mean {self.mean:.4g} and standard deviation {self.deviation:.4g} in training"
            raise cells.complaint(int(beyond.argmax()), f"is out of proportion to {learned}")
        return ColumnFeatures(standardised[:, None].astype(np.float32), missing)

    def readings(self) -> list[tuple[str, Reading]]:  # noqa: D102
        return [(self.column, self._original)]

    def _original(self, value: float) -> str:
        """The number, or date, that was standardised."""
        number = value * self.deviation + self.mean
        return _day(number) if self.dates else f"{number:.6g}"

    def describe_values(self) -> str:  # noqa: D102
        if self.dates:
            return f"dates, standardised: mean {_day(self.mean)}, standard deviation {self.deviation:,.4g} days"
        return f"standardised: mean {self.mean:,.4g}, standard deviation {self.deviation:,.4g}"


def read_numbers(cells: Cells, *, dates: bool) -> NDArray[np.float64]:
    """One number per node, NaN if missing; a cell that is not a number is an error."""
    if cells.numbers is not None:
        values = cells.values
        if dates and not np.isnan(values).all():
            raise _complaint(cells, int((~np.isnan(values)).argmax()), dates=True)
        return values
    if cells.is_text:
        number = DAYS_IN_TEXT if dates else NUMBER_IN_TEXT
        number = f"CASE WHEN {number} IS NOT NULL THEN {number} WHEN present THEN {_NOT_READ} END"
    elif dates and cells.is_date:  # a date may be infinite
        number = f"CASE WHEN present THEN coalesce(epoch_us(cell) / 86400e6, {_NOT_READ}) END"
    elif not dates and (cells.is_number or cells.type == "BOOLEAN"):
        number = "cell::DOUBLE"
    else:
        number = f"CASE WHEN present THEN {_NOT_READ} END"
    values = cells.read(number, np.nan)
    beyond = np.abs(values) > MAX_FLOAT
    if beyond.any():
        raise _complaint(cells, int(beyond.argmax()), dates=dates)
    return values


def _day(days: float) -> str:
    return str(np.datetime64(0, "D") + np.timedelta64(round(days), "D"))


def _mostly_dates(cells: Cells) -> bool:
    if not cells.is_text or cells.numbers is not None:
        return False
    ((dates, numbers),) = cells.survey(f"count({DAYS_IN_TEXT}), count({NUMBER_IN_TEXT})", "WHERE present")
    return bool(dates > numbers)


def _complaint(cells: Cells, position: int, *, dates: bool) -> PugnnError:
    if dates:
        return cells.complaint(position, "is not a date such as 2024-01-31")
    number = NUMBER_IN_TEXT if cells.is_text else "try_cast(cell AS DOUBLE)"
    ((value,),) = cells.query(number, f"WHERE position = {position}").fetchall()
    return cells.complaint(position, "is not a number" if value is None else "is not a finite 32-bit number")
