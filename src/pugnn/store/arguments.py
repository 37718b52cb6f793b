"""What a caller says about tables, checked before any of them is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pugnn.errors import PugnnError, given, require_type
from pugnn.features.typed_recipe import AnyRecipe, recipe_from_plain
from pugnn.graph.arrays import listed
from pugnn.store.tables.times import as_moment


@dataclass(frozen=True, eq=False)
class Request:
    """The arguments of :func:`pugnn.read_graph` that are no tables; ``columns`` has the user's names by argument."""

    columns: Mapping[str, Any]
    kinds: Any = None
    recipe: Any = None
    show: Any = ()
    on_phase: Any = None
    directed: Any = False
    as_of: Any = None
    then: Any = None

    def __post_init__(self) -> None:
        for name in ("as_of", "then"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, as_moment(f"--{name.replace('_', '-')}", getattr(self, name)))
        if self.as_of is not None and self.columns["time"] is None:
            raise PugnnError("--as-of needs --time, the name of the column with the time of each edge")
        if self.then is not None and (self.as_of is None or self.then.last <= self.as_of.last):
            raise PugnnError(f"--then {self.then} must be later than --as-of {self.as_of}")
        require_type("directed", self.directed, bool, "True or False")
        for name, column in self.columns.items():
            require_type(name, column, str | None, "the name of a column")
        require_type("kinds", self.kinds, Mapping | None, "a mapping such as {'zip': 'category'}")
        object.__setattr__(self, "kinds", self.kinds or {})
        for name, kind in self.kinds.items():
            if not isinstance(name, str) or not isinstance(kind, str):
                raise PugnnError(f"kinds maps names of columns to kinds, both text; got {name!r}: {kind!r}")
        for name in listed(self.show, "show"):
            require_type("show", name, str, "a list of names of columns")
        if self.on_phase is not None and not callable(self.on_phase):
            raise PugnnError(f"on_phase must be a function of a few words; got {given(self.on_phase)}")
        require_type("recipe", self.recipe, AnyRecipe | Mapping | None, "a Recipe, or the recipe_ of a classifier")
        if isinstance(self.recipe, Mapping):
            object.__setattr__(self, "recipe", recipe_from_plain(self.recipe))

    def say(self, phase: str) -> None:
        """Tell the caller that a phase begins."""
        if self.on_phase is not None:
            self.on_phase(phase)
