"""From a name to a method: the one place where strings become recipes."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from pugnn.errors import PugnnError
from pugnn.methods.base import Method
from pugnn.methods.dist_pu import DistPU
from pugnn.methods.grab import GRAB
from pugnn.methods.label_propagation import LabelPropagation
from pugnn.methods.lsdan import LSDAN
from pugnn.methods.naive import Naive
from pugnn.methods.nnpu import NNPU
from pugnn.methods.pu_gnn import PUGNN
from pugnn.methods.upu import UPU

#: Every method by its name on the command line.
METHODS: dict[str, type[Method]] = {
    method.name: method for method in (PUGNN, Naive, UPU, NNPU, DistPU, LSDAN, GRAB, LabelPropagation)
}


def make_method(name: str, **options: Any) -> Method:
    """Build a method by name, with its own defaults for the options that are not given."""
    if name not in METHODS:
        raise PugnnError(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
    known = {field.name: field for field in fields(METHODS[name])}
    unknown = [option for option in options if option not in known]
    if unknown:
        raise PugnnError(f"{name} has no option {unknown[0]!r}; it has {', '.join(known)}")
    if "prior" not in options and "prior" in known and known["prior"].default is MISSING:
        raise PugnnError(
            f"{name} must be told the prior, the share of the unlabelled nodes that are positive: --prior 0.1, or "
            f"{METHODS[name].__name__}(prior=0.1), if one in ten is. Without an idea of it, use pu-gnn, grab or naive."
        )
    return METHODS[name](**options)
