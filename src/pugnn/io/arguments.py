"""What a caller says about tables, checked before any of them is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pugnn.errors import PugnnError, given, require_type
from pugnn.features.recipe import Recipe
from pugnn.graph.building import listed


@dataclass(frozen=True, eq=False)
class Request:
    """The arguments of :func:`pugnn.read_graph` that are no tables; ``columns`` has the user's names by argument."""

    columns: Mapping[str, str | None]
    kinds: Mapping[str, str]
    recipe: Recipe | None
    show: Sequence[str]
    say: Callable[[str], None]

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Any],
        *,
        edges: Any = (),
        kinds: Any = None,
        recipe: Any = None,
        show: Any = (),
        on_phase: Any = None,
    ) -> Self:
        """The arguments, or an error if they do not have their types."""
        if edges is None:
            raise PugnnError("edges are missing; give a file name, a data frame, a list of pairs, or a NetworkX graph")
        for name, column in columns.items():
            require_type(name, column, str | None, "the name of a column")
        require_type("kinds", kinds, Mapping | None, "a mapping such as {'zip': 'category'}")
        for name, kind in (kinds or {}).items():
            if not isinstance(name, str) or not isinstance(kind, str):
                raise PugnnError(f"kinds maps names of columns to kinds, both text; got {name!r}: {kind!r}")
        for name in listed(show, "show"):
            require_type("show", name, str, "a list of names of columns")
        if on_phase is not None and not callable(on_phase):
            raise PugnnError(f"on_phase must be a function of a few words; got {given(on_phase)}")
        require_type("recipe", recipe, Recipe | Mapping | None, "a Recipe, or the recipe_ of a classifier")
        known = Recipe.from_plain(recipe) if isinstance(recipe, Mapping) else recipe
        return cls(columns, kinds or {}, known, show, on_phase or (lambda _: None))
