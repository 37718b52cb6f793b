"""The views of a node, one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: What views are made of: attributes that are smoothed, or their mean over so many hops.
ViewTable: TypeAlias = int | Literal["smoothed"]


@dataclass(frozen=True)
class View:
    """What a node looks like from one side.

    Args:
        weight: beside other views.
        tables: what it is a sum of, and how often each of these counts.
    """

    weight: float
    tables: Mapping[ViewTable, int]

    def sum(self, rows: Callable[[ViewTable], NDArray[np.float32]]) -> NDArray[np.float32]:
        """The sum of tables, whose rows are given by a function."""
        parts = (rows(table) if factor == 1 else factor * rows(table) for table, factor in self.tables.items())
        return reduce(np.add, parts)


#: Views by name; what smoothing makes of attributes is the best single view on most graphs. A view is one line here.
#: Saved models have the first so many views, so new ones go to the end.
VIEWS = {
    "smoothed": View(1.0, {"smoothed": 1}),
    "own": View(0.45, {0: 1}),
    "neighbours": View(0.45, {1: 1}),
    "difference": View(0.45, {0: 1, 1: -1}),
    "two hops": View(0.45, {2: 1}),
}
