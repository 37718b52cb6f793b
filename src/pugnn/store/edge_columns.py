"""The columns of an edge table besides ends and weight: what they hold, and their cells as numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pugnn.errors import PugnnError, quoted
from pugnn.features.attribute_table import (
    MAX_FLOAT,
    MISSING_WORDS,
    WHITE_SPACE,
    holds_word,
    is_number_type,
    number_in_text,
)
from pugnn.features.boolean import truth_in_text
from pugnn.features.kinds import CONSTANT, EMPTY, LOCAL_DATES, LOCAL_NUMBERS, MIN_REPEATS, NEARLY_ALL
from pugnn.features.number import days_in_text
from pugnn.features.number_columns import STATISTICS, EdgeColumn
from pugnn.store.tables.column_names import normal
from pugnn.store.tables.database import literal
from pugnn.store.tables.table import Table

#: At most this many values of a category, the most frequent ones, become shares.
MAX_SHARES = 20

#: Longer values are no categories.
MAX_LETTERS = 40

#: Kinds that a user may choose for a column of edges, and how such a column is read.
CHOICES = {"number": "number", "amount": "number", "boolean": "boolean", "category": "category", "ignore": "ignore"}

#: Names of columns of identifiers, which are no quantities even if they are numbers.
_IDENTIFIER = re.compile(r"(^|_)id$|^unnamed:_\d+$|^__index_level_\d+__$")

_MISSING = "|".join(map(re.escape, MISSING_WORDS))
_IN_TEXT = {"number": number_in_text, "date": days_in_text, "boolean": truth_in_text}
_WRONG = {"number": "a finite number", "date": "a date such as 2024-01-31", "boolean": "yes or no"}


@dataclass(frozen=True)
class ReadColumn:
    """A column of an edge table that describes the ends of its edges, and the SQL of its cells.

    The SQL gives a number, or days, or 1 and 0, or the place of a category among its values, from 1, and 0 for others;
    null where the cell is empty, and infinity where it holds something else.
    """

    at: int
    column: EdgeColumn
    sql: str


def describing_columns(
    table: Table, places: Sequence[int], kinds: Mapping[str, str]
) -> tuple[list[ReadColumn], dict[str, list[str]]]:
    """The columns at these places that say something of their ends; and names of the others by the reason.

    ``kinds`` has those that the user chose, by name.
    """
    found, left_out = [], dict[str, list[str]]()
    for at, counts in zip(places, _survey(table, places) if places else (), strict=True):
        name = table.names[at]
        kind = CHOICES[kinds[name]] if name in kinds else _kind_of(table, at, counts)
        values = _frequent(table, at) if kind == "category" else ()
        if kind == "category" and not values:
            kind = "its values are long texts"
        if kind in STATISTICS:
            found.append(_read(table, at, EdgeColumn("", name, kind, values)))
        elif kind != "ignore":
            left_out.setdefault(kind, []).append(name)
    return found, left_out


def known_columns(table: Table, places: Sequence[int], trained: Iterable[EdgeColumn]) -> list[ReadColumn]:
    """Those of the columns at these places that a model was trained with, read as in its training."""
    known = {column.column: replace(column, relation="") for column in trained}
    return [_read(table, at, known[table.names[at]]) for at in places if table.names[at] in known]


def numbers_in(
    table: Table, columns: Sequence[ReadColumn], pieces: Sequence[pa.ChunkedArray], first: int
) -> list[NDArray[np.float64]]:
    """The cells of columns in a piece of a table whose first row is ``first``; a cell of another kind is an error."""
    found = [piece.to_numpy() for piece in pieces]
    wrong = [(int(bad.argmax()), at) for at, cells in enumerate(found) if (bad := np.abs(cells) > MAX_FLOAT).any()]
    if wrong:
        row, at = min(wrong)
        column, cell, row = columns[at].column, table.cell(row + first, columns[at].at), row + first
        raise PugnnError(
            f"{table.locate(row)}, column {column.column!r}: {quoted(cell)} is not {_WRONG[column.kind]}. Correct it, "
            f"leave it empty, or read the column as another kind (--column {column.column}=category) or not at all "
            "(=ignore)."
        )
    return found


def _text(table: Table, at: int) -> str:
    """SQL for the trimmed text of a cell, null if it is empty."""
    cell = table.text(at)
    return f"CASE WHEN NOT {holds_word(_MISSING, cell)} THEN trim({cell}, '{WHITE_SPACE}') END"


def _survey(table: Table, places: Sequence[int]) -> list[tuple[Any, ...]]:
    """For each column: numbers of rows, of cells, of numbers, dates, truth values, and numbers and dates in a local
    form; roughly the number of different cells; and the first and the last of them in alphabetical order.
    """
    selected, counted = [], ["count(*)"]
    for at in places:
        text = f"t_{at}"
        selected.append(f"{_text(table, at)} AS {text}")
        number = "false" if table.typed and table.types[at] != "JSON" else f"({number_in_text(text)}) IS NOT NULL"
        conditions = (
            number,
            f"({days_in_text(text)}) IS NOT NULL",
            f"({truth_in_text(text)}) IS NOT NULL",
            f"regexp_full_match({text}, '{LOCAL_NUMBERS}')",
            f"regexp_full_match({text}, '{LOCAL_DATES}')",
        )
        counted += [f"count({text})", *(f"count(*) FILTER ({each})" for each in conditions)]
        counted += [f"approx_count_distinct({text})", f"left(min({text}), 100)", f"left(max({text}), 100)"]
    with table.reading():
        query = f"SELECT {', '.join(counted)} FROM (SELECT {', '.join(selected)} FROM {table.sql}) AS cells"
        ((rows, *numbers),) = table.connection.execute(query).fetchall()
    width = len(numbers) // len(places)
    return [(rows, *numbers[each * width : (each + 1) * width]) for each in range(len(places))]


def _kind_of(table: Table, at: int, found: tuple[Any, ...]) -> str:
    """The kind of a column, or the reason to leave it out."""
    rows, present, numbers, days, truths, local_numbers, local_dates, different, least, most = found
    kind = table.types[at]
    if not present:
        return EMPTY
    if least == most and present == rows:
        return CONSTANT
    if (is_number_type(kind) or numbers == present) and not _IDENTIFIER.search(normal(table.names[at])):
        return "number"
    if table.holds_times(at):
        return "date"
    if kind == "BOOLEAN" or truths == present:
        return "boolean"
    if not table.holds_text(at) and not is_number_type(kind):
        return f"cells of the type {kind} say nothing about nodes"
    if NEARLY_ALL * present <= max(numbers, days) < present or days == present:
        return "number" if numbers >= days else "date"
    for local, plain in ((local_numbers, "1234.5"), (local_dates, "2024-12-31")):
        if local and local + (numbers if plain == "1234.5" else 0) >= NEARLY_ALL * present:
            raise PugnnError(
                f"{table.shown}: cells of the column {table.names[at]!r}, such as {quoted(least)}, are not written "
                f"like {plain}. Convert them, or leave the column out (--column {table.names[at]}=ignore)."
            )
    if different * MIN_REPEATS <= present:
        return "category"
    return "its values hardly repeat, as with identifiers"


def _frequent(table: Table, at: int) -> tuple[str, ...]:
    """The most frequent values of a category; of two, one says everything."""
    with table.reading():
        query = f"SELECT text, count(*) AS rows FROM (SELECT {_text(table, at)} AS text FROM {table.sql}) AS cells"
        order = f"WHERE length(text) <= {MAX_LETTERS} GROUP BY text ORDER BY rows DESC, text LIMIT {MAX_SHARES}"
        values = tuple(text for text, _ in table.connection.execute(f"{query} {order}").fetchall())
    return values[1:] if len(values) == 2 else values


def _read(table: Table, at: int, column: EdgeColumn) -> ReadColumn:
    type_, text, wrong = table.types[at], f"({_text(table, at)})", "'inf'::DOUBLE"
    if column.kind == "number" and is_number_type(type_):
        return ReadColumn(at, column, f"nullif(c_{at}::DOUBLE, 'NaN'::DOUBLE)")
    if column.kind == "date" and table.holds_times(at):
        return ReadColumn(at, column, f"epoch_us(c_{at}) / 86400e6")
    if column.kind == "boolean" and type_ == "BOOLEAN":
        return ReadColumn(at, column, f"c_{at}::DOUBLE")
    if column.kind == "category":
        listed = f"[{', '.join(map(literal, column.values))}]::VARCHAR[]"
        value, wrong = f"list_position({listed}, {text})", "0"
    else:
        value = _IN_TEXT[column.kind](text)
    return ReadColumn(at, column, f"CASE WHEN {text} IS NOT NULL THEN coalesce(({value})::DOUBLE, {wrong}) END")
