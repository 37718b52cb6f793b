"""Views of a node: attributes of its wider neighbourhood, its own, and those of its neighbours."""

from pugnn.models.views.attributes import Attributes, unit_rows
from pugnn.models.views.making import RESTART, STEPS, VIEWS, forecast_views, make_views, side_by_side, smooth
from pugnn.models.views.rows import KeptTables, Rows, rows_held

__all__ = [
    "RESTART",
    "STEPS",
    "VIEWS",
    "Attributes",
    "KeptTables",
    "Rows",
    "forecast_views",
    "make_views",
    "rows_held",
    "side_by_side",
    "smooth",
    "unit_rows",
]
