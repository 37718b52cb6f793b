"""Views of a node: its own attributes, those of its neighbours, and what they make together."""

from pugnn.graph.smoothing import RESTART, STEPS
from pugnn.views.attributes import Attributes
from pugnn.views.joint_views import AnyViews, JointViews
from pugnn.views.layered_views import LayeredViews, LayerPart
from pugnn.views.linear_views import SLOPE, LinearViews, count_above
from pugnn.views.node_views import (
    ROUNDING,
    TRAINING_SAMPLE,
    NodeViews,
    comparable_rows,
    forecast_views,
    views_of,
)
from pugnn.views.view import VIEWS, View
from pugnn.views.walks import FAR, closeness, relative_walks

__all__ = [
    "FAR",
    "RESTART",
    "ROUNDING",
    "SLOPE",
    "STEPS",
    "TRAINING_SAMPLE",
    "VIEWS",
    "AnyViews",
    "Attributes",
    "JointViews",
    "LayerPart",
    "LayeredViews",
    "LinearViews",
    "NodeViews",
    "View",
    "closeness",
    "comparable_rows",
    "count_above",
    "forecast_views",
    "relative_walks",
    "views_of",
]
