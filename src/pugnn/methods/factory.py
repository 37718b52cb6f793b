"""From a name to a method: the one place where strings become recipes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pugnn.errors import PugnnError
from pugnn.methods.base import Method
from pugnn.methods.pu_gnn import PUGNN

METHODS: dict[str, type[Any]] = {PUGNN.name: PUGNN}


def make_method(name: str, **options: Any) -> Method:
    """Build a method by name, with its own defaults for the options that are not given."""
    if name not in METHODS:
        raise PugnnError(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
    known = [field.name for field in fields(METHODS[name])]
    unknown = [option for option in options if option not in known]
    if unknown:
        raise PugnnError(f"{name} has no option {unknown[0]!r}; it has {', '.join(known)}")
    method: Method = METHODS[name](**options)
    return method
