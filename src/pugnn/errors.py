"""What pugnn says when something can be put right by its user."""

from collections.abc import Iterable
from numbers import Integral


class PugnnError(ValueError):
    """Bad input. The message names what was given, what was expected and what to do."""


class PugnnWarning(UserWarning):
    """Training goes on, but the result may disappoint. The message carries a remedy."""


def require_whole(name: str, value: object, least: int) -> None:
    """Complain unless ``value`` is a whole number, Python's or numpy's, of at least ``least``."""
    if not isinstance(value, Integral) or int(value) < least:
        raise PugnnError(f"{name} must be a whole number, at least {least}; got {value!r}")


def shorten(values: Iterable[object], limit: int = 5) -> str:
    """Name the first few values of a collection: ``'a', 'b', 'c' and 7 more``."""
    items = list(values)
    shown = ", ".join(repr(v.item() if hasattr(v, "item") else v) for v in items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit:,} more"
