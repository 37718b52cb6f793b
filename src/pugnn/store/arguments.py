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
    """The arguments of :func:`pugnn.read_graph` that are no tables; ``columns`` has the user's names by argument.

    ``time`` becomes names of columns by name of the table, which is empty for all others.
    """

    columns: Mapping[str, Any]
    time: Any = None
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
        require_type("time", self.time, str | Mapping | None, "the name of a column, or a mapping of tables to columns")
        object.__setattr__(self, "time", {"": self.time} if isinstance(self.time, str) else self.time or {})
        if self.as_of is not None and not self.time:
            raise PugnnError("--as-of needs --time, the name of the column with the time of each edge")
        as_of, then = self.as_of, self.then
        if then is not None and (as_of is None or (then.number == as_of.number and then.last <= as_of.last)):
            raise PugnnError(f"--then {self.then} must be later than --as-of {self.as_of}")
        require_type("directed", self.directed, bool, "True or False")
        for name, column in self.columns.items():
            require_type(name, column, str | None, "the name of a column")
        require_type("kinds", self.kinds, Mapping | None, "a mapping such as {'zip': 'category'}")
        object.__setattr__(self, "kinds", self.kinds or {})
        for words, given_by_name in (
            ("kinds maps names of columns to kinds", self.kinds),
            ("time maps names of tables to columns", self.time),
        ):
            for name, value in given_by_name.items():
                if not isinstance(name, str) or not isinstance(value, str):
                    raise PugnnError(f"{words}, both text; got {name!r}: {value!r}")
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
