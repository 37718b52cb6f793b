"""Views of a node: its own attributes, those of its neighbours, and what they make together."""

from pugnn.graph.smoothing import RESTART, STEPS
from pugnn.views.attributes import Attributes
from pugnn.views.linear_views import LinearViews
from pugnn.views.node_views import (
    ROUNDING,
    TRAINING_SAMPLE,
    VIEWS,
    WEIGHTS,
    NodeViews,
    comparable_rows,
    forecast_views,
    views_of,
)
from pugnn.views.walks import FAR, closeness, relative_walks

__all__ = [
    "FAR",
    "RESTART",
    "ROUNDING",
    "STEPS",
    "TRAINING_SAMPLE",
    "VIEWS",
    "WEIGHTS",
    "Attributes",
    "LinearViews",
    "NodeViews",
    "closeness",
    "comparable_rows",
    "forecast_views",
    "relative_walks",
    "views_of",
]
