"""Tables in memory: pandas, Polars, Arrow, NetworkX, and plain Python and numpy columns."""

from __future__ import annotations

import datetime
import decimal
import sys
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pugnn.errors import PugnnError, shorten
from pugnn.store.tables.column_names import SOURCE, TARGET, normal

#: Types of objects that DuckDB knows; a column of one of them keeps it.
_KNOWN = {str, bool, int, float, datetime.date, datetime.datetime, uuid.UUID, decimal.Decimal}


@dataclass(frozen=True, eq=False)
class MemoryTable:
    """A table in memory."""

    content: Any  # what DuckDB is given
    names: tuple[str, ...]  # of its columns
    #: Values of mixed or unusual types, by column and by the text that represents them.
    originals: dict[int, dict[str, Any]] = field(default_factory=dict)
    bare: bool = False  # whether it was a plain list of values


def as_memory_table(given: Any, role: str, ids: Sequence[str]) -> MemoryTable:
    """A table from what the user holds; columns without a name get those of ``ids``.

    That is a data frame or series of pandas or Polars, an Arrow table, a mapping of names to columns, an array or list
    of ids, or, for edges, of pairs ``(source, target)`` or triples with a weight.
    """
    if isinstance(given, MemoryTable):
        return given
    if is_from("pandas", "Series", given):
        given = given.to_frame(ids[0] if given.name is None else given.name)
    if is_from("pandas", "DataFrame", given):
        return _from_pandas(given, role)
    if is_from("polars", "Series", given):
        given = given.to_frame()
    if is_from("polars", "LazyFrame", given):
        given = given.collect()
    if is_from("polars", "DataFrame", given):
        try:
            given = given.to_arrow()
        except Exception as error:  # pyarrow does not know all of Polars' types
            raise PugnnError(f"{role}: the data frame cannot be read: {error}. Cast the column first.") from None
    if isinstance(given, pa.Table | pa.RecordBatch):
        names = tuple(given.schema.names)
        reject_repeated_names(names, role)
        renamed = given.rename_columns([f"c_{at}" for at in range(len(names))])
        return MemoryTable(renamed, names)
    if isinstance(given, Mapping):
        return _from_columns({str(name): values for name, values in given.items()}, role)
    return replace(_from_columns(_columns(given, role, ids), role), bare=len(ids) == 1)


def is_from(library: str, name: str, given: Any) -> bool:
    """Whether this is an object of a library's class; if it is, the library has been imported."""
    return isinstance(given, getattr(sys.modules.get(library), name, ()))


def is_frame(given: Any) -> bool:
    """Whether this is a data frame of pandas or Polars, or an Arrow table."""
    frames = (("pandas", "DataFrame"), ("polars", "DataFrame"), ("polars", "LazyFrame"))
    return isinstance(given, pa.Table | pa.RecordBatch) or any(is_from(*frame, given) for frame in frames)


def networkx_tables(given: Any, edge_type: str | None) -> tuple[MemoryTable, MemoryTable, str | None]:
    """Edges and nodes of a NetworkX graph with their attributes, and the column that names relations, if there is one.

    That is the edge attribute ``edge_type``, or else the keys of a multigraph if all of them are text.
    """
    listed = list(given.edges(data=True))
    edges: dict[str, Any] = {"source": [u for u, _, _ in listed], "target": [v for _, v, _ in listed]}
    if edge_type is not None and listed and not any(edge_type in data for _, _, data in listed):
        raise PugnnError(f"no edge of the NetworkX graph has the attribute {edge_type!r} (--edge-type)")
    if edge_type is None and given.is_multigraph() and listed:
        keys = [key for *_, key in given.edges(keys=True)]
        if all(isinstance(key, str) for key in keys):
            edge_type = "edge_type"
            edges[edge_type] = keys
    edges |= _attributes([data for *_, data in listed], (*SOURCE, *TARGET, *edges))
    if "weight" in edges:
        edges["weight"] = [data.get("weight", 1.0) for *_, data in listed]
    nodes = {"id": list(given.nodes), **_attributes([data for _, data in given.nodes(data=True)], ["id"])}
    return _from_columns(edges, "edges"), _from_columns(nodes, "nodes"), edge_type


def _attributes(rows: list[dict[Any, Any]], taken: Iterable[str]) -> dict[str, Any]:
    """Columns of the attributes of nodes or edges, empty where one has none; other columns have the ``taken`` names."""
    found = {}
    for name in dict.fromkeys(name for data in rows for name in data):
        values = [data.get(name) for data in rows]
        values = [list(value) if isinstance(value, tuple) else value for value in values]  # a vector; ids stay tuples
        found[f"{name} (attribute)" if normal(str(name)) in taken else str(name)] = values
    return found


def _from_columns(columns: Mapping[str, Any], role: str) -> MemoryTable:
    """A table of plain columns."""
    arrays, originals = {}, {}
    for at, (name, values) in enumerate(columns.items()):
        arrays[f"c_{at}"], originals[at] = _array(values, f"{role}, column {name!r}")
    lengths = {name: len(array) for name, array in zip(columns, arrays.values(), strict=True)}
    if len(set(lengths.values())) > 1:
        raise PugnnError(f"the columns of {role} have different lengths: {lengths}")
    if not arrays:
        raise PugnnError(f"{role} has no columns")
    return MemoryTable(arrays, tuple(columns), originals)


def writable_column(values: NDArray[Any]) -> NDArray[Any]:
    """A column, perhaps masked, in a form that can be written; values of mixed types become text."""
    if isinstance(values, np.ma.MaskedArray) and values.dtype.kind != "O":
        return values
    column = _array(values, "column", mixed=True)[0]
    if column.dtype.kind == "O" and any(isinstance(value, int) and abs(value) >= 2**63 for value in column):
        return _as_text(column.tolist(), None)[0]  # Parquet has no such integers, and floats would round them
    return column


def _from_pandas(frame: Any, role: str) -> MemoryTable:
    # A named index is a column like the others, unless it is one already.
    new = [name for name in frame.index.names if name is not None and name not in frame.columns]
    frame = frame.reset_index(level=new) if new else frame
    names = tuple(map(str, frame.columns))
    reject_repeated_names(names, role)
    frame = frame.set_axis([f"c_{at}" for at in range(len(names))], axis=1).reset_index(drop=True)
    originals: dict[int, dict[str, Any]] = {}
    for at, name in enumerate(names):
        if isinstance(frame.dtypes.iloc[at], np.dtypes.ObjectDType):
            frame[f"c_{at}"], originals[at] = _array(frame[f"c_{at}"].tolist(), f"{role}, column {name!r}")
    return MemoryTable(frame, names, originals)


def _columns(given: Any, role: str, ids: Sequence[str]) -> dict[str, Any]:
    if isinstance(given, np.ndarray) and given.ndim != 1:
        if not role.startswith("edges"):
            raise PugnnError(
                f"{role} as an array must be a list of ids; this one has shape {given.shape}. Attributes come in a "
                "data frame, or as a matrix in `attributes`."
            )
        if given.ndim != 2 or given.shape[1] not in (2, 3):
            raise PugnnError(
                "edges as an array must have two columns, source and target, or a third one with weights; this one has "
                f"shape {given.shape}"
            )
        return dict(zip([*ids, "weight"], given.T, strict=False))
    if not isinstance(given, list | tuple | set | frozenset | np.ndarray | range):
        raise PugnnError(
            f"{role} cannot be read from {type(given).__name__}; give a file name, a pandas or Polars data frame, an "
            "Arrow table or a mapping of names to columns"
        )
    values = list(given)
    if len(ids) == 1:
        return {ids[0]: given if isinstance(given, np.ndarray) else values}
    if any(map(is_frame, values)):
        raise PugnnError(f"a list of tables is no {role}; give a mapping of names to them: {{'pays': pays, …}}")
    widths = {len(value) if isinstance(value, tuple | list) else 0 for value in values}
    if widths == {2} or widths == {3}:
        return dict(zip([*ids, "weight"], zip(*values, strict=True), strict=False))
    raise PugnnError(
        f"a list of {role} holds pairs (source, target) or triples with a weight; got {shorten(values, 2)}"
    )


def _array(values: Any, where: str, mixed: bool = False) -> tuple[NDArray[Any], dict[str, Any]]:
    """A column that DuckDB can read, and the values that its texts represent, if it had to become text."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise PugnnError(f"{where} must be a list or an array, one entry per row; got {values!r}")
    if isinstance(values, np.ndarray) and values.dtype.kind == "c":
        raise PugnnError(f"{where} holds complex numbers; give their real and imaginary parts as separate columns")
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()  # None where it is masked
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return values.astype("datetime64[us]"), {}  # DuckDB has no unit of days or months
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb" and values.ndim == 1:
        return values, {}
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    listed = [
        None if _is_missing(value) else value.item() if isinstance(value, np.generic) else value for value in listed
    ]
    kinds = {type(value) for value in listed if value is not None}
    if kinds == {int} and None not in listed and all(-(2**63) <= value < 2**63 for value in listed):
        return np.array(listed, dtype=np.int64), {}
    if kinds == {int, float}:
        return np.array([np.nan if value is None else value for value in listed], dtype=np.float64), {}
    if kinds <= {list, np.ndarray}:
        listed = [value.tolist() if isinstance(value, np.ndarray) else value for value in listed]
    elif len(kinds) > 1 or not kinds <= _KNOWN:
        return _as_text(listed, None if mixed else where)
    return np.fromiter(listed, dtype=object, count=len(listed)), {}


def _as_text(values: list[Any], where: str | None) -> tuple[NDArray[Any], dict[str, Any]]:
    originals: dict[str, Any] = {}
    texts = [None if value is None else str(value) for value in values]
    for text, value in zip(texts, values, strict=True):
        if text is not None:
            other = originals.setdefault(text, value)
            if where is not None and type(other) is not type(value):
                raise PugnnError(f"{where}: {other!r} and {value!r} differ only in type; convert them to one type")
    return np.fromiter(texts, dtype=object, count=len(texts)), originals


def _is_missing(value: Any) -> bool:
    # NaN, and the missing values of pandas, whatever its version: they are equal to nothing and have no boolean value.
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def reject_repeated_names(names: Sequence[str], table: str) -> None:
    """Raise unless all columns have different names."""
    name, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise PugnnError(f"{table} has several columns named {name!r}; rename or remove all but one")
