"""What pugnn says when something can be put right by its user."""

from collections.abc import Iterable


class PugnnError(ValueError):
    """Bad input. The message names what was given, what was expected and what to do."""


class PugnnWarning(UserWarning):
    """Training goes on, but the result may disappoint. The message carries a remedy."""


def shorten(values: Iterable[object], limit: int = 5) -> str:
    """Name the first few values of a collection: ``'a', 'b', 'c' and 7 more``."""
    items = list(values)
    shown = ", ".join(repr(v.item() if hasattr(v, "item") else v) for v in items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit:,} more"
