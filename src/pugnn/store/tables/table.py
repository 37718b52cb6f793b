"""A table that DuckDB can query, wherever it comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pugnn.errors import PugnnError, counted, quoted
from pugnn.features.attribute_table import number_in_text
from pugnn.store.id_types import EXACT_BELOW, IdColumn, text_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from pugnn.store.tables.delimited import DelimitedFile

#: Rows of a batch, and batches that are in memory at once: more are faster.
_BATCH_ROWS, _BATCHES = 1 << 17, 64


class Unreadable(Exception):
    """DuckDB could not read a table to its end."""

    def __init__(self, table: Table, reason: str) -> None:
        super().__init__(reason)
        self.table = table


@dataclass(eq=False)
class Table:
    """A table to read."""

    shown: str  # its name in messages
    connection: DuckDBPyConnection  # DuckDB's connection
    sql: str  # what follows FROM in a query; the columns are ``c_0``, ``c_1``, …
    names: tuple[str, ...]  # the user's names for the columns
    types: tuple[str, ...]  # their DuckDB types
    typed: bool  # whether the types mean something; in CSV every cell is text
    locate: Callable[[int], str]  # where a row is, counted from 0, such as ``edges.csv, row 17``
    #: Replaces ``sql`` after DuckDB has rejected it, or raises an error that says why it cannot.
    repair: Callable[[Table, str], None] = lambda table, reason: reject(table, reason)
    #: Raises :class:`Unreadable` if rows repeat the header; called once there is a sign of them.
    look_for_headers: Callable[[], None] = lambda: None
    header: bool = True  # whether the names come from the table itself
    by_column: bool = False  # whether one column can be read without the others
    bare: bool = False  # whether it is a plain list of values in memory
    delimited: Sequence[DelimitedFile] = ()  # the files of delimited text that it comes from, if it does
    notes: list[str] = field(default_factory=list)  # what a reader of the results should know
    #: Which rows of what it comes from this part of it has; ``None`` for the whole.
    kept: Callable[[], NDArray[np.int64]] | None = None
    #: Values in memory that are neither text nor of a type that DuckDB knows, by column and text.
    originals: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    def id_column(self, at: int) -> IdColumn:
        """The column at this place as one of ids."""
        return IdColumn(self.shown, self.types[at], self.typed, self.originals.get(at, {}))

    def id_text(self, at: int) -> str:
        """SQL for the ids in the column at this place, as text."""
        kind, where = self.types[at], f"{self.shown}, column {self.names[at]!r}"
        if kind in EXACT_BELOW:
            ((largest,),) = self.query(f"max(abs(c_{at})) FILTER (NOT isnan(c_{at}))")
            if largest is not None and largest >= EXACT_BELOW[kind]:
                raise PugnnError(
                    f"{where}: id {largest:.0f} is too large to be exact as a floating-point number. Store the ids as "
                    "integers or as text."
                )
        return text_of(f"c_{at}", kind, where)

    def text(self, at: int) -> str:
        """SQL for the cells in the column at this place as text; without JSON's quotation marks."""
        return f"(c_{at} ->> '$')" if self.types[at] == "JSON" else f"c_{at}::VARCHAR"

    def holds_text(self, at: int) -> bool:
        """Whether the column at this place is stored as text."""
        return self.types[at] in ("VARCHAR", "JSON") or self.types[at].startswith("ENUM")

    def holds_times(self, at: int) -> bool:
        """Whether the column at this place is stored as dates, with or without a time."""
        return self.types[at] == "DATE" or self.types[at].startswith("TIMESTAMP")

    def number(self, at: int) -> str:
        """SQL for the numbers in the column at this place; null for what is none."""
        text = self.types[at] == "VARCHAR"
        return number_in_text(f"trim(c_{at})") if text else f"try_cast(c_{at} AS DOUBLE)"

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Surrounds every query of the table."""
        import duckdb

        try:
            yield
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            raise Unreadable(self, reason_of(error)) from None

    def query(self, select: str, rest: str = "") -> list[tuple[Any, ...]]:
        """All rows of a query; ``rest`` follows the table."""
        with self.reading():
            return list(self.connection.execute(f"SELECT {select} FROM {self.sql} {rest}").fetchall())

    def pieces(self, *columns: str, sql: str = "") -> Iterator[list[pa.ChunkedArray]]:
        """The values of some SQL expressions, text or floating point, a few million rows at a time.

        ``sql`` replaces the table where its cells have been stored in another one.
        """
        with self.reading():
            relation = self.connection.sql(f"SELECT {', '.join(columns)} FROM {sql or self.sql}")
            with closing(relation.to_arrow_reader(_BATCH_ROWS)) as reader:
                while batches := list(islice(reader, _BATCHES)):
                    yield pa.Table.from_batches(batches).columns

    def cell(self, row: int, column: int) -> Any:
        """One cell, for a message."""
        return self.query(f"c_{column}", f"LIMIT 1 OFFSET {row}")[0][0]

    def reject_cells(
        self, bad: Mapping[str, NDArray[np.bool_]], number: int | None = None, expected: str = "", first: int = 0
    ) -> None:
        """Raise for the first row with a bad cell, of columns by what these hold; the first cells are of row ``first``.

        A bad id is an empty one. The last column may hold numbers: it is at the place ``number``, and what they should
        be is ``expected``.
        """
        wrong = [(int(cells.argmax()), name) for name, cells in bad.items() if cells.any()]
        if not wrong:
            return
        row, name = min(wrong)
        row += first
        cell = None if number is None or name != list(bad)[-1] else self.cell(row, number)
        if cell is None:
            raise PugnnError(f"{self.locate(row)}: the {name} is empty. Fill it in, or remove the row.")
        raise PugnnError(f"{self.locate(row)}: {name} {quoted(cell)} is not {expected}.")

    def trimmed_note(self, count: int) -> list[str]:
        """A note on so many ids that had white space around them."""
        return [f"{self.shown}: white space around {counted(count, 'id')} removed"] if count else []


def reject(table: Table, reason: str) -> None:
    """The repair of what cannot be repaired."""
    raise PugnnError(f"cannot read {table.shown}: {reason}")


def described(connection: DuckDBPyConnection, sql: str) -> dict[str, str]:
    """Names and types of the columns of a table."""
    return {row[0]: row[1] for row in connection.execute(f"DESCRIBE SELECT * FROM {sql}").fetchall()}


def aliased(sql: str, width: int) -> str:
    """SQL for a table with its columns renamed to ``c_0``, ``c_1``, …"""
    return f"{sql} AS given({', '.join(f'c_{at}' for at in range(width))})"


def reason_of(error: Exception) -> str:
    """The first line of DuckDB's message, without the path of the file, which may be a copy."""
    text = str(error).strip() or type(error).__name__
    inside = re.search(r'"exception_message":("(?:[^"\\]|\\.)*")', text)  # some come as JSON
    if inside is not None:
        text = str(json.loads(inside.group(1)))
    line = text.splitlines()[0].rstrip(". ")
    line = re.sub(r""" (in|of|from)? ?file ["'].*["']""", "", line)
    return line.removeprefix("Invalid Input Error: ").removeprefix("IO Error: ")
