"""Views of a node: its own attributes, those of its neighbours, and what they make together."""

from pugnn.models.views.attributes import Attributes
from pugnn.models.views.views import (
    RESTART,
    ROUNDING,
    SAMPLE,
    STEPS,
    VIEWS,
    WEIGHTS,
    NodeViews,
    comparable_rows,
    forecast_views,
    smooth,
)

__all__ = [
    "RESTART",
    "ROUNDING",
    "SAMPLE",
    "STEPS",
    "VIEWS",
    "WEIGHTS",
    "Attributes",
    "NodeViews",
    "comparable_rows",
    "forecast_views",
    "smooth",
]
