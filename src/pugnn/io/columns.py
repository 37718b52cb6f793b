"""Which column is which: found by its name, or by the name that the user gives."""

from __future__ import annotations

from collections.abc import Sequence

from pugnn.errors import PugnnError, shorten

#: Names by which columns are found; upper or lower case, and ``-`` or a space for ``_``, do not matter.
SOURCE = ("source", "src", "from", "u", "source_id", "from_id")
TARGET = ("target", "dst", "to", "v", "target_id", "to_id")
WEIGHT = ("weight", "weights")
ID = ("id", "node_id", "node")
ATTRIBUTE = ("attribute", "feature", "word", "term", "token", "tag", "key", "variable")
VALUE = ("value", "count", "weight", "n", "tf", "tfidf")


#: Names of columns that say which rows of a list are positive, and how other such names begin and end.
LABEL = ("label", "labels", "class", "y", "target", "positive", "truth", "flag")
LABEL_BEGINS, LABEL_ENDS = ("is_", "has_", "label_"), ("_label", "_class", "_flag")


def is_label(name: str) -> bool:
    """Whether a column of this name says which rows are positive.

    Example:
        >>> is_label("Is Fraud"), is_label("amount")
        (True, False)
    """
    plain = normal(name)
    return plain in LABEL or plain.startswith(LABEL_BEGINS) or plain.endswith(LABEL_ENDS)


def normal(name: str) -> str:
    """A name without what does not matter."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def find_column(
    table: str, names: Sequence[str], option: str, wanted: str | None, usual: Sequence[str], *, first: bool = False
) -> int | None:
    """The place of a column.

    Args:
        table: name of the table in messages.
        names: of its columns.
        option: what the user calls the column by, such as ``source``.
        wanted: the name that the user gave, if any.
        usual: the names that it may have otherwise.
        first: whether an earlier one of the usual names counts more than a later one.

    Returns:
        ``None`` where no column has one of the usual names.
    """
    if wanted is not None:
        found = [at for at, name in enumerate(names) if name == wanted] or [
            at for at, name in enumerate(names) if normal(name) == normal(wanted)
        ]
        if not found:
            raise PugnnError(f"{table} has no column {wanted!r} (--{option}); its columns are {shorten(names, 20)}")
    else:
        found = [at for at, name in enumerate(names) if normal(name) in usual]
        if first and found:
            best = min(usual.index(normal(names[at])) for at in found)
            found = [at for at in found if normal(names[at]) == usual[best]]
    if len(found) > 1:
        several = shorten([names[at] for at in found], 20)
        raise PugnnError(
            f"{table}: each of the columns {several} may be the {option}; say which one by --{option} NAME"
        )
    return found[0] if found else None


def missing_column(table: str, names: Sequence[str], option: str, usual: Sequence[str]) -> PugnnError:
    """What to say where a column is needed and there is none."""
    return PugnnError(
        f"{table} has no column {usual[0]!r}; its columns are {shorten(names, 20)}. Rename the right one, or say which "
        f"one it is by --{option} NAME."
    )
