"""What a recipe does: one statement per column, or per group of columns if there are many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

#: Up to this many columns of a group are named one by one.
MAX_NAMED = 5


@dataclass(frozen=True)
class Statement:
    """One line of the description of a recipe.

    Args:
        column: name of the column; ``no row`` and ``structure`` for what does not come from one.
        kind: how it is read, such as ``number``.
        text: what is done with it.
        features: how many features it gives.
        group: what is done with all columns of its group.
    """

    column: str
    kind: str
    text: str
    features: int
    group: str = ""


def grouped(statements: Iterable[Statement]) -> list[Statement]:
    """A statement for each group of more than a few columns, and for each of the other columns.

    Example:
        >>> lines = [Statement(f"w_{i}", "counts", "used as it is", 1, "used as they are") for i in range(2325)]
        >>> grouped(lines)[0].column, grouped(lines)[0].text
        ('2,325 columns', 'used as they are')
    """
    ordered: dict[tuple[str, str], list[Statement]] = {}
    for statement in statements:
        ordered.setdefault((statement.kind, statement.group), []).append(statement)
    lines: list[Statement] = []
    for (kind, group), members in ordered.items():
        if group and len(members) > MAX_NAMED:
            features = sum(member.features for member in members)
            lines.append(Statement(f"{len(members):,} columns", kind, group, features))
        else:
            lines += members
    return lines
