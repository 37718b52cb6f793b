"""Counts: many columns that are mostly zero, used together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp

from pugnn.features.attribute_table import AttributeTable, Cells
from pugnn.features.number import read_numbers
from pugnn.features.number_columns import Summary

#: This many columns that are mostly zero are words, tags or one-hot columns. Fewer may be anything.
MANY = 20
#: A count is zero in at least one of ten cells; a column of other integers, such as an age, hardly ever is.
MAX_FILLED = 0.9


@dataclass(frozen=True)
class Counts:
    r"""Columns of counts, weights or marks, scaled to length one for each node.

    .. math:: x_{ij} = \frac{c_{ij}}{\lVert c_i \rVert_2}

    A missing count is 0. Columns are not standardised: that would give the rarest word the largest weight.
    """

    columns: tuple[str, ...]  # their names
    share: float  # of cells that were not zero in training

    @classmethod
    def learn(cls, attributes: AttributeTable, kinds: Mapping[str, str]) -> Self | None:
        """Find the columns of counts, if there are any; ``kinds`` are those that the user chose, by name."""
        found = _found(attributes, kinds)
        columns = tuple(name for name in attributes.names if name in found or kinds.get(name) == "counts")
        if not columns:
            return None
        filled = sum(_filled(attributes.cells(name)) for name in columns)
        return cls(columns, filled / max(attributes.num_nodes * len(columns), 1))

    def encode(self, attributes: AttributeTable) -> sp.csr_array:
        """Features of all nodes, shape ``(N, columns)``."""
        counts = self._read(attributes)
        filled = np.diff(counts.indptr)
        counts.data /= np.repeat(abs(counts).max(axis=1).toarray(), filled)  # first: squares of tiny numbers are 0
        counts.data /= np.repeat(np.sqrt((counts * counts).sum(axis=1)), filled)
        return counts.astype(np.float32)

    def describe(self) -> str:
        """What is done with the columns, in words and figures."""
        return f"{100 * self.share:.2g} % not zero; used as they are, scaled to length one for each node"

    def _read(self, attributes: AttributeTable) -> sp.csr_array:
        """The counts as they are, shape ``(N, columns)``, without stored zeros."""
        nodes, place = attributes.num_nodes, {name: at for at, name in enumerate(self.columns)}
        rows, columns, values = [], [], []
        for numbers in attributes.number_blocks:
            names = [name for name in self.columns if name in numbers.places]
            part = sp.coo_array(numbers.part(names))
            rows.append(part.row)
            columns.append(np.array([place[name] for name in names], np.int64)[part.col])
            values.append(part.data)
        for name in self.columns:
            if name in attributes.stored:  # some cells are text: this raises, and names one
                counts = read_numbers(attributes.cells(name), dates=False)
                rows.append(np.flatnonzero(counts))
                columns.append(np.full(len(rows[-1]), place[name]))
                values.append(counts[rows[-1]])
        if not rows:
            return sp.csr_array((nodes, len(place)))
        entries = np.nan_to_num(np.concatenate(values)), (np.concatenate(rows), np.concatenate(columns))
        counts = sp.csr_array(entries, shape=(nodes, len(place)))
        counts.eliminate_zeros()
        return counts


def _filled(cells: Cells) -> int:
    """Number of nodes with a value other than zero."""
    if cells.numbers is not None:
        return cells.numbers.summary(cells.name).nonzero
    return int(np.count_nonzero(np.nan_to_num(read_numbers(cells, dates=False))))


def _found(attributes: AttributeTable, kinds: Mapping[str, str]) -> set[str]:
    """The columns that are counts by what they hold; how they were given matters only where they are few.

    Words make a block of many columns: mostly zero, each of them or all together. A frequent word is not, but it
    belongs to the block if it holds what its siblings hold: 0 and 1, or else integers from 0 up to twice their largest
    number, some of them 0.
    """
    # Not those of edges: shares of categories are no counts.
    given = [numbers for numbers in attributes.number_blocks if numbers is not attributes.edges]
    summaries = {name: numbers.summary(name) for numbers in given for name in numbers.names if name not in kinds}
    rare = {name: found for name, found in summaries.items() if _mostly_zero(found)}
    words = {name: found for name, found in rare.items() if found.lowest >= 0}
    signed = rare.keys() - words.keys()
    block = signed if len(signed) >= MANY else set()
    most = max((found.highest for found in words.values()), default=0.0)
    alike = words | {name: found for name, found in summaries.items() if _like_a_word(found, most)}
    filled, cells = sum(each.nonzero for each in alike.values()), sum(each.present for each in alike.values())
    if len(words) >= MANY or (len(alike) >= MANY and 2 * filled < cells):
        block |= alike.keys()
    if not block and attributes.sparse is not None:  # somebody took the trouble to leave out the zeros
        block = rare.keys() & attributes.sparse.places.keys()
    return block


def _mostly_zero(found: Summary) -> bool:
    """Whether a column is mostly zero. Empty cells count as zeros if all others are the same."""
    return 0 < 2 * found.nonzero < found.present + found.missing and (
        not found.missing or found.lowest == found.highest
    )


def _like_a_word(found: Summary, most: float) -> bool:
    if found.missing or found.lowest != 0 or not 0 < found.highest <= 2 * most:
        return False
    return found.boolean or (found.whole and found.nonzero <= MAX_FILLED * found.present)
