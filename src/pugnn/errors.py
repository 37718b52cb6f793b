"""Errors and warnings that a user can act on, and how values are shown in them and at a prompt."""

import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from html import escape
from numbers import Integral, Real
from types import UnionType
from typing import Any

#: Values that a message names, and letters of a value that it shows, at most.
MAX_NAMED, MAX_SHOWN = 5, 60


class PugnnError(ValueError):
    """Bad input. The message names what was given, what was expected and what to do."""


class EmptyTableError(PugnnError):
    """A table has no rows."""


class WriteError(PugnnError):
    """A file cannot be written: there is no room, or no permission."""


class PugnnWarning(UserWarning):
    """Training continues, but the result may disappoint. The message carries a remedy."""


class DegenerateWarning(PugnnWarning):
    """The training has collapsed: scores exist, but decisions or even the ranking are of no use."""


class Displayed:
    """A result that shows what it is in one line, and in a notebook as a small table."""

    @abstractmethod
    def _facts(self) -> list[str]:
        """A few words each, such as ``3 nodes``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(printable, self._facts()))})"

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, self._facts())


def html_table(title: str, facts: Iterable[str]) -> str:
    """What a notebook shows: a title, and a line for each fact."""
    rows = "".join(f"<tr><td>{escape(printable(fact))}</td></tr>" for fact in facts)
    return f"<table><thead><tr><th>{escape(printable(title))}</th></tr></thead><tbody>{rows}</tbody></table>"


def require_whole(name: str, value: object, least: int, most: float = math.inf) -> None:
    """Raise unless ``value`` is an integer, Python's or numpy's, from ``least`` to ``most``, and no boolean."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        limits = f"at least {least}" if most == math.inf else f"from {least} to {most:,}"
        raise PugnnError(f"{name} must be a whole number, {limits}; got {value!r}")


def require_number(name: str, value: object, *, negative: bool = True) -> None:
    """Raise unless ``value`` is a finite number, Python's or numpy's, and no boolean; negative only if allowed."""
    try:
        fits = not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
        fits = fits and (negative or value >= 0)  # type: ignore[operator]
    except OverflowError:  # an integer of hundreds of digits
        fits = False
    if not fits:
        raise PugnnError(f"{name} must be a number{'' if negative else ' and not negative'}, got {value!r}")


def require_share(name: str, value: object) -> None:
    """Raise unless ``value`` is a number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise PugnnError(f"{name} must lie between 0 and 1, got {given(value)}")


def require_type(name: str, value: object, kind: type | UnionType, words: str) -> None:
    """Raise unless ``value`` is of a type, which ``words`` describe."""
    if not isinstance(value, kind):
        raise PugnnError(f"{name} must be {words}; got {given(value)}")


def require_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise unless ``value`` is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise PugnnError(f"{name} must be one of {', '.join(choices)}; got {given(value)}")


def given(value: object) -> str:
    """An argument as a message shows it: itself if it is short, else its type, and its shape if it has one."""
    if isinstance(value, str | int | float | None):
        return quoted(value)
    if isinstance(value, list | tuple | set | dict) and len(value) <= 5:
        return shown(repr(value))
    shape = getattr(value, "shape", None)
    return type(value).__name__ + (f" of shape {shape}" if isinstance(shape, tuple) else "")


def shorten(values: Iterable[object], limit: int = MAX_NAMED) -> str:
    """Name the first few values of a collection: ``'a', 'b', 'c' and 7 more``."""
    items = list(values)
    shown = ", ".join(repr(v.item() if hasattr(v, "item") else v) for v in items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit:,} more"


def reject_all(bad: Sequence[Any], words: Callable[[Any], str], rest: str) -> None:
    """Raise if anything is bad: words on the first, the rest of the sentence, and words on a few others."""
    if not bad:
        return
    first, *others = map(words, bad[:MAX_NAMED])
    if len(bad) > MAX_NAMED:
        others.append(f"and {len(bad) - MAX_NAMED:,} more")
    raise PugnnError(first + rest + (f" Likewise: {'; '.join(others)}." if others else ""))


def similar(word: str, words: Iterable[str], most: int = 1, cutoff: float = 0.6) -> list[str]:
    """The words that are most similar to another one, ignoring case."""
    from difflib import get_close_matches

    by_lower = {each.lower(): each for each in words}
    return [by_lower[each] for each in get_close_matches(word.lower(), by_lower, most, cutoff)]


def did_you_mean(near: list[str]) -> str:
    """A hint at similar words, to end a message; empty without any."""
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def counted(number: int, noun: str) -> str:
    """A number of things: ``1 row``, ``2,000 rows``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """A share in percent, with two digits where it is small.

    Example:
        >>> percent(0.123), percent(0.0123), percent(0.00123)
        ('12 %', '1.2 %', '0.12 %')
    """
    value = 100 * share
    return f"{value:.0f} %" if value >= 9.5 else f"{value:.2g} %"


def shown(value: object, limit: int = MAX_SHOWN) -> str:
    """A value as text that is short enough to show, without characters that draw nothing."""
    text = str(value)
    return printable(text if len(text) <= limit else text[: limit - 1] + "…")


def printable(text: str) -> str:
    """The text on one line, without characters that draw nothing, steer a terminal or cannot be encoded."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def quoted(cell: object) -> str:
    """A cell of a table as a message shows it: ``'a'``, ``0.5``, ``'aaaaa…'``."""
    if isinstance(cell, str) and len(cell) > MAX_SHOWN:
        return f"{cell[:MAX_SHOWN]!r}…"
    return repr(cell)
