"""How messages show the cells of a table."""

#: A message shows no more of a cell than this many characters.
_SHOWN = 60


def quoted(cell: object) -> str:
    """A cell as a message shows it: ``'a'``, ``0.5``, ``'aaaaa…'``."""
    if isinstance(cell, str) and len(cell) > _SHOWN:
        return f"{cell[:_SHOWN]!r}…"
    return repr(cell)
