"""The recipes of graphs with several relations or several kinds of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp

from pugnn.errors import Displayed, PugnnError, counted, shorten
from pugnn.features.attribute_table import AttributeTable
from pugnn.features.encoding import FeatureBlocks, Statement
from pugnn.features.recipe import FORMAT, Encoded, Recipe, unique_names
from pugnn.features.saved import damaged, entry
from pugnn.features.structure import Structure
from pugnn.graph import Graph

#: Under this name there is a recipe for nodes of all kinds.
ALL = ""


@dataclass(frozen=True, repr=False)
class TypedRecipe(Displayed):
    """How the nodes of each kind get their features, and the relations that a model knows.

    The features of each kind have columns of their own, and are zero for nodes of other kinds.

    Args:
        relations: names of the relations in their order; none if there is one kind of edge.
        kinds: names of the kinds of nodes in their order, the target first; none if there is one.
        recipes: by kind, for those with attributes; under :data:`ALL` for all nodes, if there is one kind, or if none
            has attributes of its own.
        ones: kinds with a further column of ones: rows of mostly non-zero numbers, scaled to length one, would
            otherwise not tell large from small.
    """

    relations: tuple[str, ...]
    kinds: tuple[str, ...]
    recipes: Mapping[str, Recipe]
    ones: tuple[str, ...] = ()

    @property
    def structure(self) -> Structure | None:
        """The features of the structure, if there are no others."""
        return self.recipes[ALL].structure if ALL in self.recipes else None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features, in order, unique; those of kinds other than the target begin with the kind."""
        return unique_names([self.shown(kind, name) for kind in self.recipes for name in self._own_names(kind)])

    def shown(self, kind: str, name: str) -> str:
        """What a column of a kind is called beside those of others."""
        return name if kind in (ALL, *self.kinds[:1]) or name == kind else f"{kind}.{name}"

    def of_kind(self, kind: str) -> Recipe | None:
        """The recipe of one kind, if it has attributes."""
        return self.recipes.get(kind)

    def _own_names(self, kind: str) -> list[str]:
        return [*self.recipes[kind].feature_names, *([kind] if kind in self.ones else [])]

    def _facts(self) -> list[str]:
        named = [(self.kinds, "kind"), (self.relations, "relation")]
        return [counted(len(self.feature_names), "feature"), *(counted(len(of), word) for of, word in named if of)]

    def describe(self) -> list[Statement]:
        """What becomes of each column of each kind."""
        lines = []
        for kind, recipe in self.recipes.items():
            lines += [replace(line, column=self.shown(kind, line.column)) for line in recipe.describe()]
            if kind in self.ones:
                lines.append(Statement(kind, "boolean", f"1 for all nodes of the kind {kind}", 1))
        return lines

    def to_plain(self) -> dict[str, Any]:
        """The recipe in a form fit for JSON."""
        return {
            "format": FORMAT,
            "relations": list(self.relations),
            "kinds": list(self.kinds),
            "recipes": [{"kind": kind, **recipe.to_plain()} for kind, recipe in self.recipes.items()],
            "ones": list(self.ones),
            "structure": self.structure is not None,  # as in a plain recipe, true if there are no attributes
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """The recipe that :meth:`to_plain` gave; anything else is an error."""
        relations, kinds, ones = (
            entry(plain, name, tuple[str, ...], "the recipe") for name in ("relations", "kinds", "ones")
        )
        recipes = {
            entry(each, "kind", str, "a recipe"): Recipe.from_plain(each)
            for each in entry(plain, "recipes", list, "the recipe")
        }
        if not recipes or not set(recipes) - {ALL} <= set(kinds) or not set(ones) <= set(recipes):
            raise damaged("its kinds of nodes do not fit each other")
        return cls(relations, kinds, recipes, ones)


#: How the nodes of a graph get their features.
AnyRecipe: TypeAlias = Recipe | TypedRecipe


def recipe_from_plain(plain: Any) -> AnyRecipe:
    """The recipe that ``to_plain`` gave, of either kind; anything else is an error."""
    typed = isinstance(plain, Mapping) and "recipes" in plain
    return TypedRecipe.from_plain(plain) if typed else Recipe.from_plain(plain)


def learn_recipe(
    attributes: Mapping[str, AttributeTable],
    chosen: Mapping[str, Mapping[str, str]],
    graph: Graph,
    blocks: FeatureBlocks,
) -> tuple[AnyRecipe, Encoded]:
    """Learn a recipe, and make the features.

    Args:
        attributes: by kind of node.
        chosen: kinds of columns that are not to be guessed, by kind of node and name.
        graph: the graph of the nodes.
        blocks: where to collect features.
    """
    relations, kinds = tuple(graph.relations), tuple(graph.kinds)
    if not kinds:
        recipe, encoded = Recipe.learn(attributes[ALL], chosen[ALL], graph, blocks)
        return TypedRecipe(relations, kinds, {ALL: recipe}) if relations else recipe, encoded
    learned = {kind: Recipe.learn(attributes[kind], chosen[kind], None) for kind in kinds}
    notes = tuple(note for _, encoded in learned.values() for note in encoded.notes)
    found = {kind: encoded for kind, (_, encoded) in learned.items() if encoded.names}
    ones = tuple(kind for kind, encoded in found.items() if not encoded.blocks.sparse)
    recipes = {kind: learned[kind][0] for kind in found}
    if not any(recipe.describes_nodes for recipe in recipes.values()):
        recipes = {ALL: Recipe((), {}, 0, Structure()), **recipes}
    typed = TypedRecipe(relations, kinds, recipes, ones)
    return typed, _placed(typed, found, graph, blocks, notes)


def apply_recipe(
    recipe: AnyRecipe, attributes: Mapping[str, AttributeTable], graph: Graph, blocks: FeatureBlocks
) -> Encoded:
    """Make the features of a graph's nodes by a recipe that was learned from another one."""
    if isinstance(recipe, Recipe):
        return recipe.apply(attributes[ALL], graph, blocks)
    if ALL in recipe.recipes and not graph.kinds:
        return recipe.recipes[ALL].apply(attributes[ALL], graph, blocks)
    found = {
        kind: own.apply(attributes[kind], graph, FeatureBlocks()) for kind, own in recipe.recipes.items() if kind != ALL
    }
    return _placed(recipe, found, graph, blocks, tuple(note for each in found.values() for note in each.notes))


def require_names(recipe: AnyRecipe, graph: Graph) -> None:
    """Raise unless a graph has the relations and the kinds of nodes that a recipe was learned with."""
    for what, known, found in (
        ("relation", recipe.relations, tuple(graph.relations)),
        ("kind of node", recipe.kinds, tuple(graph.kinds)),
    ):
        if known == found:
            continue
        words = f"with the {what}s {shorten(known, 20)}" if known else f"on a graph with one {what}"
        here = f"this graph has {shorten(found, 20)}" if found else "this graph has one"
        unlike = f"{sorted(set(known) ^ set(found))[0]!r} is only in one of them" if known and found else ""
        raise PugnnError(
            f"the model was trained {words}, but {here}. {unlike + '. ' if unlike else ''}Give the same ones, under "
            "the same names."
        )


def _placed(
    recipe: TypedRecipe, found: Mapping[str, Encoded], graph: Graph, blocks: FeatureBlocks, notes: tuple[str, ...]
) -> Encoded:
    """Features of the structure, if any; those of each kind in columns of their own and the rows of its nodes."""
    if recipe.structure is not None:
        blocks.add(recipe.structure.encode(graph))
    first = 0
    for kind, size in graph.kinds.items():
        if kind in found:
            own = sp.csr_array(found[kind].blocks.joined())
            if kind in recipe.ones:
                own = sp.csr_array(sp.hstack([own, np.ones((size, 1), np.float32)]), dtype=np.float32)
            after = np.full(graph.num_nodes - first - size, own.indptr[-1], own.indptr.dtype)
            starts = np.concatenate([np.zeros(first, own.indptr.dtype), own.indptr, after])
            blocks.add(sp.csr_array((own.data, own.indices, starts), shape=(graph.num_nodes, own.shape[1])))
        first += size
    return Encoded(blocks, recipe.feature_names, notes)
