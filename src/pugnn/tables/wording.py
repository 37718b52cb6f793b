"""Words that several messages share."""

#: A message shows no more of a cell than this many characters.
_SHOWN = 60


def counted(number: int, noun: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def quoted(cell: object) -> str:
    """A cell as a message shows it: ``'a'``, ``0.5``, ``'aaaaa…'``."""
    if isinstance(cell, str) and len(cell) > _SHOWN:
        return f"{cell[:_SHOWN]!r}…"
    return repr(cell)
