"""The column of a list of nodes that says which of its rows count."""

from __future__ import annotations

from pugnn.errors import PugnnError, shorten
from pugnn.tables.attributes import is_number_type
from pugnn.tables.boolean import truth_in_text
from pugnn.tables.columns import find_column, is_label
from pugnn.tables.source import Source

#: Columns of the scores that a run of ours writes; their rows are chosen by whoever gives them.
_OURS = {"score", "decision", "rank"}

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
        return None
    named = [at for at in others if is_label(source.names[at])]
    looked_at = others if len(others) <= _FEW else named
    mixed = [at for at in looked_at if _is_mixed(source, at, named=at in named)]
    if not mixed:
        return None
    names = shorten([source.names[at] for at in mixed])
    if len(mixed) > 1 or mixed[0] not in named:
        raise PugnnError(
            f"{source.shown}: {names} {'hold' if len(mixed) > 1 else 'holds'} 1 and 0, or yes and no. If it says which "
            f"rows are {what}, name it by --label COLUMN; if not, leave it out."
        )
    _refuse_other_values(source, mixed[0])
    return mixed[0]


def label_number(source: Source, at: int) -> str:
    """SQL for a label: 1 where the row counts, 0 or −1 where it does not, null or something else otherwise."""
    if source.types[at] == "BOOLEAN" or is_number_type(source.types[at]):
        return f"c_{at}::DOUBLE"
    return f"({truth_in_text(f'(c_{at}::VARCHAR)')})::DOUBLE"


def _is_mixed(source: Source, at: int, *, named: bool) -> bool:
    """Whether some rows have a label that others do not have.

    A column that is not named like one holds labels only if all of its cells are 1 and 0, or yes and no.
    """
    label = label_number(source, at)
    with source.reading():
        ((rows, present, values, true, false),) = source.connection.execute(
            f"SELECT count(*), count(cell), count(DISTINCT cell), count(*) FILTER (label = 1), "
            f"count(*) FILTER (label IN (0, -1)) FROM (SELECT c_{at} AS cell, {label} AS label FROM {source.table})"
        ).fetchall()
    if named:
        return bool(present and (values > 1 or present < rows or false == present))
    return bool(true and false and true + false == present)


def _refuse_other_values(source: Source, at: int) -> None:
    """Complain of the first label that is neither true nor false; an empty one is no label."""
    number = label_number(source, at)
    with source.reading():
        rows = source.connection.execute(
            f"SELECT row, cell FROM (SELECT row_number() OVER () - 1 AS row, c_{at} AS cell, {number} AS label FROM "
            f"{source.table}) WHERE trim(cell::VARCHAR) <> '' AND coalesce(label NOT IN (0, 1, -1), true) ORDER BY row "
            "LIMIT 1"
        ).fetchall()
    if rows:
        row, cell = rows[0]
        raise PugnnError(
            f"{source.locate(row)}: column {source.names[at]!r} says {cell!r}, which is neither true nor false (1/0, "
            "yes/no, true/false). Keep only the rows that count and drop the column, or name another by --label COLUMN."
        )
