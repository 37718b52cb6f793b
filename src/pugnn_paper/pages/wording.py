"""How numbers are written on the pages."""

from __future__ import annotations

import math

from pugnn_paper.pages.blocks import NONE, Text
from pugnn_paper.pages.summary import LEVEL, Entry
from pugnn_paper.published import DATASET_NAMES

#: The level of the tests in words.
LEVEL_WORDS = f"{100 * LEVEL:g} % level"


def entry_cell(entry: Entry) -> Text:
    """Measured above, published and the difference below; the mark comes first, so that numbers stay aligned."""
    text = NONE if entry.mean is None else spread(entry.mean, entry.deviation)
    under = NONE if entry.published is None else spread(*entry.published)
    if entry.difference is not None:
        under += f" ({signed(entry.difference, '.1f')})"
    return Text(f"{entry.mark} {text}".strip(), under, strong=entry.best)


def spread(mean: float, deviation: float) -> str:
    """``84.2 ± 1.3``; the mean alone where there is no deviation.

    Example:
        >>> spread(84.21, 1.34), spread(84.21, math.nan)
        ('84.2 ± 1.3', '84.2')
    """
    return f"{mean:.1f}" if math.isnan(deviation) else f"{mean:.1f} ± {deviation:.1f}"


def signed(value: float, how: str) -> str:
    """A difference with its sign, a true minus, and no sign for what rounds to nothing.

    Example:
        >>> signed(1.26, ".1f"), signed(-1234, ","), signed(-0.04, ".1f")
        ('+1.3', '−1,234', '0.0')
    """
    size = format(abs(value), how)
    if not any(digit in size for digit in "123456789"):
        return size
    return f"{'+' if value > 0 else '−'}{size}"


def number(value: float | None, digits: int) -> str:
    """A number, or a dash where there is none."""
    return NONE if value is None else f"{value:.{digits}f}"


def p_value(p: float | None) -> str:
    """A p-value to two places, very small ones as a bound.

    Example:
        >>> p_value(0.0312), p_value(0.00004), p_value(None)
        ('p = 0.03', 'p < 0.001', 'too few pairs')
    """
    if p is None:
        return "too few pairs"
    if p < 0.001:
        return "p < 0.001"
    # Close to the level, rounding must not hide on which side a value lies.
    return f"p = {p:.3f}" if p < 0.01 or f"{p:.2f}" == f"{LEVEL:.2f}" else f"p = {p:.2f}"


def dataset_name(name: str) -> str:
    """The name of a data set as the paper writes it."""
    return DATASET_NAMES.get(name, name)


def span(ends: tuple[int, int] | None, noun: str) -> str:
    """A range of numbers; nothing where there is none.

    Example:
        >>> span((10, 10), "draw"), span((1, 3), "label"), span(None, "label")
        ('10 draws', '1 to 3 labels', '')
    """
    if ends is None:
        return ""
    least, most = ends
    return f"{'' if least == most else f'{least} to '}{most} {noun}{'' if most == 1 else 's'}"


def sentence(text: str) -> str:
    """The text with a capital at its start and a full stop at its end."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
