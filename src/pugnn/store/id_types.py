"""The type of the ids: text internally, and in the graph what they were in the user's tables."""

from __future__ import annotations

import datetime
import decimal
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pugnn.errors import PugnnError, quoted

if TYPE_CHECKING:
    from pugnn.store.ids import Ids

SEVERAL_TYPES = "ids are of several types; they are compared, and kept, as text"

#: What ids are called, by patterns of DuckDB types. NULL is the type of a column without a single value.
_FAMILIES = {
    "U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER": "integers",
    'VARCHAR|"NULL"|ENUM.*': "text",
    "FLOAT|DOUBLE": "numbers",
    "DECIMAL.*": "decimal numbers",
    "UUID": "UUIDs",
    "(?!.*ZONE)TIMESTAMP.*": "times",
    "DATE": "dates",
    "BOOLEAN": "booleans",
}

#: DuckDB's types of integers that fit into 64 bits with their sign.
INTEGER_TYPES = {f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER")} | {"BIGINT"}

#: Floating-point numbers of at least this size represent several integers each.
EXACT_BELOW = {"FLOAT": 2**24, "DOUBLE": 2**53}

#: Python's types of ids, and how they are read from text. In Python a boolean is an integer, and a time is a date.
_FROM_TEXT: dict[str, tuple[type, Callable[[str], Any]]] = {
    "booleans": (bool, lambda text: {"true": True, "false": False}[text.lower()]),
    "integers": (int, int),
    "numbers": (float, float),
    "decimal numbers": (decimal.Decimal, decimal.Decimal),
    "UUIDs": (uuid.UUID, uuid.UUID),
    "times": (datetime.datetime, datetime.datetime.fromisoformat),
    "dates": (datetime.date, datetime.date.fromisoformat),
}


def family(kind: str) -> str | None:
    """What ids of a DuckDB type are called; ``None`` if it cannot be the type of ids."""
    return next((name for pattern, name in _FAMILIES.items() if re.fullmatch(pattern, kind, re.DOTALL)), None)


def text_of(column: str, kind: str, where: str) -> str:
    """SQL for the ids of a column as text; the same id has the same text in all tables."""
    if family(kind) is None:
        problem = "holds values of several types" if kind == "JSON" else f"is of type {kind}"
        raise PugnnError(f"{where} {problem}, which cannot be ids; make them all text, or all integers")
    if kind == "VARCHAR":
        return column
    if kind in ("FLOAT", "DOUBLE"):  # in pandas, a column of integers with gaps is one of floats
        whole = f"{column} = trunc({column}) AND abs({column}) < {EXACT_BELOW[kind]}"
        return (
            f"CASE WHEN isnan({column}) THEN NULL WHEN {whole} THEN try_cast({column} AS BIGINT)::VARCHAR "
            f"ELSE {column}::VARCHAR END"
        )
    if kind.startswith("DECIMAL"):  # 1.50 in a table with two digits is 1.5 in one with three, and 1.00 is 1
        return f"regexp_replace({column}::VARCHAR, '\\.?0+$', '')" if not kind.endswith(",0)") else f"{column}::VARCHAR"
    if kind.startswith("TIMESTAMP"):  # midnight is a date
        return f"regexp_replace({column}::VARCHAR, ' 00:00:00$', '')"
    return f"{column}::VARCHAR"


@dataclass(frozen=True)
class IdColumn:
    """A column of ids."""

    where: str  # its table in messages
    kind: str  # its type in DuckDB
    typed: bool  # whether that type means something
    originals: Mapping[str, Any]  # the objects that its texts represent, if these are of mixed or unusual types


def common_family(columns: Sequence[IdColumn]) -> tuple[str, list[str]]:
    """What the ids of all tables are, and notes. Tables with types decide; CSV has none."""
    found = {family(column.kind): column for column in columns if column.typed}
    if set(found) == {"integers", "numbers"}:
        return "numbers", []
    if len(found) > 1:
        types = " and ".join(f"{name} in {column.where}" for name, column in found.items())
        return "text", [f"ids are {types}; they are compared, and kept, as text"]
    return next(iter(found), None) or "text", []


def typed_ids(ids: Ids, columns: Sequence[IdColumn], listed: int) -> tuple[NDArray[Any], list[str]]:
    """The ids of a graph in the type that they have in the columns they come from, that of the node table first.

    The first of these columns brought the first ``listed`` ids. Ids that first occur in a table without types may be of
    another kind, and must not lose anything in conversion, as ``007`` would.
    """
    kind, notes = common_family(columns)
    originals = {text: value for column in columns for text, value in column.originals.items()}
    if kind in ("integers", "numbers") and not originals:
        numbers = ids.integers()
        if not numbers.null_count:
            return numbers.to_numpy(), []
    texts = ids.texts()
    if originals and all(text in originals for text in texts):
        return _objects([originals[text] for text in texts]), []
    if originals:
        return _objects(texts), [SEVERAL_TYPES]
    if kind == "text":
        return _objects(texts), notes
    if kind == "numbers" and all(text.removeprefix("-").isdecimal() for text in texts):
        kind = "integers"
    of_text = _FROM_TEXT[kind][1]
    untyped = ([] if columns[0].typed else texts[:listed]) + ([] if columns[-1].typed else texts[listed:])
    read = ((text, _value(text, of_text)) for text in untyped)
    odd = next((text for text, value in read if value is None or str(value) != text), None)
    if odd is not None:
        return _objects(texts), [
            f"ids are kept as text: not all are {kind} as in the other tables, such as {quoted(odd)}"
        ]
    try:
        values = [of_text(text) for text in texts]
    except ValueError:  # such as a date before the year 1
        return _objects(texts), [f"ids are kept as text: some are {kind} that Python cannot represent"]
    return np.array(values, dtype=np.float64) if kind == "numbers" else _objects(values), []


def integers_in_text(texts: pa.Array) -> pa.Array:
    """The integers of 64 bits that texts represent in the usual way, not as ``007`` or ``+7``; null for other texts.

    Example:
        >>> integers_in_text(pa.array(["7", "-12", "007", "9223372036854775808"])).to_pylist()
        [7, -12, None, None]
    """
    digits = pc.utf8_ltrim(texts, "-")
    long = pc.and_(pc.equal(pc.utf8_length(digits), 19), pc.greater(digits, str(2**63 - 1)))
    long = pc.and_(long, pc.not_equal(texts, str(-(2**63))))
    usual = pc.match_substring_regex(texts, r"^(0|-?[1-9][0-9]{0,18})$")
    return pc.cast(pc.if_else(pc.and_not(usual, long), texts, None), pa.int64())


def positions_of_values(texts: list[str], ids: NDArray[Any]) -> list[int]:
    """Positions of the ids that these texts represent, however they are written; −1 if there is none.

    Ids that are not text can be written in several ways: ``1`` and ``1.0``, or midnight with and without the time.
    """
    (first,) = ids[:1].tolist()
    of_text = next((of_text for type_, of_text in _FROM_TEXT.values() if isinstance(first, type_)), None)
    if of_text in (int, None):
        return [-1] * len(texts)
    position = {value: at for at, value in enumerate(ids.tolist())}
    return [position.get(_value(text, of_text), -1) for text in texts]


def _value(text: str, of_text: Callable[[str], Any]) -> Any:
    try:
        return None if "_" in text else of_text(text)
    except (ValueError, KeyError, ArithmeticError):
        return None


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))
