"""Methods: one recipe per file, each turns a task into scores."""

from pugnn.methods.base import FittedMethod, Method
from pugnn.methods.factory import METHODS, make_method
from pugnn.methods.pu_gnn import PUGNN

__all__ = ["METHODS", "PUGNN", "FittedMethod", "Method", "make_method"]
