"""Parts of a recipe in a form fit for JSON, and back, checked as they are read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar, get_args, get_type_hints

from pugnn.errors import PugnnError

#: No count is larger.
MAX_INTEGER = 2**53

P = TypeVar("P")


def to_plain(part: object) -> dict[str, Any]:
    """The fields of a part of a recipe, a dataclass, fit for JSON."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(part).items()}


def from_plain(part: type[P], plain: object, where: str, **given: Any) -> P:
    """The part with these fields, and the others as :func:`to_plain` gave them; ``where`` they are, for errors."""
    types = get_type_hints(part)
    names = [field.name for field in fields(part) if field.name not in given]  # type: ignore[arg-type]
    return part(**given, **{name: entry(plain, name, types[name], where) for name in names})


def optional(plain: Mapping[str, Any], key: str, part: type[P]) -> P | None:
    """The part under a key, if there is one."""
    return None if plain.get(key) is None else from_plain(part, plain[key], key)


def entry(plain: object, key: str, kind: Any, where: str) -> Any:
    """The entry of this name and type."""
    if not isinstance(plain, Mapping) or key not in plain or not _fits(plain[key], kind):
        raise damaged(f"{key!r} of {where} is missing or not valid")
    return tuple(plain[key]) if get_args(kind) else kind(plain[key])


def damaged(what: str) -> PugnnError:
    """The error for a saved recipe that cannot have been written by this package."""
    return PugnnError(f"the saved recipe of the features is damaged: {what}. Train the model again.")


def _fits(value: object, kind: Any) -> bool:
    if kind is float:
        return type(value) in (int, float) and abs(value) <= sys.float_info.max  # type: ignore[arg-type]
    if kind is int:
        return type(value) is int and 0 <= value <= MAX_INTEGER
    if not get_args(kind):
        return type(value) is kind
    items = get_args(kind)[0]
    return (
        isinstance(value, list | tuple)
        and all(_fits(item, items) for item in value)
        and (items is int or len(set(value)) == len(value))
    )
