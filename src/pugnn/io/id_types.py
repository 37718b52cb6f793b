"""The type of the ids: text internally, and in the graph what they were in the user's tables."""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, quoted

#: DuckDB's integer types.
_INTEGERS = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")} | {
    "INTEGER",
    "UINTEGER",
}

#: Floating-point numbers of at least this size represent several integers each.
EXACT_BELOW = {"FLOAT": 2**24, "DOUBLE": 2**53}

_FROM_TEXT: dict[str, Callable[[str], Any]] = {
    "integers": int,
    "numbers": float,
    "decimal numbers": decimal.Decimal,
    "UUIDs": uuid.UUID,
    "dates": datetime.date.fromisoformat,
    "times": datetime.datetime.fromisoformat,
    "booleans": lambda text: {"true": True, "false": False}[text.lower()],
}

#: Python's types of values that can be written in several ways; in Python a time is a date.
_TYPES = {
    "booleans": bool,
    "numbers": float,
    "decimal numbers": decimal.Decimal,
    "UUIDs": uuid.UUID,
    "times": datetime.datetime,
    "dates": datetime.date,
}


def family(kind: str) -> str | None:
    """What ids of a DuckDB type are called; ``None`` if it cannot be the type of ids."""
    if kind in _INTEGERS:
        return "integers"
    if kind in ("VARCHAR", '"NULL"') or kind.startswith("ENUM"):  # NULL: there is not a single value
        return "text"
    if kind.startswith("DECIMAL"):
        return "decimal numbers"
    if kind.startswith("TIMESTAMP") and "ZONE" not in kind:
        return "times"
    named = {"FLOAT": "numbers", "DOUBLE": "numbers", "UUID": "UUIDs", "DATE": "dates", "BOOLEAN": "booleans"}
    return named.get(kind)


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
    """A column of ids.

    Args:
        where: its table in messages.
        kind: its type in DuckDB.
        typed: whether that type means something.
        originals: the objects that its texts represent, if these are of mixed or unusual types.
    """

    where: str
    kind: str
    typed: bool
    originals: Mapping[str, Any]


def common_family(columns: Sequence[IdColumn]) -> tuple[str, list[str]]:
    """What the ids of all tables are, and notes. Tables with types decide; CSV has none."""
    found = {family(column.kind): column for column in columns if column.typed}
    if set(found) == {"integers", "numbers"}:
        return "numbers", []
    if len(found) > 1:
        types = " and ".join(f"{name} in {column.where}" for name, column in found.items())
        return "text", [f"ids are {types}; they are compared, and kept, as text"]
    return next(iter(found), None) or "text", []


def ids_from_text(
    texts: list[str], kind: str, originals: Mapping[str, Any], untyped: list[str]
) -> tuple[NDArray[Any], list[str]]:
    """The ids of a graph in their own type, and notes.

    Args:
        texts: the ids as text.
        kind: what they are, from :func:`common_family`.
        originals: the objects that some texts represent.
        untyped: those that first occur in a table without types. They may be of another kind, and must not lose
            anything in conversion, as ``007`` would.
    """
    if originals and all(text in originals for text in texts):
        return _objects([originals[text] for text in texts]), []
    if originals:
        return _objects(texts), ["ids are of several types; they are compared, and kept, as text"]
    if kind == "text":
        return _objects(texts), []
    if kind == "numbers" and all(text.removeprefix("-").isdecimal() for text in texts):
        kind = "integers"
    of_text = _FROM_TEXT[kind]
    odd = next((text for text in untyped if not _is_written(text, of_text)), None)
    if odd is not None:
        return _objects(texts), [
            f"ids are kept as text: not all are {kind} as in the other tables, such as {quoted(odd)}"
        ]
    try:
        values = [of_text(text) for text in texts]
    except ValueError:  # such as a date before the year 1
        return _objects(texts), [f"ids are kept as text: some are {kind} that Python cannot represent"]
    if kind == "integers":
        fits = all(-(2**63) <= value < 2**63 for value in values)
        return np.array(values, dtype=np.int64) if fits else _objects(values), []
    if kind != "numbers":
        return _objects(values), []
    return np.array(values, dtype=np.float64), []


def positions_of_values(texts: list[str], ids: NDArray[Any]) -> list[int]:
    """Positions of the ids that these texts represent, however they are written; −1 if there is none.

    Ids that are not text can be written in several ways: ``1`` and ``1.0``, or midnight with and without the time.
    """
    of_text = next((_FROM_TEXT[name] for name, type_ in _TYPES.items() if isinstance(ids.tolist()[0], type_)), None)
    if of_text is None:
        return [-1] * len(texts)
    position = {value: at for at, value in enumerate(ids.tolist())}
    return [position.get(_value(text, of_text), -1) for text in texts]


def _value(text: str, of_text: Callable[[str], Any]) -> Any:
    try:
        return None if "_" in text else of_text(text)
    except (ValueError, KeyError, ArithmeticError):
        return None


def _is_written(text: str, of_text: Callable[[str], Any]) -> bool:
    """Whether this text is the standard form of its value."""
    try:
        return str(of_text(text)) == text
    except (ValueError, KeyError, ArithmeticError):
        return False


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))
