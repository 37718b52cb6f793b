"""Tables in databases: the rows of a query go, some at a time, to a temporary Parquet file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from pugnn.errors import PugnnError, counted, printable
from pugnn.store.tables.database import read_only
from pugnn.store.tables.objects import reject_repeated_names
from pugnn.store.tables.sql_source import SqlSource
from pugnn.waiting import StatusLine, status_line

if TYPE_CHECKING:
    from pugnn.store.tables.input_files import Scratch

_WRITTEN_TO = "Close it in programs that write to it."

#: Settings of PostgreSQL by which a query changes nothing, and gives the same rows in the same order again.
_POSTGRESQL = (
    "SET TRANSACTION READ ONLY",
    "SET LOCAL synchronize_seqscans = off",
    "SET LOCAL max_parallel_workers_per_gather = 0",
)

#: Rows, or bytes, that are in memory until they are written together.
_ROWS, _BYTES = 1 << 17, 1 << 26

#: Columns of SQLite that are examined at once; a result has at most 2,000.
_COLUMNS_AT_ONCE = 500

#: A first row that tells ADBC the types of SQLite's columns, and what makes all cells of a column one type.
_FIRST = {"integer": "0", "real": "0.5", "text": "''", "blob": "x''"}
_CAST = {"integer": "{}", "real": "CAST({} AS REAL)", "text": "CAST({} AS TEXT)", "blob": "{}"}


#: The columns that a query gives, its rows, to be read once, and notes.
_Result: TypeAlias = tuple[pa.Schema, Iterator[pa.RecordBatch], list[str]]


def copy_table(source: SqlSource, scratch: Scratch) -> tuple[Path, list[str]]:
    """A Parquet file with all rows of a table, and notes.

    Tables are read more than once, and the order of rows matters, which may differ when a query runs again.
    """
    openers = {"sqlite": _sqlite, "duckdb": _duckdb, "postgresql": _postgresql}
    with status_line() as line:
        line.say(f"copying {source.shown}")
        with openers[source.kind](source) as (given, rows, notes), scratch.new_file() as (file, path):
            if not given.names:
                raise PugnnError(f"{source.shown} has no columns; select some")
            if "" in given.names:
                raise PugnnError(f"{source.shown}: a column has an empty name. Give it one: select … as NAME.")
            reject_repeated_names(given.names, source.shown)
            types = [_type_in_copy(field, f"{source.shown}: column {field.name!r}") for field in given]
            schema = pa.schema(list(zip(given.names, types, strict=True)))
            with pq.ParquetWriter(file, schema, compression="lz4") as writer:
                for batches in _collected(_batches(source, rows, line)):
                    columns = [
                        pa.chunked_array([_as(batch.column(at), kind) for batch in batches], kind)
                        for at, kind in enumerate(types)
                    ]
                    writer.write_table(pa.Table.from_arrays(columns, schema=schema))
    return path, [f"{source.shown}: {note}" for note in notes]


@contextmanager
def _sqlite(source: SqlSource) -> Iterator[_Result]:
    path = source.path()
    with _explained(f"cannot open {source.place}", _WRITTEN_TO):
        connection = _driver("sqlite").connect(f"file:{quote(path)}?mode=ro")
    options = {"adbc.sqlite.query.batch_rows": str(_ROWS)}
    with closing(connection), closing(connection.cursor(adbc_stmt_kwargs=options)) as cursor:
        with _explained(source.shown):
            cursor.execute(f"SELECT * FROM (\n{source.query}\n) LIMIT 0")
            names = cursor.fetch_record_batch().schema.names
            first_names = {name.lower() for name in names if ":" not in name}
            for name in names:  # SQLite calls a second ``a`` ``a:1``
                again = re.sub(r":\d+$", "", name)
                if again != name and again.lower() in first_names:
                    reject_repeated_names([again, again], source.shown)
            cells = [f"nullif(c_{at}, '')" for at in range(len(names))]
            given = f"WITH given({', '.join(f'c_{at}' for at in range(len(names)))}) AS (\n{source.query}\n)"
            kinds, mixed = _sqlite_types(cursor, given, cells)
            first = ", ".join(_FIRST[kind] for kind in kinds)
            rest = ", ".join(_CAST[kind].format(cell) for kind, cell in zip(kinds, cells, strict=True))
            cursor.execute(f"{given} SELECT {first} UNION ALL SELECT {rest} FROM given")
            reader = cursor.fetch_record_batch()
        notes = [f"column {names[at]!r} holds values of several types; it is read as text" for at in mixed]
        schema = pa.schema([field.with_name(name) for field, name in zip(reader.schema, names, strict=True)])
        with closing(reader):
            yield schema, chain((batch.slice(1) for batch in islice(reader, 1)), reader), notes


def _sqlite_types(cursor: Any, given: str, cells: list[str]) -> tuple[list[str], list[int]]:
    """The type of each column of SQLite, where every cell has its own, and the places of those that have several.

    ADBC goes by the first rows alone.
    """
    kinds, mixed = list[str](), list[int]()
    for first in range(0, len(cells), _COLUMNS_AT_ONCE):
        types = [f"nullif(typeof({cell}), 'null')" for cell in cells[first : first + _COLUMNS_AT_ONCE]]
        cursor.execute(f"{given} SELECT {', '.join(f'min({kind}), max({kind})' for kind in types)} FROM given")
        (row,) = cursor.fetchall()
        # In alphabetical order: blob, integer, real, text.
        for least, most in zip(row[::2], row[1::2], strict=True):
            together = most == "text" or (least == "blob" and most != "blob")
            if together and least != most:
                mixed.append(len(kinds))
            kinds.append("text" if together else most or "integer")
    return kinds, mixed


@contextmanager
def _duckdb(source: SqlSource) -> Iterator[_Result]:
    path = source.path()
    with _explained(f"cannot open {source.place}", _WRITTEN_TO):
        connection = read_only(path)
    with connection:
        with _explained(source.shown):
            reader = connection.sql(source.query).to_arrow_reader(_ROWS)
        with closing(reader):
            yield reader.schema, reader, []


@contextmanager
def _postgresql(source: SqlSource) -> Iterator[_Result]:
    remedy = "Check the address, and that the server runs; a password is taken from PGPASSWORD or ~/.pgpass."
    with _explained(f"cannot connect to {source.place}", remedy):
        connection = _driver("postgresql").connect(source.place)
    with closing(connection), closing(connection.cursor()) as cursor:
        with _explained(source.shown):
            for statement in (*_POSTGRESQL, source.query):
                cursor.execute(statement)
            reader = cursor.fetch_record_batch()
        with closing(reader):
            yield reader.schema, reader, []


def _driver(kind: str) -> Any:
    """The module that connects to databases of a kind."""
    try:
        return import_module(f"adbc_driver_{kind}.dbapi")
    except ImportError:
        raise PugnnError(f"reading from {kind} needs adbc-driver-{kind}: pip install 'pugnn[sql]'") from None


def _type_in_copy(field: pa.Field, shown: str) -> pa.DataType:
    """The type that a column has in a copy."""
    words = field.metadata or {}
    kind, within = words.get(b"POSTGRESQL:type", b"").decode(), getattr(field.type, "value_type", field.type)
    if kind == "numeric":  # which ADBC gives as text
        precision, scale = divmod(int(words.get(b"POSTGRESQL:typmod", -1)) - 4, 1 << 16)
        return pa.int64() if scale == 0 and 0 < precision <= 18 else pa.float64()
    # ADBC gives money in the smallest unit, and what it does not know as it comes from the server.
    if kind == "money" or pa.types.is_interval(within) or getattr(within, "extension_name", "") == "arrow.opaque":
        name = kind.lstrip("_") or str(field.type)
        raise PugnnError(f"{shown} is of the type {name}, which cannot be read. Leave it out, or cast it in the query.")
    return field.type


def _as(cells: pa.Array, kind: pa.DataType) -> pa.Array:
    return cells if cells.type == kind else cells.storage.cast(kind)


def _batches(source: SqlSource, batches: Iterator[pa.RecordBatch], line: StatusLine) -> Iterator[pa.RecordBatch]:
    rows = 0
    while True:
        with _explained(f"{source.shown}, after {counted(rows, 'row')}", "Correct the query, or try again."):
            batch = next(batches, None)
        if batch is None:
            return
        rows += len(batch)
        line.update(f"copying {source.shown}: {counted(rows, 'row')}")
        yield batch


def _collected(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Batches of any size, some at a time."""
    some: list[pa.RecordBatch] = []
    for batch in batches:
        some.append(batch)
        if sum(map(len, some)) >= _ROWS or sum(each.nbytes for each in some) >= _BYTES:
            yield some
            some = []
    if some:
        yield some


@contextmanager
def _explained(what: str, remedy: str = "Correct the query, or the name of the table.") -> Iterator[None]:
    """Surrounds everything that a database is asked; an error says in its words what is wrong."""
    try:
        yield
    except PugnnError:
        raise
    except Exception as error:  # of drivers, DuckDB and Arrow, which have no base in common
        raise PugnnError(f"{printable(what)}: {_words_of(error)}. {remedy}") from None


def _words_of(error: Exception) -> str:
    """The line of a driver's message that says what is wrong."""
    text = str(error).strip() or type(error).__name__
    said = re.search(r"^.*?\b(?:ERROR|FATAL): +(.*)", text) if "connection to server" not in text else None
    line = said[1] if said else text.splitlines()[0]
    line = re.sub(r"^[A-Z][\w ]* Error: |^(?:[A-Z_]+: )?(?:\[\w+\] )?(?:Failed to [\w ]+: )?", "", line)
    return printable(" ".join(line.split())).rstrip(".!")
