"""Parts of a recipe in a form fit for JSON, and back; whatever is wrong with a saved one, the error says so plainly."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Protocol, TypeVar, get_args, get_type_hints

from pugnn.errors import PugnnError

#: No count is larger.
MAX_INTEGER = 2**53

#: The types of entries, and what they are called.
_TYPES: dict[Any, str] = {
    str: "a text",
    bool: "true or false",
    int: f"an integer from 0 to {MAX_INTEGER}",
    float: "a number",
    tuple[int, ...]: "a list of integers",
    tuple[str, ...]: "a list of different texts",
    list: "a list",
}


class Part(Protocol):
    """A dataclass that is part of a recipe; its fields have the types of entries."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def flaw(self) -> str:
        """What cannot be right about the fields, if anything."""


P = TypeVar("P", bound=Part)


def to_plain(part: Part) -> dict[str, Any]:
    """The fields of a part of a recipe, fit for JSON."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(part).items()}


def damaged(what: str) -> PugnnError:
    """The error for a saved recipe that cannot have been written by this package."""
    return PugnnError(f"the saved recipe of the features is damaged: {what}. Train the model again.")


class Saved:
    """The entries of one part of a saved recipe, checked as they are read."""

    def __init__(self, plain: object, part: str) -> None:
        if not isinstance(plain, Mapping):
            raise damaged(f"{part} is not a mapping")
        self._plain: Mapping[str, Any] = plain
        self._part = part

    def entry(self, key: str, kind: Any) -> Any:
        """The entry of this name and type."""
        if key not in self._plain or not _fits(self._plain[key], kind):
            raise damaged(f"{key!r} of {self._part} is not {_TYPES[kind]}")
        value = self._plain[key]
        return tuple(value) if get_args(kind) else kind(value)

    def parts(self, key: str) -> list[Saved]:
        """A list of parts."""
        return [Saved(item, f"{key} {number} of {self._part}") for number, item in enumerate(self.entry(key, list), 1)]

    def part(self, key: str, part: type[P]) -> P | None:
        """A part, or nothing."""
        return None if self._plain.get(key) is None else Saved(self._plain[key], f"{key} of {self._part}").build(part)

    def build(self, part: type[P], **given: Any) -> P:
        """The part with these fields, and the others from the entries."""
        types = get_type_hints(part)
        names = [field.name for field in fields(part) if field.name not in given]
        built = part(**given, **{name: self.entry(name, types[name]) for name in names})
        if built.flaw():
            raise damaged(f"{self._part}: {built.flaw()}")
        return built


def _fits(value: object, kind: Any) -> bool:
    if kind is float and isinstance(value, int | float):
        return not isinstance(value, bool) and abs(value) <= sys.float_info.max
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
