"""Times in tables: dates and moments, as microseconds since 1970, or numbers; and tables as they were at a moment."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, given, quoted
from pugnn.features.attribute_table import WHITE_SPACE, is_number_type
from pugnn.store.tables.column_names import places_of
from pugnn.store.tables.table import Table

#: How times are written, for messages.
EXAMPLE = "such as 2026-01-31 or 2026-01-31T12:00"
#: How numbers that are times are written.
_NUMBER = r"[+-]?\d{1,19}(\.0*)?"
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)

#: A date, perhaps with a time of day, perhaps with an offset from UTC.
_ZONE = r"\s*(Z|UTC|[+-]\d{2}(:?\d{2})?)"
_TIME = rf"\d{{4}}[-/]\d{{1,2}}[-/]\d{{1,2}}([T ]\d{{1,2}}:\d{{2}}(:\d{{2}}(\.\d+)?)?({_ZONE})?)?"


@dataclass(frozen=True)
class Moment:
    """A moment until which things count; a date is the end of that day."""

    last: int  # the last microsecond that counts, or the last number
    zoned: bool | None  # whether it is in UTC or in the tables' own time; ``None`` for a date, which fits both
    shown: str
    number: bool = False  # whether it is a number, and no date

    def __str__(self) -> str:
        return self.shown


def as_moment(name: str, value: object) -> Moment:
    """The moment that a user gave: a date, date-time or number, or text; ``name`` is that of the argument."""
    found: object = value
    if re.fullmatch(_NUMBER, str(value).strip()):
        number = int(str(value).partition(".")[0])
        return Moment(number, None, str(number), number=True)
    if isinstance(value, str) and re.fullmatch(_TIME, value.strip()):
        text = value.strip().replace("/", "-").replace("UTC", "Z")
        try:
            found = date.fromisoformat(text) if len(text) == len("2026-01-31") else datetime.fromisoformat(text)
        except ValueError:
            found = None
    if not isinstance(found, date) or found != found:  # pandas' missing time is a date, but not equal to itself
        raise PugnnError(f"{name} is a date {EXAMPLE}, or a whole number such as 34; got {given(value)}")
    if not isinstance(found, datetime):
        end = datetime(found.year, found.month, found.day, tzinfo=UTC) + timedelta(days=1) - _MICROSECOND
        return Moment((end - _EPOCH) // _MICROSECOND, None, str(found))
    zoned = found.tzinfo is not None
    in_utc = found if zoned else found.replace(tzinfo=UTC)
    return Moment((in_utc - _EPOCH) // _MICROSECOND, zoned, found.isoformat(" "))


@dataclass(frozen=True, eq=False)
class Times:
    """The column of times of a table; every row has one."""

    table: Table
    name: str  # of the column
    sql: str  # of the time of a row in microseconds, or as a number
    rows: int  # number of rows
    ends: tuple[int, int]  # the first and the last time
    zoned: bool | None  # whether times have a time zone; ``None`` if all are dates
    number: bool  # whether they are numbers, and no dates

    @classmethod
    def of(cls, table: Table, name: str) -> Times | None:
        """The column of this name, if a table has it.

        Raises an error for a row without a time, and for a column of numbers and dates, or with and without time zones.
        """
        found = places_of(name, table.names)
        if not found or not table.header:
            return None
        at = found[0]
        sql, day, zoned, number = _time_sql(table, at)
        bad, clock = f"{sql} IS NULL", f"NOT {day}"
        ((rows, lacking, first, last, days, with_zone, without),) = table.query(
            f"count(*), count(*) FILTER ({bad}), min({sql}), max({sql}), count(*) FILTER ({day}), "
            f"count(*) FILTER ({clock} AND {zoned}), count(*) FILTER ({clock} AND NOT {zoned})"
        )
        if not rows:
            raise PugnnError(f"{table.shown} has no rows")
        if lacking:
            row = int(_rows_where(table, bad)[0])
            raise _complaint(table, at, row, number=number, every=lacking == rows > 1)
        if with_zone and without:
            odd, has, have = (zoned, "a", "none") if with_zone < without else (f"NOT {zoned}", "no", "one")
            row, usual = int(_rows_where(table, f"{clock} AND {odd}")[0]), max(with_zone, without)
            others = "the other one has" if usual == 1 else f"{usual:,} others have"
            raise PugnnError(
                f"{table.locate(row)}: the time {quoted(table.cell(row, at))} has {has} time zone, but {others} "
                f"{have}. Write all of them in UTC, or all without."
            )
        zone = None if days == rows else bool(with_zone)
        return cls(table, table.names[at], sql, rows, (first, last), zone, number)

    def until(self, last: int) -> str:
        """SQL for whether a row is no later than a time."""
        return f"{self.sql} <= {last}"

    def rows_after(self, last: int) -> int:
        """Number of rows that are later than a time."""
        return self.rows - int(self.table.query(f"count(*) FILTER ({self.until(last)})")[0][0])

    def shown(self, time: int) -> str:
        """The date of a time, or its number."""
        return str(time if self.number else (_EPOCH + time * _MICROSECOND).date())


def _time_sql(table: Table, at: int) -> tuple[str, str, str, bool]:
    """SQL for the time, null where there is none, for whether it is whole as a date is, and for whether it has a time
    zone; and whether times are numbers.
    """
    kind, cell = table.types[at], f"c_{at}"
    if table.holds_times(at):
        finite = f"CASE WHEN isfinite({cell}) THEN epoch_us({cell}) END"
        return finite, str(kind == "DATE").lower(), str(kind.endswith("ZONE")).lower(), False
    if is_number_type(kind):
        whole = f"try_cast({cell} AS BIGINT)"
        return f"CASE WHEN {whole} = {cell} THEN {whole} END", "true", "false", True
    if not table.holds_text(at):
        raise PugnnError(
            f"{table.shown}: the column {table.names[at]!r} has the type {kind}; times are dates {EXAMPLE}, or whole "
            "numbers. Convert them first."
        )
    text = f"trim({table.text(at)}, '{WHITE_SPACE}')"
    if any(re.fullmatch(_NUMBER, first or "") for (first,) in table.query(text, "LIMIT 1")):
        return (
            f"CASE WHEN regexp_full_match({text}, '{_NUMBER}') THEN try_cast({text} AS BIGINT) END",
            "true",
            "false",
            True,
        )
    zoned = f"regexp_full_match({text}, '.*:.*{_ZONE}')"
    own = f"epoch_us(try_cast({text} AS TIMESTAMP))"
    utc = f"epoch_us(try_cast(regexp_replace({text}, ' ([+-])', '\\1') AS TIMESTAMPTZ))"
    time = f"CASE WHEN regexp_full_match({text}, '{_TIME}') THEN CASE WHEN {zoned} THEN {utc} ELSE {own} END END"
    return time, f"NOT contains({text}, ':')", zoned, False


def _complaint(table: Table, at: int, row: int, *, number: bool, every: bool) -> PugnnError:
    cell, where = table.cell(row, at), f"{table.locate(row)}: the time ({table.names[at]})"
    if cell is None or not str(cell).strip(WHITE_SPACE):
        return PugnnError(f"{where} is empty. Fill it in, or remove the row.")
    if every:
        return PugnnError(
            f"{table.shown}: times in the column {table.names[at]!r}, such as {quoted(cell)}, are not dates {EXAMPLE}. "
            "Convert them, or name another column."
        )
    expected = "a whole number, as the first one is" if number else f"a date {EXAMPLE}"
    return PugnnError(f"{where} {quoted(cell)} is not {expected}. Correct it, or remove the row.")


def _rows_where(table: Table, condition: str) -> NDArray[np.int64]:
    """The rows that satisfy a condition."""
    pieces = [found.to_numpy() == 1 for (found,) in table.pieces(f"({condition})::DOUBLE")]
    return np.flatnonzero(np.concatenate(pieces))


def cut(times: Times, moment: Moment) -> Table:
    """A table without the rows after a moment."""
    table, kept = times.table, times.until(moment.last)
    sql = f"(SELECT * FROM {table.sql} WHERE {kept}) AS existing"
    return _part(table, sql, lambda: _rows_where(table, kept))


def only(table: Table, kept: NDArray[np.bool_]) -> Table:
    """A table without some rows."""
    columns = ", ".join(f"c_{at}" for at in range(len(table.names)))
    table.connection.register("kept_mask", {"kept": kept})
    sql = (
        f"(SELECT {columns} FROM (SELECT * FROM {table.sql}) AS every POSITIONAL JOIN kept_mask WHERE kept) AS existing"
    )
    return _part(table, sql, lambda: np.flatnonzero(kept))


def _part(table: Table, sql: str, rows: Callable[[], NDArray[np.int64]]) -> Table:
    """A table of some rows, which are found in messages where they are in the whole one, and repaired there."""

    return replace(
        table,
        sql=sql,
        locate=lambda row: table.locate(int(rows()[row])),
        repair=lambda _, reason: table.repair(table, reason),
        kept=rows,
    )
