"""Reading a saved recipe: whatever is wrong with it, the error says so plainly."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from pugnn.errors import PugnnError

#: No count is larger.
LARGEST_INTEGER = 2**53


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

    def text(self, key: str) -> str:
        """A text."""
        return str(self._checked(key, "a text", lambda value: isinstance(value, str)))

    def flag(self, key: str) -> bool:
        """True or false."""
        return bool(self._checked(key, "true or false", lambda value: isinstance(value, bool)))

    def integer(self, key: str, least: int = 0, most: int = LARGEST_INTEGER) -> int:
        """An integer."""
        expected = f"an integer from {least} to {most}"
        return int(self._checked(key, expected, lambda value: _is_integer(value, least, most)))

    def number(self, key: str) -> float:
        """A finite number."""
        return float(self._checked(key, "a number", _is_number))

    def integers(self, key: str) -> tuple[int, ...]:
        """A list of integers from 0."""
        return tuple(self._checked(key, "a list of integers", lambda value: _all(value, _is_integer)))

    def different_texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, no two the same."""
        texts = self._checked(key, "a list of texts", lambda value: _all(value, lambda item: isinstance(item, str)))
        if len(set(texts)) < len(texts):
            raise damaged(f"{key!r} of {self._part} has the same text twice")
        return tuple(texts)

    def parts(self, key: str) -> list[Saved]:
        """A list of parts."""
        items = self._checked(key, "a list", lambda value: isinstance(value, list))
        return [Saved(item, f"{key} {number} of {self._part}") for number, item in enumerate(items, 1)]

    def part(self, key: str) -> Saved | None:
        """A part, or nothing."""
        return None if self._plain.get(key) is None else Saved(self._plain[key], f"{key} of {self._part}")

    def _checked(self, key: str, expected: str, fits: Callable[[Any], bool]) -> Any:
        if key not in self._plain or not fits(self._plain[key]):
            raise damaged(f"{key!r} of {self._part} is not {expected}")
        return self._plain[key]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_integer(value: object, least: int = 0, most: int = LARGEST_INTEGER) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _all(value: object, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list | tuple) and all(map(fits, value))
