"""What the columns of features are called, and what nodes have in them, in the terms of the user's own table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pugnn.features import Recipe
from pugnn.features.encoding import Reading, say_nothing, say_present, say_yes
from pugnn.features.typed_recipe import recipe_from_plain
from pugnn.graph import Graph
from pugnn.graph.arrays import dense

#: The attribute of a graph that has none.
PLACE = "place in the graph"
#: The column of ones beside standardised columns: rows of length 1 have more of it, the closer all others are to 0.
ORDINARY = "all values close to the mean"

#: What is not an attribute of a node, but of its place.
CLOSENESS = "closeness to known positives"


def only_structure(graph: Graph) -> bool:
    """Whether the features of a graph are made from its structure alone."""
    structure = None if graph.recipe is None else recipe_from_plain(graph.recipe).structure
    return structure is not None and graph.num_features == structure.width


class Columns:
    """Attributes as a user knows them; each is one or several consecutive columns of features.

    Args:
        graph: the graph, with the recipe of its features if there is one.
        width: number of columns that the model reads: none, those of the features, one more (:data:`ORDINARY`), or
            those of the structure where the graph has no features.
        closeness: whether another column, the last of them, is for closeness to known positives.
        place: whether another column, before that, is for places in the layers of the graph.

    Attributes:
        names: of the attributes.
    """

    def __init__(self, graph: Graph, width: int, *, closeness: bool = False, place: bool = False) -> None:
        self.names: list[str] = []
        self._readings: list[Reading] = []
        self._starts = [0]  # the first column of each attribute, and the end
        self._kinds: list[str] = []  # of the nodes that have each of them; empty for all
        self._columns: list[str] = []  # of the user's table that each attribute is made of
        self._marks: dict[str, list[int]] = {}  # attributes that say, by yes, what a row has in a column; "" for all
        self._graph = graph
        if width > closeness + place:
            self._add_all(graph, width - closeness - place)
        if place:
            self._add(PLACE, say_nothing)
        if closeness:
            self._add(CLOSENESS, say_nothing)

    def _add_all(self, graph: Graph, width: int) -> None:
        recipe = None if graph.recipe is None else recipe_from_plain(graph.recipe)
        if not graph.num_features or only_structure(graph):
            self._add(PLACE, say_nothing, width)
            return
        if recipe is None:
            for name in graph.feature_names or [f"feature {at}" for at in range(graph.num_features)]:
                self._add(name, "{:.4g}".format)
        elif isinstance(recipe, Recipe):
            self._add_columns(recipe, str)
        else:
            for kind, own in recipe.recipes.items():
                self._add_columns(own, partial(recipe.shown, kind), kind)
                if kind in recipe.ones:
                    self._add(f"being of the kind {kind}", say_nothing)
        if width > graph.num_features:
            self._add(ORDINARY, say_nothing)

    def _add_columns(self, recipe: Recipe, called: Callable[[str], str], kind: str = "") -> None:
        """Add all columns of a recipe for nodes of a kind; ``called`` says what one of this name is called."""
        for encoding in recipe.encodings:
            readings = encoding.readings()
            for name, reading in readings:
                width = len(encoding.value_names) // len(readings)
                self._add(called(name), reading, width, called(encoding.column), kind)
            if encoding.missing:
                self._add(called(f"{encoding.column} missing"), say_yes, 1, called(encoding.column), kind)
        if recipe.structure is not None:
            self._add(PLACE, say_nothing, recipe.structure.width)
        for name in recipe.counts.columns if recipe.counts else ():
            self._add(called(name), say_present, kind=kind)
        if recipe.rowless:
            self._add(called("no row in the node table"), say_yes, column="", kind=kind)

    def total(self, by_column: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers by column, added up by attribute."""
        return np.add.reduceat(by_column, self._starts[:-1]) if self.names else by_column

    def of_attributes(self, attributes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The columns of some attributes."""
        spans = [np.arange(self._starts[each], self._starts[each + 1]) for each in attributes.tolist()]
        return np.concatenate([np.zeros(0, np.int64), *spans])

    def value(self, attribute: int, node: int) -> str:
        """What a node has there; empty where that cannot be said in a word."""
        reading = self._readings[attribute]
        if reading is say_nothing or self._kinds[attribute] not in ("", self._graph.kind_of(node)):
            return ""
        return reading(float(self._graph.features[node, self._starts[attribute]]))

    def cell(self, attribute: int, node: int) -> str:
        """What the user's table says of a node in the column of an attribute: ``country = NL``, ``age missing``."""
        column = self._columns[attribute]
        if self._readings[attribute] is say_nothing:
            return column
        marks: list[int] = self._marks.get("", []) + self._marks.get(column, [])
        row = dense(self._graph.features[[node]])[0]
        for mark in marks:
            if row[self._starts[mark]] == 1:
                return self.names[mark]
        whole = column in self.names  # as one attribute, perhaps beside one that marks missing values
        at = self.names.index(column) if whole else attribute
        return f"{self.names[at]}{' = ' if whole else ': '}{self.value(at, node)}"

    def _add(self, name: str, reading: Reading, width: int = 1, column: str | None = None, kind: str = "") -> None:
        self._columns.append(name if column is None else column)
        if reading is say_yes and name != column:
            self._marks.setdefault(self._columns[-1], []).append(len(self.names))
        self._starts.append(self._starts[-1] + width)
        self.names.append(name)
        self._readings.append(reading)
        self._kinds.append(kind)
