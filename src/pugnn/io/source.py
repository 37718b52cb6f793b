"""A table that DuckDB can query, wherever it comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pugnn.errors import PugnnError
from pugnn.io.arrow import StreamError
from pugnn.io.id_types import EXACT_BELOW, IdColumn, text_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from pugnn.io.delimited import DelimitedFile


class Unreadable(Exception):
    """DuckDB could not read a source to its end."""

    def __init__(self, source: Source, reason: str) -> None:
        super().__init__(reason)
        self.source = source


@dataclass(eq=False)
class Source:
    """A table to read.

    Args:
        shown: its name in messages.
        connection: DuckDB's connection.
        table: what stands behind FROM in SQL; the columns are ``c_0``, ``c_1``, …
        names: the users' names of the columns.
        types: DuckDB's types of them.
        typed: whether the types mean something; cells of CSV are all text.
        header: whether the names come from the table itself.
        locate: where a row is, counted from 0, such as ``edges.csv, row 17``.
        repair: puts another ``table`` in place after DuckDB has refused this one, or raises an error that says why not.
        look_for_headers: has rows that repeat the header left out, where there are any and it has not been done; called
            once there is a sign of them.
        by_column: whether one column can be read without the others.
        bare: whether it is a plain list of values in memory and not a table.
        delimited: the files of delimited text, where it comes from these.
        notes: what a reader of the results should know.
        originals: values in memory that are neither text nor of a type that DuckDB knows, by column and text.
    """

    shown: str
    connection: DuckDBPyConnection
    table: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    typed: bool
    locate: Callable[[int], str]
    repair: Callable[[Source, str], None]
    look_for_headers: Callable[[], None] = lambda: None
    header: bool = True
    by_column: bool = False
    bare: bool = False
    delimited: Sequence[DelimitedFile] = ()
    notes: list[str] = field(default_factory=list)
    originals: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    def id_column(self, at: int) -> IdColumn:
        """The column at this place as one of ids."""
        return IdColumn(self.shown, self.types[at], self.typed, self.originals.get(at, {}))

    def id_text(self, at: int) -> str:
        """SQL for the ids in the column at this place, as text."""
        kind, where = self.types[at], f"{self.shown}, column {self.names[at]!r}"
        if kind in EXACT_BELOW:
            with self.reading():
                query = f"SELECT max(abs(c_{at})) FILTER (NOT isnan(c_{at})) FROM {self.table}"
                ((largest,),) = self.connection.execute(query).fetchall()
            if largest is not None and largest >= EXACT_BELOW[kind]:
                raise PugnnError(
                    f"{where}: id {largest:.0f} is too large to be exact as a floating-point number. Store the ids as "
                    "whole numbers alone, or as text."
                )
        return text_of(f"c_{at}", kind, where)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Around every query of the source."""
        import duckdb

        try:
            yield
        except (duckdb.Error, StreamError) as error:
            raise Unreadable(self, reason_of(error)) from None

    def cell(self, row: int, column: int) -> Any:
        """One cell, for a message."""
        query = f"SELECT c_{column} FROM {self.table} LIMIT 1 OFFSET {row}"
        return self.connection.execute(query).fetchall()[0][0]


def refuse(source: Source, reason: str) -> None:
    """The repair of what cannot be repaired."""
    raise PugnnError(f"cannot read {source.shown}: {reason}")


def described(connection: DuckDBPyConnection, table: str) -> dict[str, str]:
    """Names and types of the columns of a table."""
    return {row[0]: row[1] for row in connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()}


def aliased(table: str, width: int) -> str:
    """SQL for a table whose columns are called ``c_0``, ``c_1``, …, whatever they were."""
    return f"{table} AS given({', '.join(f'c_{at}' for at in range(width))})"


def reason_of(error: Exception) -> str:
    """The first line of what DuckDB says, without the path of what it has read, which may be a copy."""
    text = str(error).strip() or type(error).__name__
    inside = re.search(r'"exception_message":("(?:[^"\\]|\\.)*")', text)  # some come as JSON
    if inside is not None:
        text = str(json.loads(inside.group(1)))
    line = text.splitlines()[0].rstrip(". ")
    line = re.sub(r""" (in|of|from)? ?file ["'].*["']""", "", line)
    return line.removeprefix("Invalid Input Error: ").removeprefix("IO Error: ")
