"""The prior, the positive share of the unlabelled nodes, with its interval and its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pugnn.errors import require_share
from pugnn.evidence.rank_model import MAX_PRIOR, MIN_PRIOR, Band

#: An interval whose ends differ by this factor says little.
WIDE = 3.0


@dataclass(frozen=True)
class Prior(Band):
    """Positive share of the unlabelled nodes: the value that a method uses, and the ends of its 90 % interval.

    Args:
        source: ``given``; ``estimated`` within a given ``range``; ``estimated`` freely; or ``assumed``, where nothing
            can be known.
        least: lower end of the given range, or the given value.
        most: upper end of the given range, or the given value.
        by: name of the estimator, if one was chosen.
    """

    source: Literal["given", "range", "estimated", "assumed"]
    least: float = MIN_PRIOR
    most: float = MAX_PRIOR
    by: str = ""

    @classmethod
    def given(cls, value: float) -> Prior:
        """A prior that is known."""
        require_share("value", value)
        return cls(value, value, value, "given", value, value)

    @property
    def vague(self) -> bool:
        """Whether the interval says little."""
        return self.source == "assumed" or self.high > WIDE * self.low

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The range that was given, or twice the given value; ``None`` if nothing was given."""
        if self.source == "estimated" or (self.least, self.most) == (MIN_PRIOR, MAX_PRIOR):
            return None
        return self.least, self.most
