"""Methods: one recipe per file, each turns a task into scores."""

from pugnn.methods.base import FittedMethod, Method
from pugnn.methods.dist_pu import DistPU
from pugnn.methods.factory import METHODS, make_method
from pugnn.methods.grab import GRAB
from pugnn.methods.label_propagation import LabelPropagation
from pugnn.methods.lsdan import LSDAN
from pugnn.methods.naive import Naive
from pugnn.methods.nnpu import NNPU
from pugnn.methods.pu_gnn import PUGNN
from pugnn.methods.upu import UPU

__all__ = [
    "GRAB",
    "LSDAN",
    "METHODS",
    "NNPU",
    "PUGNN",
    "UPU",
    "DistPU",
    "FittedMethod",
    "LabelPropagation",
    "Method",
    "Naive",
    "make_method",
]
