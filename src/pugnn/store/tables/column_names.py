"""Which column is which, by its usual name or by the name that the user gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pugnn.errors import PugnnError, shorten

if TYPE_CHECKING:
    from pugnn.store.tables.table import Table

#: Usual names of columns; case, and ``-`` or a space for ``_``, do not matter.
SOURCE = ("source", "src", "from", "u", "source_id", "from_id")
TARGET = ("target", "dst", "to", "v", "target_id", "to_id")
WEIGHT = ("weight", "weights")
ID = ("id", "node_id", "node")
ATTRIBUTE = ("attribute", "feature", "word", "term", "token", "tag", "key", "variable")
VALUE = ("value", "count", "weight", "n", "tf", "tfidf")

#: Names of columns that say which rows of a list are positive, and prefixes and suffixes of further ones.
LABEL = ("label", "labels", "class", "y", "target", "positive", "truth", "flag")
LABEL_BEGINS, LABEL_ENDS = ("is_", "has_", "label_"), ("_label", "_class", "_flag")

#: Names of columns that say what somebody found out about checked nodes; the first is that of `pugnn suggest`.
VERDICT = ("verdict", "label", "positive")


def is_label(name: str) -> bool:
    """Whether a column of this name says which rows are positive.

    Example:
        >>> is_label("Is Fraud"), is_label("amount")
        (True, False)
    """
    plain = normal(name)
    return plain in LABEL or plain.startswith(LABEL_BEGINS) or plain.endswith(LABEL_ENDS)


def normal(name: str) -> str:
    """A name in the form in which names are compared."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def places_of(name: str, names: Sequence[str]) -> list[int]:
    """Where a name is among those of columns; if it is nowhere, where one is that compares as equal."""
    exact = [at for at, other in enumerate(names) if other == name]
    return exact or [at for at, other in enumerate(names) if normal(other) == normal(name)]


def names_of(kind: str) -> tuple[str, ...]:
    """Further usual names of a column of ids, if these are of one of several kinds: ``user``, ``user_id``."""
    return (normal(kind), f"{normal(kind)}_id") if kind else ()


def find_column(
    table: Table, option: str, wanted: str | None, usual: Sequence[str], *, first: bool = False
) -> int | None:
    """The place of a column of a table, or ``None`` if there is none: the one that is wanted, or one of a usual name.

    ``option`` is the command-line option for it. With ``first``, an earlier usual name takes precedence.
    """
    names = table.names
    if wanted is not None:
        found = places_of(wanted, names)
        if not found:
            kind = f". If that is a kind of nodes, name it: --edges {wanted}:RELATION:{wanted}=FILE"
            raise PugnnError(
                f"{table.shown} has no column {wanted!r} (--{option}); its columns are {shorten(names, 20)}"
                f"{kind if option == 'target' else ''}"
            )
    else:
        found = [at for at, name in enumerate(names) if normal(name) in usual]
        if first and found:
            best = min(usual.index(normal(names[at])) for at in found)
            found = [at for at in found if normal(names[at]) == usual[best]]
    if len(found) > 1:
        several = shorten([names[at] for at in found], 20)
        raise PugnnError(
            f"{table.shown}: any of the columns {several} may be the {option}; choose one with --{option} NAME"
        )
    return found[0] if found else None


def require_column(
    table: Table, option: str, wanted: str | None, usual: Sequence[str], *, first: bool = False, more: str = ""
) -> int:
    """Like :func:`find_column`, but raises if there is none; ``more`` says what else may help."""
    at = find_column(table, option, wanted, usual, first=first)
    if at is None:
        raise PugnnError(
            f"{table.shown} has no column {usual[0]!r}; its columns are {shorten(table.names, 20)}. Rename the right "
            f"one, or name it with --{option} NAME.{more}"
        )
    return at
