"""From a name to a method."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from pugnn.errors import PugnnError
from pugnn.methods.base import METHODS, Method

#: The method where none is chosen.
DEFAULT_METHOD = "pu-gnn"


def make_method(name: str, **options: Any) -> Method:
    """Build a method by name, with its own defaults for the options that are not given."""
    method = METHODS[name]
    known = {field.name: field for field in fields(method)}
    unknown = [option for option in options if option not in known]
    if unknown:
        raise PugnnError(f"{name} has no option {unknown[0]!r}; it has {', '.join(known) or 'none'}")
    if "prior" not in options and "prior" in known and known["prior"].default is MISSING:
        raise PugnnError(
            f"{name} needs the prior, the positive share of the unlabelled nodes: --prior 0.1, or "
            f"{method.__name__}(prior=0.1), for one in ten. If it is unknown, use pu-gnn, grab or naive."
        )
    return method(**options)
