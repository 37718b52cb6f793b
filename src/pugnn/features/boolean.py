"""Booleans: 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pugnn.features.attribute_table import FALSE_WORDS, TRUE_WORDS, Cells, holds_word, number_in_text
from pugnn.features.encoding import ENCODINGS, ColumnFeatures, Encoding, Reading, say_yes


def truth_in_text(cell: str) -> str:
    """SQL for the boolean in a text, written in one of the usual ways: 1, 0 or null."""
    true, false = (holds_word("|".join(words), cell) for words in (TRUE_WORDS, FALSE_WORDS))
    return (
        f"CASE WHEN ({number_in_text(cell)}) IN (0, 1) THEN {cell}::DOUBLE WHEN {true} THEN 1 WHEN {false} THEN 0 END"
    )


@ENCODINGS.register("boolean")
@dataclass(frozen=True)
class BooleanEncoding(Encoding):
    """True and false as 1 and 0."""

    group = "0 or 1"
    stand_in = "the share of true values"

    share: float  # of true values among those present; it replaces missing ones

    @classmethod
    def learn(cls, cells: Cells) -> Self:  # noqa: D102
        values = read_truths(cells)
        missing = np.isnan(values)
        return cls(cells.name, cells.count_missing(missing), float(values[~missing].mean()))

    def read(self, cells: Cells) -> ColumnFeatures:  # noqa: D102
        values = read_truths(cells)
        missing = np.isnan(values)
        return ColumnFeatures(np.where(missing, self.share, values)[:, None].astype(np.float32), missing)

    def readings(self) -> list[tuple[str, Reading]]:  # noqa: D102
        return [(self.column, say_yes)]

    def describe_values(self) -> str:  # noqa: D102
        return f"0 or 1, {100 * self.share:.3g} % are 1"


def read_truths(cells: Cells) -> NDArray[np.float64]:
    """1 or 0 per node, NaN if missing; a cell that is neither true nor false is an error."""
    if cells.numbers is not None:
        values = cells.values
    else:
        neither = "CASE WHEN present THEN 2 END"
        if cells.is_text:
            truth = f"coalesce({truth_in_text('cell')}, {neither})"
        else:
            truth = "cell" if cells.is_number or cells.type == "BOOLEAN" else neither
        values = cells.read(f"({truth})::DOUBLE", np.nan)
    wrong = (values != 0) & (values != 1) & ~np.isnan(values)
    if wrong.any():
        raise cells.complaint(int(wrong.argmax()), "is neither true nor false (true/false, yes/no, t/f, y/n, 1/0)")
    return values
