"""The kinds of columns of nodes, and how they are guessed. A date becomes a number.

Columns of edges have rules of their own: :mod:`pugnn.store.edge_columns`.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, did_you_mean, quoted, shorten, similar
from pugnn.features.attribute_table import WHITE_SPACE, Cells
from pugnn.features.boolean import truth_in_text
from pugnn.features.category import MAX_VALUES
from pugnn.features.encoding import ENCODINGS
from pugnn.features.number import DAYS_IN_TEXT, NUMBER_IN_TEXT

#: What users may name beside the kinds of :data:`~pugnn.features.encoding.ENCODINGS`.
OTHER_KINDS = ("counts", "ignore")

#: Reasons to ignore columns that may apply to many of them.
EMPTY, CONSTANT, ROW_NUMBERS = "empty in all rows", "the same value in all rows", "row numbers written by pandas"

#: Characters of a pattern.
_PATTERN = "*?["

#: Names of columns of row numbers, as pandas writes them; columns without a name get such a one when a table is opened.
_ROW_NUMBERS = re.compile(r"Unnamed: \d+|__index_level_\d+__")

#: If this share of the texts in a column are numbers (dates, vectors), it is a column of numbers (…), and the few
#: others are mistakes to be reported rather than a sign that all are categories.
NEARLY_ALL = 0.9

#: Values of a category repeat at least this often on average; if not, a column of several words per cell is text.
MIN_REPEATS = 2

#: Several words: at least this many on average. A column with fewer, nearly all different, identifies its nodes.
MIN_WORDS = 2

_WORDS = "1 + length(text) - length(replace(text, ' ', ''))"
_BRACKETED = rf"regexp_matches(cell, '^[{WHITE_SPACE}]*\[')"

# Numbers with a comma or a currency, and dates that begin with the day. Reading these as names or categories would
# surprise people, and 1,234 may be either of two numbers; so users are asked for a plain form.
LOCAL_NUMBERS = "|".join(
    (
        r"[-+]?\d+(\.\d{3})*,\d+",
        r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?",
        r"[€$£¥] ?[-+]?\d[\d.,]*",
        r"[-+]?\d[\d.,]* ?[€$£¥%]",
    )
)
LOCAL_DATES = "|".join(
    (
        r"\d{1,2}[./]\d{1,2}[./](\d{4}|\d{2})([ ,T].*)?",
        r"\d{1,2}-\d{1,2}-\d{4}([ ,T].*)?",
        r"\d{2}-\d{2}-\d{2}([ ,T].*)?",  # with fewer digits, such as 3-7-12, it is a code
    )
)
_LOCAL_NUMBER = f"regexp_full_match(text, '{LOCAL_NUMBERS}')"
_LOCAL_DATE = f"regexp_full_match(text, '{LOCAL_DATES}')"


@dataclass(frozen=True)
class Choice:
    """The kind of a column, and the reason if it is ignored."""

    kind: str
    reason: str = ""


def kind_of(cells: Cells) -> Choice:
    """Guess the kind of a column from its type, or from its texts if types mean nothing."""
    if cells.numbers is not None:
        if _ROW_NUMBERS.fullmatch(cells.name) and _counts_rows(cells.numbers.column(cells.name)):
            return Choice("ignore", ROW_NUMBERS)
        summary = cells.numbers.summary(cells.name)
        if not summary.present:
            return Choice("ignore", EMPTY)
        if summary.lowest == summary.highest and not summary.missing:
            return Choice("ignore", CONSTANT)
        return Choice("boolean" if summary.boolean else "number")
    if cells.type == '"NULL"':
        return Choice("ignore", EMPTY)
    if cells.is_text:
        return _kind_of_texts(cells)
    if cells.is_number or cells.is_date:  # numbers only if one of them is too large
        return _few_values(cells)[1] or Choice("number")
    if cells.type.endswith("]"):
        items = replace(cells, type=cells.type[: cells.type.rindex("[")])
        if not cells.query("count(cell)").fetchone()[0]:
            return Choice("ignore", EMPTY)
        if items.is_number or items.type == "BOOLEAN":
            return Choice("vector")
        if items.is_text:
            return Choice("text")
    return Choice("ignore", f"cells of the type {cells.type} cannot become features")


def _counts_rows(values: NDArray[np.float64]) -> bool:
    """Whether all values are integers, each once."""
    return bool((values == np.trunc(values)).all()) and len(np.unique(values)) == len(values)


def _kind_of_texts(cells: Cells) -> Choice:
    present, few = _few_values(cells)
    if few:
        return few
    untyped = not cells.attributes.typed or cells.type == "JSON"
    number, vector = (NUMBER_IN_TEXT, _BRACKETED) if untyped else ("NULL", "false")  # else someone chose text
    values = (f"({value}) IS NOT NULL" for value in (number, truth_in_text("cell"), DAYS_IN_TEXT))
    ((numbers, truths, days, bracketed),) = cells.survey(", ".join(map(_rows, (*values, vector))), "WHERE present")
    if truths == present:
        return Choice("boolean")
    if max(numbers, days) >= NEARLY_ALL * present:
        return Choice("number")
    if bracketed >= NEARLY_ALL * present:
        ((first,),) = cells.survey("try_cast(arg_min(cell, position) AS FLOAT[])", f"WHERE {_BRACKETED}")
        if first and None not in first:
            return Choice("vector")
    _reject_local_forms(cells, present)
    ((different, words),) = cells.survey(f"count(DISTINCT text), sum(rows * ({_WORDS}))")
    if different * MIN_REPEATS <= present and different <= MAX_VALUES:
        return Choice("category")
    if words >= MIN_WORDS * present:
        return Choice("text")
    if different >= NEARLY_ALL * present:
        example = quoted(cells.survey("left(min(text), 100)")[0][0])
        reason = f"nearly every node has its own value, such as {example}, as with identifiers"
        return Choice("ignore", f"{reason}; --column {cells.name}=text would use it")
    return Choice("category")


def _reject_local_forms(cells: Cells, present: int) -> None:
    for local, plain, problem in (
        (_LOCAL_NUMBER, NUMBER_IN_TEXT, "is a number that is not written like 1234.5"),
        (_LOCAL_DATE, "NULL", "is a date that is not written like 2024-12-31"),
    ):
        ((found, others, first),) = cells.survey(
            f"{_rows(local)}, {_rows(f'({plain}) IS NOT NULL')}, min(position) FILTER ({local})", "WHERE present"
        )
        if found and found + others >= NEARLY_ALL * present:
            raise cells.complaint(first, problem)


def _rows(condition: str) -> str:
    """SQL for the number of rows whose cells satisfy a condition, in a survey."""
    return f"coalesce(sum(rows) FILTER ({condition}), 0)"


def _few_values(cells: Cells) -> tuple[int, Choice | None]:
    """How many cells are present, and the kind of a column that holds one value or none."""
    ((present, different),) = cells.survey(f"{_rows('true')}, count(*)", "WHERE present")
    if not present:
        return 0, Choice("ignore", EMPTY)
    if different > 1:
        return present, None
    if present == cells.attributes.has_row.sum():
        return present, Choice("ignore", CONSTANT)
    return present, Choice("category")  # what matters is whether a row has the value


def expand_kinds(kinds: Mapping[str, str], names: Sequence[str], origin: str) -> dict[str, str]:
    """Kinds by column from what the user gave, checked; ``origin`` is the table's name in messages."""
    there, known = dict.fromkeys(names), [*sorted(ENCODINGS), *OTHER_KINDS]
    for given, kind in kinds.items():
        if kind not in known:
            raise PugnnError(f"column {given!r}: there is no kind {kind!r}{instead(kind, known)}")
        if given not in there and not (set(given) & set(_PATTERN) and fnmatch.filter(there, given)):
            raise PugnnError(f"{origin} has no column {given!r}{instead(given, names)}")
    return chosen_kinds(kinds, names)


def chosen_kinds(kinds: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Kinds by column from what the user gave, by name or by pattern such as ``w_*``; some may be of other tables.

    Names take precedence over patterns, and later patterns over earlier ones.
    """
    there = dict.fromkeys(names)
    patterns = {given: kind for given, kind in kinds.items() if given not in there and set(given) & set(_PATTERN)}
    found = {name: kind for given, kind in patterns.items() for name in fnmatch.filter(there, given)}
    return found | {name: kind for name, kind in kinds.items() if name in there}


def needs_text(kind: str | None) -> bool:
    """Whether a kind needs cells as they are written, even if they are numbers."""
    return kind is not None and kind in ENCODINGS and ENCODINGS[kind].needs_text


def instead(word: str, words: Sequence[str]) -> str:
    """A hint for a word that is none of these."""
    if near := similar(word, words):
        return did_you_mean(near)
    return f"; there are {shorten(words, 10)}" if words else "; there are none besides the ids"
