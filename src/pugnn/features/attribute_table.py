"""The attribute columns of a node table, and how their cells are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pugnn.errors import PugnnError, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from pugnn.features.number_columns import EdgeColumn, MatrixColumns, NumberColumns

#: Features and weights are 32-bit floats.
MAX_FLOAT = float(np.finfo(np.float32).max)

#: What people write into a text cell that has no value, in any case.
MISSING_WORDS = ("", "na", "n/a", "null", "none", "nan", "-", "?")

#: What people write for true and false, in any case.
TRUE_WORDS, FALSE_WORDS = ("true", "t", "yes", "y"), ("false", "f", "no", "n")

#: White space that may surround a cell.
WHITE_SPACE = " \t\r\n\v\f\u00a0"

#: What follows FROM if there is nothing to query.
NO_ROWS = "(SELECT 0::BIGINT AS position WHERE false) AS no_rows"

#: DuckDB's numeric types, besides DECIMAL(…) and unsigned ones, which begin with a U.
NUMBER_TYPES = frozenset(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "BIGNUM", "FLOAT", "DOUBLE"))


@dataclass(frozen=True, eq=False)
class AttributeTable:
    """The attribute columns of a node table, whose rows have been matched to nodes.

    Numeric columns were read together; the others are inside DuckDB, to be queried one by one.
    """

    connection: DuckDBPyConnection  # knows the table
    #: What follows FROM: a table, or tables joined, with the columns ``a_0``, ``a_1``, …. Not a view: one of a thousand
    #: columns costs milliseconds in every query.
    table: str
    names: tuple[str, ...]  # the user's names of all columns, unique; none for a graph without attributes
    typed: bool  # whether types mean something; in CSV all cells are text, and kinds are found from the content
    num_nodes: int  # number of nodes of the graph, N
    origin: str  # the table's name in messages, such as ``nodes.csv``
    locate: Callable[[int], str]  # where the row of the node at a position is, such as ``nodes.csv, row 17``
    rows: int = 0  # number of nodes that have a row, the first ones of the graph; the others are missing in all columns
    position: str = "position"  # SQL for the position in the graph of a row's node, unique
    stored: tuple[str, ...] = ()  # the user's names of ``a_0``, ``a_1``, …
    numbers: NumberColumns | None = None  # numeric columns, one row per node that has one
    sparse: NumberColumns | None = None  # attributes that were given in sparse form, one row per node of the graph
    edges: NumberColumns | None = None  # what edges say of their ends, one row per node of the graph
    of_edges: tuple[EdgeColumn, ...] = ()  # the columns of edge tables that this comes from
    surveyed: list[str] = field(default_factory=list)  # what DuckDB's table ``distinct_cells`` was made from

    def cells(self, name: str) -> Cells:
        """The cells of a column; all are missing if the table lacks it."""
        for numbers in self.number_blocks:
            if name in numbers.places:
                # Dates of edges are days since 1970.
                dated = any(each.kind == "date" and name in each.names for each in self.of_edges)
                return Cells(self, name, "NULL::VARCHAR", "DATE" if dated else "DOUBLE", numbers)
        if name not in self._columns:
            return Cells(self, name, "NULL::VARCHAR", "VARCHAR")
        column = self._columns[name]
        return Cells(self, name, column, self._types[column])

    def beside(self, sparse: MatrixColumns) -> AttributeTable:
        """These columns, and attributes that were given in sparse form."""
        both = set(self.names) & set(sparse.names)
        if both:
            raise PugnnError(
                f"the attribute {min(both)!r} is also a column of {self.origin}; rename or remove one of them"
            )
        entries = sparse.matrix.data, sparse.matrix.indices, sparse.matrix.indptr
        all_nodes = sp.csc_array(entries, shape=(self.num_nodes, len(sparse.names)))  # other nodes have zeros
        return replace(self, names=(*self.names, *sparse.names), sparse=replace(sparse, matrix=all_nodes))

    def with_edges(self, edges: NumberColumns, columns: tuple[EdgeColumn, ...]) -> AttributeTable:
        """These columns, and those that edges give to their ends."""
        both = set(self.names) & set(edges.names)
        if both:
            raise PugnnError(
                f"{self.origin} has a column {min(both)!r}, and the edges give one of that name; rename it there"
            )
        return replace(self, names=(*self.names, *edges.names), edges=edges, of_edges=columns)

    @property
    def number_blocks(self) -> list[NumberColumns]:
        """The numeric columns of the table, those given in sparse form, and those of edges."""
        return [each for each in (self.numbers, self.sparse, self.edges) if each is not None]

    @cached_property
    def has_row(self) -> NDArray[np.bool_]:
        """Which nodes have a row, shape ``(N,)``."""
        return np.arange(self.num_nodes) < self.rows

    @cached_property
    def _columns(self) -> dict[str, str]:
        return {name: f"a_{at}" for at, name in enumerate(self.stored)}

    @cached_property
    def _types(self) -> dict[str, str]:
        described = self.connection.execute(f"DESCRIBE SELECT * FROM {self.table}").fetchall()
        return {name: type_name for name, type_name, *_ in described}


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column.

    In SQL, ``cell`` is a cell as it is stored, and ``text`` its trimmed text, null if the cell is not ``present``: if
    it is null, NaN or one of :data:`MISSING_WORDS`. Most columns repeat their values: what depends on a cell alone is
    computed once for each distinct one (:meth:`survey`, :meth:`read`).
    """

    attributes: AttributeTable  # the table
    name: str  # the user's name of the column
    column: str  # the column in DuckDB, or an expression
    type: str  # its DuckDB type
    numbers: NumberColumns | None = None  # where the column is, if it is numeric; it is not in DuckDB then

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The values of a numeric column by node, NaN where there is none, shape ``(N,)``."""
        assert self.numbers is not None
        column = self.numbers.column(self.name)
        if len(column) == self.attributes.num_nodes:
            return column
        return np.concatenate([column, np.full(self.attributes.num_nodes - len(column), np.nan)])

    @property
    def is_text(self) -> bool:
        """Whether the cells are stored as text."""
        return self.type in ("VARCHAR", "JSON") or self.type.startswith("ENUM")

    @property
    def is_number(self) -> bool:
        """Whether the cells are stored as numbers."""
        return is_number_type(self.type)

    @property
    def is_date(self) -> bool:
        """Whether the cells are stored as dates, with or without a time."""
        return self.type == "DATE" or self.type.startswith("TIMESTAMP")

    def sql(self, select: str, rest: str = "") -> str:
        """A query of ``position``, ``cell``, ``present`` and ``text`` by row; ``rest`` follows its FROM clause."""
        return f"SELECT {select} FROM ({self._explained(self._rows)}) AS cells {rest}"

    def query(self, select: str, rest: str = "") -> Any:
        """The result of a query as in :meth:`sql`."""
        return self.attributes.connection.execute(self.sql(select, rest))

    def survey(self, select: str, rest: str = "", parameters: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """All rows of the same query by distinct cell: the first ``position`` of each, and its number of ``rows``."""
        query = f"SELECT {select} FROM {self._distinct()} AS cells {rest}"
        return list(self.attributes.connection.execute(query, parameters).fetchall())

    def read(self, value: str, fill: float, rest: str = "", parameters: dict[str, Any] | None = None) -> NDArray[Any]:
        """One number per node, shape ``(N,)``; ``fill`` where the SQL ``value`` is null or the node has no row."""
        values = f"SELECT cell, {value} AS value FROM {self._distinct()} AS cells {rest}"
        rows = self.attributes.connection.execute(
            f"SELECT position, value FROM ({self._rows}) JOIN ({values}) USING (cell)", parameters
        ).fetchnumpy()
        values_of = np.ma.filled(rows["value"], fill)
        numbers = np.full(self.attributes.num_nodes, fill, dtype=values_of.dtype)
        numbers[rows["position"]] = values_of
        return numbers

    def missing(self) -> NDArray[np.bool_]:
        """Which nodes have no value, shape ``(N,)``."""
        if self.numbers is not None:
            return np.isnan(self.values)
        missing = np.ones(self.attributes.num_nodes, np.bool_)
        missing[self.query("position", "WHERE present").fetchnumpy()["position"]] = False
        return missing

    def count_missing(self, missing: NDArray[np.bool_]) -> int:
        """How many of these nodes, which have no value, have a row.

        Nodes without an edge have none of what edges say, and the number of edges says so.
        """
        if self.numbers is not None and self.numbers is self.attributes.edges:
            return 0
        return int((missing & self.attributes.has_row).sum())

    @property
    def _rows(self) -> str:
        """SQL for positions and cells."""
        column = f"({self.column} ->> '$')" if self.type == "JSON" else self.column  # without JSON's quotation marks
        return f"SELECT {self.attributes.position} AS position, {column} AS cell FROM {self.attributes.table}"

    def _explained(self, cells: str) -> str:
        """SQL for cells with ``present`` and ``text`` beside them."""
        present, words = "cell IS NOT NULL", "cell::VARCHAR"
        if self.is_text:
            # Not IN: DuckDB turns a list of more than a few words into a join, even if the result is not used.
            present = f"coalesce(NOT {holds_word('|'.join(map(re.escape, MISSING_WORDS)))}, false)"
            words = f"trim(cell, '{WHITE_SPACE}')"
        elif self.type in ("FLOAT", "DOUBLE"):
            present = "coalesce(NOT isnan(cell), false)"
            # Integers may be floats in another snapshot.
            whole = "cell = trunc(cell) AND abs(cell) < 1e15"
            words = f"CASE WHEN {whole} THEN cell::BIGINT::VARCHAR ELSE cell::VARCHAR END"
        cells = f"SELECT *, {present} AS present FROM ({cells})"
        return f"SELECT *, CASE WHEN present THEN {words} END AS text FROM ({cells})"

    def _distinct(self) -> str:
        """The table of distinct cells; it is kept until that of another column is needed."""
        if self.attributes.surveyed != [self._rows]:
            distinct = f"SELECT min(position) AS position, cell, count(*) AS rows FROM ({self._rows}) GROUP BY cell"
            self.attributes.connection.execute(
                f"CREATE OR REPLACE TEMP TABLE distinct_cells AS {self._explained(distinct)}"
            )
            self.attributes.surveyed[:] = [self._rows]
        return "distinct_cells"

    def stretches(self, rows: int) -> Iterator[tuple[range, str]]:
        """Ranges of this many positions, each with the SQL condition that selects its cells, to bound memory."""
        for first in range(0, self.attributes.num_nodes, rows):
            stretch = range(first, min(first + rows, self.attributes.num_nodes))
            yield stretch, f"position BETWEEN {stretch[0]} AND {stretch[-1]}"

    def complaint(self, position: int, problem: str) -> PugnnError:
        """An error about the cell of the node at a position: where it is, what it contains, what to do."""
        if self.numbers is not None:
            cell = f"{self.values[position]:.15g}"
        else:
            ((cell,),) = self.query("left(cell::VARCHAR, 100)", f"WHERE position = {position}").fetchall()
        where = f"{self.attributes.locate(position)}, column {self.name!r}"
        other = f"--column {self.name}={'text' if len(cell.split()) > 2 else 'category'}"
        remedy = f"Correct it, leave it empty, or train with the column as another kind ({other})."
        return PugnnError(f"{where}: {quoted(cell)} {problem}. {remedy}")


def is_number_type(kind: str) -> bool:
    """Whether a DuckDB type is numeric."""
    return kind.removeprefix("U") in NUMBER_TYPES or kind.startswith("DECIMAL")


def holds_word(words: str, cell: str = "cell") -> str:
    """SQL for whether a text cell is one of the words (a pattern), in any case."""
    return f"regexp_full_match({cell}, '(?i)[{WHITE_SPACE}]*({words})[{WHITE_SPACE}]*')"


def number_in_text(cell: str) -> str:
    """SQL for the number in a text, or null: also for ``1_000``, which is more often a code, and ``+-5``."""
    return f"CASE WHEN NOT contains({cell}, '_') AND NOT contains({cell}, '+-') THEN try_cast({cell} AS DOUBLE) END"
