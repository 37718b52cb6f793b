"""Positive-unlabelled node classification: a graph, a handful of known positives, no negatives."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"

# Public names load with their module when first used, so that `import pugnn` stays light.
_NAMES = {
    "checkup": ("CheckUp", "check_up"),
    "datasets": ("Dataset", "dataset_names", "load_dataset"),
    "errors": ("DegenerateWarning", "PugnnError", "PugnnWarning"),
    "estimator": ("PUNodeClassifier",),
    "evaluation": ("cross_validate", "evaluate"),
    "evidence": ("Audit", "Estimate", "Measurement"),
    "features": ("Recipe",),
    "graph": ("Graph",),
    "methods": (
        *("GRAB", "LSDAN", "NNPU", "PUGNN", "UPU", "Centroid", "DistPU", "GraphAny", "LabelPropagation", "Naive"),
        *("SmoothedLogistic", "Views", "make_method"),
    ),
    "runs.notebook": ("explore",),
    "store": ("TableGraph", "build_store", "open_store", "read_graph"),
    "task": ("PUBenchmark", "PUTask", "draw_benchmark"),
}
_HOME = {name: f"pugnn.{home}" for home, names in _NAMES.items() for name in names}

__all__ = sorted([*_HOME, "__version__"])

if TYPE_CHECKING:
    from pugnn.checkup import CheckUp as CheckUp
    from pugnn.checkup import check_up as check_up
    from pugnn.datasets import Dataset as Dataset
    from pugnn.datasets import dataset_names as dataset_names
    from pugnn.datasets import load_dataset as load_dataset
    from pugnn.errors import DegenerateWarning as DegenerateWarning
    from pugnn.errors import PugnnError as PugnnError
    from pugnn.errors import PugnnWarning as PugnnWarning
    from pugnn.estimator import PUNodeClassifier as PUNodeClassifier
    from pugnn.evaluation import cross_validate as cross_validate
    from pugnn.evaluation import evaluate as evaluate
    from pugnn.evidence import Audit as Audit
    from pugnn.evidence import Estimate as Estimate
    from pugnn.evidence import Measurement as Measurement
    from pugnn.features import Recipe as Recipe
    from pugnn.graph import Graph as Graph
    from pugnn.methods import GRAB as GRAB
    from pugnn.methods import LSDAN as LSDAN
    from pugnn.methods import NNPU as NNPU
    from pugnn.methods import PUGNN as PUGNN
    from pugnn.methods import UPU as UPU
    from pugnn.methods import Centroid as Centroid
    from pugnn.methods import DistPU as DistPU
    from pugnn.methods import GraphAny as GraphAny
    from pugnn.methods import LabelPropagation as LabelPropagation
    from pugnn.methods import Naive as Naive
    from pugnn.methods import SmoothedLogistic as SmoothedLogistic
    from pugnn.methods import Views as Views
    from pugnn.methods import make_method as make_method
    from pugnn.runs.notebook import explore as explore
    from pugnn.store import TableGraph as TableGraph
    from pugnn.store import build_store as build_store
    from pugnn.store import open_store as open_store
    from pugnn.store import read_graph as read_graph
    from pugnn.task import PUBenchmark as PUBenchmark
    from pugnn.task import PUTask as PUTask
    from pugnn.task import draw_benchmark as draw_benchmark


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pugnn' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
