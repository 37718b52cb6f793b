"""What a page may ask for: every parameter of a request is checked here before anything is done with it."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request

from pugnn.errors import PugnnError, require_choice, require_whole, shown

#: Letters of a text that is searched for, and of a note.
MAX_TEXT, MAX_NOTE = 1_000, 10_000
#: Nodes that one request may name.
MAX_NAMED = 2_000
#: Positions and counts are at most this.
MAX_WHOLE = 2**31


class Asked:
    """The parameters in the address of a request."""

    def __init__(self, query: QueryParams) -> None:
        self._query = query

    def whole(self, name: str, default: int | None = None, *, most: float = MAX_WHOLE) -> int:
        """A whole number."""
        text = self._query.get(name)
        if text is None and default is not None:
            return default
        return _whole(name, text, most)

    def number(self, name: str) -> float | None:
        """A number, if it is given."""
        text = self._query.get(name)
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise PugnnError(f"{name} must be a number; got {shown(text)}")
        return value

    def flag(self, name: str) -> bool | None:
        """0 or 1, if it is given."""
        text = self._query.get(name)
        if not text:
            return None
        require_choice(name, text, ("0", "1"))
        return text == "1"

    def text(self, name: str) -> str:
        """A text, empty if it is not given."""
        return _text(name, self._query.get(name, ""), MAX_TEXT)

    def choice(self, name: str, choices: Collection[str], default: str = "") -> str:
        """One of some words."""
        text = self._query.get(name) or default
        require_choice(name, text, choices)
        return text

    def choices(self, name: str, choices: Collection[str]) -> frozenset[str]:
        """Some of these words, between commas."""
        words = frozenset(filter(None, self._query.get(name, "").split(",")))
        for word in words:
            require_choice(name, word, choices)
        return words

    def nodes(self, name: str) -> list[int]:
        """Positions of nodes, between commas."""
        words = [word for word in self._query.get(name, "").split(",") if word]
        require_whole(f"the number of nodes in {name}", len(words), 0, MAX_NAMED)
        return [_whole(name, word, MAX_WHOLE) for word in words]


class Sent:
    """The JSON object in the body of a request."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._content = content

    @classmethod
    async def of(cls, request: Request, *names: str) -> Sent:
        """The body, which may have these entries only."""
        try:
            content = json.loads(await request.body())
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or not content.keys() <= set(names):
            raise PugnnError(f"the body must be a JSON object with no other entries than {', '.join(names) or 'none'}")
        return cls(content)

    def whole(self, name: str, *, optional: bool = False) -> int | None:
        """A whole number."""
        value = self._content.get(name)
        if value is None and optional:
            return None
        require_whole(name, value, 0, MAX_WHOLE)
        assert isinstance(value, int)
        return value

    def choice(self, name: str, choices: Collection[str], default: str | None = None) -> str:
        """One of some words."""
        value = self._content.get(name, default)
        require_choice(name, value, choices)
        assert isinstance(value, str)
        return value

    def text(self, name: str) -> str | None:
        """A text, if it is given."""
        value = self._content.get(name)
        return None if value is None else _text(name, value, MAX_NOTE)


def _whole(name: str, text: str | None, most: float) -> int:
    value = int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 10 else text
    require_whole(name, value, 0, most)
    assert isinstance(value, int)
    return value


def _text(name: str, value: object, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise PugnnError(f"{name} must be a text of at most {most:,} letters")
    return value.encode("utf-8", "replace").decode()  # halves of letters, which JSON allows, cannot be stored
