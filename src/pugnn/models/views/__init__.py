"""Views of a node: its own attributes, those of its neighbours, and what they make together."""

from pugnn.models.views.attributes import Attributes
from pugnn.models.views.closeness import FAR, closeness, relative_walks
from pugnn.models.views.comparison import comparable_rows
from pugnn.models.views.edges import RESTART, STEPS, smooth
from pugnn.models.views.views import (
    ROUNDING,
    SAMPLE,
    VIEWS,
    WEIGHTS,
    NodeViews,
    forecast_views,
    views_of,
)

__all__ = [
    "FAR",
    "RESTART",
    "ROUNDING",
    "SAMPLE",
    "STEPS",
    "VIEWS",
    "WEIGHTS",
    "Attributes",
    "NodeViews",
    "closeness",
    "comparable_rows",
    "forecast_views",
    "relative_walks",
    "smooth",
    "views_of",
]
