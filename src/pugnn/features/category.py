"""Categories: one feature per value, rare ones pooled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp

from pugnn.errors import counted, shorten
from pugnn.features.attribute_table import Cells
from pugnn.features.encoding import ENCODINGS, ColumnFeatures, Encoding, Reading, say_yes

#: Values of fewer nodes than this identify nodes rather than describe them; they share a feature.
MIN_NODES = 3

#: At most this many values, the most frequent ones, get a feature: nothing can be learned about rarer ones from a
#: handful of known positives.
MAX_VALUES = 1000

#: Names of features show at most this many characters of a value.
SHOWN_CHARACTERS = 40

_MISSING, _OTHER = -2, -1


@ENCODINGS.register("category")
@dataclass(frozen=True)
class CategoryEncoding(Encoding):
    """One 0/1 feature per frequent value, the most frequent first, and one for all others together."""

    needs_text = True
    group = "one feature for each frequent value"
    stand_in = "none of the values"
    nothing = f"no value occurs in {MIN_NODES} nodes"

    values: tuple[str, ...]  # those that have a feature
    #: Number of nodes with another value when the encoding was learned; if there were any, all other values share a
    #: feature.
    pooled: int
    nodes: int  # number of nodes that had a value then

    @classmethod
    def learn(cls, cells: Cells) -> Self:  # noqa: D102
        ((nodes,),) = cells.survey("coalesce(sum(rows), 0)", "WHERE present")
        frequent = cells.survey(
            "text, sum(rows) AS nodes",
            f"WHERE present GROUP BY text HAVING nodes >= {MIN_NODES} ORDER BY nodes DESC, text LIMIT {MAX_VALUES}",
        )
        missing = int(cells.attributes.has_row.sum()) - nodes
        pooled = nodes - sum(count for _, count in frequent)
        return cls(cells.name, missing, tuple(value for value, _ in frequent), pooled, nodes)

    def read(self, cells: Cells) -> ColumnFeatures:  # noqa: D102
        codes = cells.read(
            f"CASE WHEN text IS NOT NULL THEN coalesce(code, {_OTHER}) END",
            _MISSING,
            "LEFT JOIN (SELECT unnest($values::VARCHAR[]) AS value, unnest(range(len($values))) AS code) "
            "ON text = value",
            {"values": list(self.values)},
        )
        missing, other = codes == _MISSING, codes == _OTHER
        if self.has_other:
            codes = np.where(other, len(self.values), codes)
        known = np.flatnonzero(codes >= 0)
        shape = len(codes), len(self.value_names)
        one_hot = sp.csr_array((np.ones(len(known), dtype=np.float32), (known, codes[known])), shape=shape)
        return ColumnFeatures(one_hot, missing, self._remarks(cells, int(other.sum()), int((~missing).sum())))

    def _remarks(self, cells: Cells, others: int, nodes: int) -> tuple[str, ...]:
        if others * self.nodes <= self.pooled * nodes:  # no larger a share than in training
            return ()
        values = cells.survey(
            f"DISTINCT left(text, {SHOWN_CHARACTERS}) AS value",
            "WHERE NOT list_contains($values::VARCHAR[], text) ORDER BY value",
            {"values": list(self.values)},
        )
        seen = f"{counted(others, 'node')} with a value that was rare or unseen in training"
        stand_in = "other" if self.has_other else self.stand_in
        return (f"{seen} ({shorten(value for (value,) in values)}); it counts as {stand_in}",)

    @property
    def value_names(self) -> list[str]:  # noqa: D102
        names = [f"{self.column}={_shortened(value)}" for value in self.values]
        return [*names, f"{self.column} other"] if self.has_other else names

    def readings(self) -> list[tuple[str, Reading]]:  # noqa: D102
        values = [*self.values, "a rare value"] if self.has_other else self.values
        return [(f"{self.column} = {value}", say_yes) for value in values]

    @property
    def has_other(self) -> bool:
        """Whether the other values have a feature; alone it would carry no information."""
        return bool(self.pooled and self.values)

    def describe_values(self) -> str:  # noqa: D102
        text = f"one feature for each of {len(self.values):,} values"
        if self.pooled:
            most = f" or beyond the {MAX_VALUES:,} most frequent" if len(self.values) == MAX_VALUES else ""
            text += f"; one for those of fewer than {MIN_NODES} nodes{most} ({counted(self.pooled, 'node')})"
        return text


def _shortened(value: str) -> str:
    return value if len(value) <= SHOWN_CHARACTERS else value[:SHOWN_CHARACTERS] + "…"
