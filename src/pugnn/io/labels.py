"""The column of a list of nodes that says which of its rows count."""

from __future__ import annotations

from dataclasses import dataclass

from pugnn.errors import PugnnError, quoted, shorten
from pugnn.features.attributes import is_number_type
from pugnn.features.boolean import truth_in_text
from pugnn.io.columns import find_column, is_label
from pugnn.io.source import Source

#: Columns of the scores that a run of ours writes; whoever gives such rows back has chosen them.
_OURS = {"score", "decision", "rank"}
_OURS_TOO = {*_OURS, "known", "distance", "nearest"}

#: Tables with more columns than this are looked at by the names of their columns alone.
_FEW = 50


def find_label(source: Source, ids: int, wanted: str | None, what: str) -> int | None:
    """The place of the column that says which rows count, if there is one.

    A list of accounts with a column ``is_fraud`` of 1 and 0 does not name frauds alone. Where the name of such a
    column leaves no doubt it is used; where it does, the user must say.

    Args:
        source: the table of the list.
        ids: place of its column of ids.
        wanted: the name of the column, if the user gave one.
        what: what the nodes are, such as ``positives``.
    """
    others = [at for at in range(len(source.names)) if at != ids]
    if wanted is not None and others:
        at = find_column(source.shown, source.names, "label", wanted, ())
        assert at is not None
        _refuse_other_values(source, at)
        return at
    if set(source.names) >= _OURS:
        others = [at for at in others if source.names[at] not in _OURS_TOO]
    if not others:
        return None
    named = [at for at in others if is_label(source.names[at])]
    looked_at = others if len(others) <= _FEW else named
    found = dict(zip(looked_at, _look(source, looked_at), strict=True))
    doubtful = [at for at in looked_at if at not in named and found[at].may_be_labels]
    if any(not found[at].say_nothing for at in named) and len(named) > 1:
        doubtful += named
    if doubtful:
        names = shorten([source.names[at] for at in sorted(doubtful)])
        raise PugnnError(
            f"{source.shown}: {names} may say which rows are {what}, by 1 and 0, or yes and no. If so, name the column "
            "by --label COLUMN; if not, leave it out."
        )
    if not named or found[named[0]].say_nothing:
        return None
    _refuse_other_values(source, named[0])
    return named[0]


def label_number(source: Source, at: int) -> str:
    """SQL for a label: 1 where the row counts, 0 or −1 where it does not, null or another number otherwise."""
    kind = source.types[at]
    if kind == "BOOLEAN" or is_number_type(kind):
        return f"c_{at}::DOUBLE"
    text = f"(c_{at} ->> '$')" if kind == "JSON" else f"(c_{at}::VARCHAR)"
    return f"(CASE WHEN trim({text}) = '-1' THEN 0 ELSE {truth_in_text(text)} END)::DOUBLE"


@dataclass(frozen=True)
class _Cells:
    """What the cells of a column say: in how many rows something, the same, true, false."""

    rows: int
    present: int
    different: int
    true: int
    false: int

    @property
    def say_nothing(self) -> bool:
        """All rows say the same, and not that they do not count."""
        return self.present == self.rows and self.different == 1 and not self.false

    @property
    def may_be_labels(self) -> bool:
        """Some rows may be marked, and others not, in a column that is not named like one of labels."""
        marks = self.true + self.false
        if marks == self.present:
            return bool(self.false) or 0 < self.present < self.rows
        return bool(self.true and self.false) and 2 * marks >= self.present and self.different <= 4


def _look(source: Source, places: list[int]) -> list[_Cells]:
    """What the cells of some columns say, in one pass."""
    counts = ["count(*)"]
    for at in places:
        label, cell = label_number(source, at), f"nullif(trim(c_{at}::VARCHAR), '')"
        counts += [f"count({cell})", f"count(DISTINCT {cell})"]
        counts += [f"count(*) FILTER ({label} = 1)", f"count(*) FILTER ({label} IN (0, -1))"]
    with source.reading():
        ((rows, *numbers),) = source.connection.execute(f"SELECT {', '.join(counts)} FROM {source.table}").fetchall()
    return [_Cells(rows, *numbers[at : at + 4]) for at in range(0, len(numbers), 4)]


def _refuse_other_values(source: Source, at: int) -> None:
    """Complain of the first label that is neither true nor false; an empty one is no label."""
    with source.reading():
        rows = source.connection.execute(
            f"SELECT row, cell FROM (SELECT row_number() OVER () - 1 AS row, c_{at}::VARCHAR AS cell, "
            f"{label_number(source, at)} AS label FROM {source.table}) "
            "WHERE trim(cell) <> '' AND coalesce(label NOT IN (0, 1, -1), true) ORDER BY row LIMIT 1"
        ).fetchall()
    if rows:
        row, cell = rows[0]
        raise PugnnError(
            f"{source.locate(row)}: column {source.names[at]!r} says {quoted(cell)}, which is neither true nor false "
            "(1/0, yes/no, true/false). Keep only the rows that count and drop the column, or name another by --label "
            "COLUMN."
        )
