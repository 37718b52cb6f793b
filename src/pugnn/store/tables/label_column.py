"""The column of a list of nodes that says which rows are positive, if there is one."""

from __future__ import annotations

from pugnn.errors import PugnnError, shorten
from pugnn.features.attribute_table import WHITE_SPACE, holds_word, is_number_type
from pugnn.features.boolean import truth_in_text
from pugnn.store.tables.column_names import VERDICT, is_label, normal, require_column
from pugnn.store.tables.table import Table

#: In place of a label: a cell that is neither yes nor no.
NEITHER = 2

#: Columns of the scores that a run writes. Whoever gives such rows back has chosen them.
_SCORES = {"score", "decision", "rank"}
_ALL_OF_SCORES = {*_SCORES, "known", "distance", "nearest"}

#: In tables with more columns than this, labels are found by the names of columns alone.
_MAX_EXAMINED = 50


def label_column(table: Table, ids: int, wanted: str | None, what: str) -> int | None:
    """The place of the column that says which rows are positive, if there is one.

    A list of accounts with a column ``is_fraud`` of 1 and 0 names more than the frauds. If the name of such a column
    leaves no doubt, it is used; otherwise the user must choose.
    """
    others = [at for at in range(len(table.names)) if at != ids]
    if wanted is not None and others:
        return require_column(table, "label", wanted, ())
    if set(table.names) >= _SCORES:
        others = [at for at in others if table.names[at] not in _ALL_OF_SCORES]
    named = [at for at in others if is_label(table.names[at])]
    examined = others if len(others) <= _MAX_EXAMINED else named
    uniform, possible = _examine(table, examined)
    doubtful = sorted(possible.difference(named))
    if len(named) > 1 and not uniform.issuperset(named):
        doubtful += named
    if doubtful:
        names = [table.names[at] for at in sorted(doubtful)]
        remedy = "name the column with --label COLUMN"
        if VERDICT[0] in map(normal, names):
            remedy = "give the table as --checked FILE, which takes both right and wrong ones"
        raise PugnnError(
            f"{table.shown}: {shorten(names)} may say which rows are {what}, by 1 and 0, or yes and no. If so, "
            f"{remedy}; if not, remove it."
        )
    return named[0] if named and named[0] not in uniform else None


def label_sql(table: Table, at: int, *, minus: bool) -> str:
    """SQL for a label: 1 for yes, 0 for no, null for an empty cell, and :data:`NEITHER` for anything else."""
    kind = table.types[at]
    if kind == "BOOLEAN" or is_number_type(kind):
        cell = f"nullif(c_{at}::DOUBLE, 'NaN'::DOUBLE)"
        truth, blank = f"CASE WHEN {cell} IN (0, 1) THEN {cell} END", f"{cell} IS NULL"
    else:
        cell = f"trim({table.text(at)}, '{WHITE_SPACE}')"
        words = f"WHEN {holds_word('positive', cell)} THEN 1 WHEN {holds_word('negative', cell)} THEN 0"
        truth, blank = f"CASE {words} ELSE {truth_in_text(cell)} END", f"coalesce({cell} = '', true)"
    denied = f"WHEN try_cast({cell} AS DOUBLE) = -1 THEN 0" if minus else ""
    return f"CASE WHEN {blank} THEN NULL {denied} ELSE coalesce({truth}, {NEITHER}) END"


def _examine(table: Table, places: list[int]) -> tuple[set[int], set[int]]:
    """Those of the columns at these places in which all rows say the same, and it is not false; and those that may
    label some rows, although they are not named like columns that do.
    """
    uniform, possible = set[int](), set[int]()
    counts = ["count(*)"]
    for at in places:
        label, cell = label_sql(table, at, minus=True), f"nullif(trim(c_{at}::VARCHAR), '')"
        counts += [f"count({cell})", f"count(DISTINCT {cell})"]
        counts += [f"count(*) FILTER ({label} = 1)", f"count(*) FILTER ({label} = 0)"]
    ((rows, *numbers),) = table.query(", ".join(counts)) if places else [(0,)]
    for at, present, distinct, true, false in zip(places, *(numbers[i::4] for i in range(4)), strict=True):
        if present == rows and distinct == 1 and not false:
            uniform.add(at)
        if true + false == present:
            labels = false or 0 < present < rows
        else:
            labels = true and false and 2 * (true + false) >= present and distinct <= 4
        if labels:
            possible.add(at)
    return uniform, possible
