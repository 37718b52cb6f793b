"""Views of a node: its own attributes, those of its neighbours, and what they make together."""

from pugnn.graph.smoothing import RESTART, STEPS
from pugnn.views.attributes import Attributes
from pugnn.views.joined_view_matrix import AnyViewMatrix, JoinedViewMatrix
from pugnn.views.keeping import TRAINING_SAMPLE, forecast_views
from pugnn.views.layered_model import LayeredModel, LayerModel
from pugnn.views.linear_model import LinearModel
from pugnn.views.ranking_model import LOG_ODDS_SPREAD, ROUNDING_SPREAD, RankingModel, count_above
from pugnn.views.view import VIEWS, View
from pugnn.views.view_matrix import ViewMatrix, views_of
from pugnn.views.view_source import EXACT_WIDTH, ROUNDING, ViewSource, comparable_rows, source_of
from pugnn.views.walks import FAR, closeness, relative_walks

__all__ = [
    "EXACT_WIDTH",
    "FAR",
    "LOG_ODDS_SPREAD",
    "RESTART",
    "ROUNDING",
    "ROUNDING_SPREAD",
    "STEPS",
    "TRAINING_SAMPLE",
    "VIEWS",
    "AnyViewMatrix",
    "Attributes",
    "JoinedViewMatrix",
    "LayerModel",
    "LayeredModel",
    "LinearModel",
    "RankingModel",
    "View",
    "ViewMatrix",
    "ViewSource",
    "closeness",
    "comparable_rows",
    "count_above",
    "forecast_views",
    "relative_walks",
    "source_of",
    "views_of",
]
