"""Tables as they were at a moment: edges, rows of nodes and known positives that came later do not exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import PugnnError, percent, shorten
from pugnn.store.ids import IdTable
from pugnn.store.tables.table import Table
from pugnn.store.tables.times import EXAMPLE, Moment, Times, cut, day_of

#: Nearly all known positives were known by the time of this share of them.
NEARLY_ALL = 0.9
#: A warning is due if this share of the edges is later than that.
MANY_LATER = 0.2


class Clock:
    """The columns of times in the tables of a graph, by role, and a moment as of which these are read.

    Args:
        tables: all tables, by role.
        name: of the column of times, if the user named one.
        moment: the moment, if the user gave one.
        then: a later one, until which positives became known that are to be found.
    """

    def __init__(
        self, tables: Mapping[str, Table], name: str | None, moment: Moment | None, then: Moment | None = None
    ) -> None:
        self.moment, self.notes = moment, list[str]()
        self._whole, self._then = tables, then
        self._times: dict[str, Times] = {}
        if name is None:
            return
        for role, table in tables.items():
            if role != "truth" and (times := Times.of(table, name)) is not None:
                self._times[role] = times
        edges = [role for role in tables if role.startswith("edges")]
        if not any(role in self._times for role in edges):
            columns = shorten(tables[edges[0]].names, 20)
            raise PugnnError(f"{tables[edges[0]].shown} has no column {name!r} (--time); its columns are {columns}")
        self._reject_mixed_zones()
        if moment is None:
            self.notes += self._warning()
            return
        for role, table in tables.items():
            if role not in self._times and role.startswith(("edges", "attributes", "positives")):
                self.notes.append(
                    f"{table.shown}: has no column {name!r}; all of its rows count as there as of {moment}"
                )

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
                f"{table.shown}: all rows are later than --as-of {moment}; the first is of {day_of(first)}. Give a "
                "later moment."
            )
        if last <= moment.last:
            if role.startswith("edges"):
                self.notes.append(f"{table.shown}: no row is later than {moment}; the last is of {day_of(last)}")
            return table
        later = f"{times.rows_after(moment.last):,} of {times.rows:,} rows"
        self.notes.append(f"{table.shown}: {later} are later than {moment}; they do not exist as of then")
        return cut(times, moment)

    def _reject_mixed_zones(self) -> None:
        """Raise if times with a time zone would be compared with times without."""
        whose = [(f"that of {times.table.shown}", times.zoned) for times in self._times.values()]
        options = (("--as-of", self.moment), ("--then", self._then))
        whose += [(option, moment.zoned) for option, moment in options if moment is not None]
        for times in self._times.values():
            for other, zoned in whose:
                if {times.zoned, zoned} == {True, False}:
                    have, has = ("have a time zone", "has none") if times.zoned else ("have no time zone", "has one")
                    raise PugnnError(
                        f"{times.table.shown}: times in the column {times.name!r} {have}, but {other} {has}. Write all "
                        f"of them in UTC, {EXAMPLE}Z, or all without."
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
        nearly = "" if by >= known.ends[1] else "nearly all "
        return [
            f"{nearly}known positives were known by {day_of(by)}, but {percent(later / rows)} of the edges are later; "
            f"what happened afterwards may give them away. Use --as-of {day_of(by)}"
        ]
