"""Tables as they were at a moment: edges, rows of nodes and known positives that came later do not exist."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, PugnnWarning, percent, quoted, shorten
from pugnn.store.arguments import Request
from pugnn.store.assembly.input_tables import Inputs
from pugnn.store.ids import IdTable
from pugnn.store.tables.table import Table
from pugnn.store.tables.times import EXAMPLE, Moment, Times, cut

#: Nearly all known positives were known by the time of this share of them.
NEARLY_ALL = 0.9
#: A warning is due if this share of the edges is later than that.
MANY_LATER = 0.2

#: Names of tables that always mean something: what each is.
_PARTS = ("edges", "nodes", "attributes", "positives")


class Clock:
    """The columns of times in the tables of a graph, by role, and a moment as of which these are read.

    Args:
        tables: all tables, by role.
        request: with the names of columns of times; the moment; and a later one, until which positives became known
            that are to be found.
        inputs: with the names of tables.
    """

    def __init__(self, tables: Mapping[str, Table], request: Request, inputs: Inputs) -> None:
        self.moment: Moment | None = request.as_of
        self.notes: list[str] = []
        self._whole = tables
        self._then: Moment | None = request.then
        self._times: dict[str, Times] = {}
        if not request.time:
            return
        moment, columns = self.moment, dict[str, str]()
        for name, roles in _named(tables, request.time, inputs).items():
            columns |= dict.fromkeys(roles, request.time[name])
            found = {role: times for role in roles if (times := Times.of(tables[role], columns[role])) is not None}
            if roles and not found:
                option = f"--time {name}=…" if name else "--time"
                raise _lacking(tables[roles[0]], f"no column {request.time[name]!r} ({option})")
            self._times |= found
        edges = [link for link in inputs.links if link.role in self._times]
        if not edges:
            first = inputs.links[0]
            raise _lacking(tables[first.role], f"no times; name their column, --time {first.name or 'edges'}=COLUMN")
        self._reject_mixed()
        if moment is None:
            self.notes += self._warning()
            return
        for role, table in tables.items():
            if role not in self._times and role.startswith(("edges", "attributes", "positives")):
                lacking = repr(columns[role]) if role in columns else "of times"
                words = f"{table.shown}: has no column {lacking}; all of its rows count as there as of {moment}"
                if role == "positives" and self._then is None:  # otherwise that is an error
                    words += ". If another column says since when each is known, name it: --time positives=COLUMN"
                    warnings.warn(words, PugnnWarning, stacklevel=2)
                else:
                    self.notes.append(words)

    def tables(self) -> dict[str, Table]:
        """The tables as of the moment, those with a column of times without later rows."""
        if self.moment is None:
            return dict(self._whole)
        found = {
            role: self._cut(role, self.moment) if self.knows(role) else table for role, table in self._whole.items()
        }
        if self._then is not None:
            if "positives" not in self._times:
                known = self._whole["positives"]
                raise PugnnError(
                    f"{known.shown} does not say when each positive became known: it has no column of times (--time); "
                    f"its columns are {shorten(known.names, 20)}"
                )
            found["truth"] = replace(cut(self._times["positives"], self._then), notes=[])
        return found

    def knows(self, role: str) -> bool:
        """Whether a table has a column of times."""
        return role in self._times

    def later(self, nodes: Table, id_place: int, edges: Mapping[str, Sequence[int]]) -> NDArray[np.bool_] | None:
        """Which rows of a node table without times are of nodes whose first edge is later; ``None`` for none.

        ``edges`` has, by the role of an edge table, the places of ends that are nodes of this table.
        """
        assert self.moment is not None
        seen, there = IdTable(), np.zeros(0, np.bool_)
        for role, places in edges.items():
            table = self._whole[role]
            if not places:
                continue
            early = f"({self._times[role].until(self.moment.last)})::DOUBLE" if role in self._times else "1.0::DOUBLE"
            for before, *texts in table.pieces(early, *(seen.sql(table, at) for at in places)):
                ends = seen.add(*texts)
                there = np.concatenate([there, np.zeros(len(seen) - len(there), np.bool_)])
                for positions in ends:
                    there[positions[(before.to_numpy() == 1) & (positions >= 0)]] = True
        found = np.concatenate([seen.find(texts) for (texts,) in nodes.pieces(nodes.id_text(id_place))])
        later: NDArray[np.bool_] = (found >= 0) & ~there[np.maximum(found, 0)]
        if not later.any():
            return None
        self.notes.append(
            f"{nodes.shown}: {later.sum():,} of {len(later):,} rows are of nodes whose first edge is later than "
            f"{self.moment}; they do not exist as of then"
        )
        return later

    def _cut(self, role: str, moment: Moment) -> Table:
        times = self._times[role]
        table, (first, last) = times.table, times.ends
        if first > moment.last:
            raise PugnnError(
                f"{table.shown}: all rows are later than --as-of {moment}; the first is of {times.shown(first)}. Give "
                "a later moment."
            )
        if last <= moment.last:
            if role.startswith("edges"):
                self.notes.append(f"{table.shown}: no row is later than {moment}; the last is of {times.shown(last)}")
            return table
        count = times.rows_after(moment.last)
        are, do = ("is", "it does") if count == 1 else ("are", "they do")
        later = f"{count:,} of {times.rows:,} rows {are} later than {moment}"
        self.notes.append(f"{table.shown}: {later}; {do} not exist as of then")
        return cut(times, moment)

    def _reject_mixed(self) -> None:
        """Raise if numbers would be compared with dates, or times with a time zone with times without."""
        options = {"--as-of": self.moment, "--then": self._then}
        whose: list[tuple[str, Times | Moment]] = [
            (f"that of {each.table.shown}", each) for each in self._times.values()
        ]
        whose += [(f"{option} {moment}", moment) for option, moment in options.items() if moment is not None]
        for times in self._times.values():
            at = f"{times.table.shown}: times in the column {times.name!r}"
            for other, its in whose:
                if its.number != times.number:
                    are = "whole numbers" if times.number else "dates"
                    raise PugnnError(
                        f"{at} are {are}, but {other} is not. All must be dates {EXAMPLE}, or all numbers."
                    )
                if {times.zoned, its.zoned} == {True, False}:
                    have, has = ("have a", "has none") if times.zoned else ("have no", "has one")
                    raise PugnnError(
                        f"{at} {have} time zone, but {other} {has}. Write all of them in UTC, {EXAMPLE}Z, or all "
                        "without."
                    )

    def _warning(self) -> list[str]:
        """A warning if many edges are later than nearly all known positives."""
        known = self._times.get("positives")
        if known is None:
            return []
        ((by,),) = known.table.query(f"quantile_disc({known.sql}, {NEARLY_ALL})")
        edges = [times for role, times in self._times.items() if role.startswith("edges")]
        rows, later = sum(times.rows for times in edges), sum(times.rows_after(by) for times in edges)
        if later < MANY_LATER * rows:
            return []
        nearly, day = "" if by >= known.ends[1] else "nearly all ", known.shown(by)
        return [
            f"{nearly}known positives were known by {day}, but {percent(later / rows)} of the edges are later; what "
            f"happened afterwards may give them away. Use --as-of {day}"
        ]


def _named(tables: Mapping[str, Table], wanted: Mapping[str, str], inputs: Inputs) -> dict[str, list[str]]:
    """The roles of the tables that each name in ``--time`` is for; the empty one is for those without a name there."""
    own = {link.role: link.name for link in inputs.links}
    own |= {inputs.role(part, kind): kind for part in ("nodes", "attributes") for kind in inputs.kinds}
    there = [name for name in dict.fromkeys((*own.values(), *_PARTS)) if name]
    found: dict[str, list[str]] = {name: [] for name in wanted}
    for name in wanted:
        if name and name not in there:
            raise PugnnError(f"--time {quoted(name)}=…: there is no such table; name one of {shorten(there, 20)}")
    for role in tables:
        part = role.partition("[")[0]
        names = [name for name in (own.get(role) or part, part, "") if name in wanted]
        if names and role != "truth":
            found[names[0]].append(role)
    return found


def _lacking(table: Table, what: str) -> PugnnError:
    return PugnnError(f"{table.shown} has {what}; its columns are {shorten(table.names, 20)}")
