"""A graph as it was read from tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pugnn.errors import Displayed, counted
from pugnn.features.typed_recipe import AnyRecipe
from pugnn.graph import Graph
from pugnn.task import PUTask


@dataclass(frozen=True)
class Later:
    """A graph as of a moment, whose true positives are those that were known by a later one.

    Args:
        as_of: the moment.
        then: the later one.
        absent: number of nodes that became known in between, but did not exist at the first.
    """

    as_of: str
    then: str
    absent: int


@dataclass(frozen=True, eq=False, repr=False)
class TableGraph(Displayed):
    """What was read.

    Args:
        graph: the graph, with the user's ids, features and their names, and the recipe of the features.
        task: the graph with its known positives, if they were given.
        truth: positions of the true positives, sorted, if they were given.
        recipe: how attributes became features.
        notes: what was repaired or left out, one sentence each.
        id_column: name of the column of ids in the node table, if there is one.
        shown: columns of the node table that were asked for: their cells as text, empty where there is none.
        later: if ``truth`` is what was known at a later moment.
    """

    graph: Graph
    task: PUTask | None
    truth: NDArray[np.int64] | None
    recipe: AnyRecipe
    notes: tuple[str, ...]
    id_column: str | None
    shown: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    later: Later | None = None

    @cached_property
    def known(self) -> NDArray[np.bool_] | None:
        """Which nodes are known positives, one entry per node of the target kind, if they were given."""
        return None if self.task is None else self._mask(self.task.labelled)

    @cached_property
    def positive(self) -> NDArray[np.bool_] | None:
        """Which nodes are true positives, one entry per node of the target kind, if they were given."""
        return None if self.truth is None else self._mask(self.truth)

    def _facts(self) -> list[str]:
        known = [] if self.task is None else [counted(len(self.task.labelled), "known positive")]
        true = [] if self.truth is None else [counted(len(self.truth), "true positive")]
        return [*self.graph._facts(), *known, *true, counted(len(self.notes), "note")]

    def _mask(self, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        mask = np.zeros(self.graph.num_targets, dtype=np.bool_)
        mask[positions] = True
        return mask
