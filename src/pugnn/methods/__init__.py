"""Methods: one per file, each turns a task into scores."""

from pugnn.methods.base import DEFAULT_METHOD, METHODS, FittedMethod, LossMethod, Method, make_method
from pugnn.methods.centroid import Centroid
from pugnn.methods.dist_pu import DistPU
from pugnn.methods.grab import GRAB
from pugnn.methods.graphany import GraphAny
from pugnn.methods.label_propagation import LabelPropagation
from pugnn.methods.lsdan import LSDAN
from pugnn.methods.naive import Naive
from pugnn.methods.nnpu import NNPU
from pugnn.methods.pu_gnn import PUGNN
from pugnn.methods.smoothed_logistic import SmoothedLogistic
from pugnn.methods.upu import UPU
from pugnn.methods.views import Views

__all__ = [
    "DEFAULT_METHOD",
    "GRAB",
    "LSDAN",
    "METHODS",
    "NNPU",
    "PUGNN",
    "UPU",
    "Centroid",
    "DistPU",
    "FittedMethod",
    "GraphAny",
    "LabelPropagation",
    "LossMethod",
    "Method",
    "Naive",
    "SmoothedLogistic",
    "Views",
    "make_method",
]
