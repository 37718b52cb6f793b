"""The log-odds of nodes that are linear in the views of their attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.errors import PugnnError
from pugnn.features.structure import WIDTH
from pugnn.graph import Graph
from pugnn.models.backbone import Backbone, Output
from pugnn.models.inputs import GraphInputs
from pugnn.task import PUTask
from pugnn.views.attributes import Attributes
from pugnn.views.view import VIEWS
from pugnn.views.view_matrix import ViewMatrix, views_of
from pugnn.views.walks import closeness

#: A score turns from undecided to confident within a standard deviation.
SLOPE = 4.0
#: Scores whose spread is no more than this share of the largest differ by rounding alone, which is no ranking.
EQUAL = 1e-6
#: What is not in single precision.
_TYPES = {"standardised": torch.bool, "constant": torch.float64, "by_closeness": torch.float64}


def count_above(share: float, count: int) -> int:
    """How many of so many nodes are above a cut-off, for a share of them: at least one, and not all."""
    return min(max(1, round(share * count)), max(1, count - 1))


class LinearModel(Backbone):
    r"""The logit :math:`\langle z_i, w \rangle + \kappa n_i + c` of every node.

    :math:`z_i` are its views side by side, :math:`n_i` is its closeness to the known positives. The model holds how
    attributes are read, the direction w, one row for each view (of the smoothed view alone, or of all), the weight κ
    (``by_closeness``) and the constant c. It computes on the CPU.

    Args:
        num_features: number of attributes; a graph without any has structural ones.
    """

    uses_weights = True

    centre: Tensor
    scale: Tensor
    standardised: Tensor
    direction: Tensor
    by_closeness: Tensor
    constant: Tensor

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self._columns = num_features or WIDTH
        self._known: tuple[Graph, NDArray[np.int64]] | None = None
        for name in LinearModel.__annotations__:
            self.register_buffer(name, torch.empty(0, dtype=_TYPES.get(name, torch.float32)))

    @classmethod
    def ranking(
        cls, task: PUTask, attributes: Attributes, direction: NDArray[Any], share: float, by_closeness: float = 0.0
    ) -> LinearModel:
        """The model that ranks by a direction, shape ``(views, F)``, and by closeness to the known positives.

        It decides a share of the unlabelled nodes. Log-odds have the standard deviation 4 over these, and are 0 where
        the share ends.
        """
        graph = task.graph
        model = cls(graph.num_features)
        model.centre, model.scale = torch.tensor(attributes.centre), torch.tensor(attributes.scale)
        model.standardised = torch.tensor(attributes.standardised)
        model.direction = torch.from_numpy(np.array(direction, np.float32))
        model.by_closeness = torch.tensor(by_closeness, dtype=torch.float64)
        model.constant = torch.zeros((), dtype=torch.float64)
        model.know(graph, task.labelled)
        scores = model.scores(graph)[task.unlabelled]
        spread = scores.std(dtype=np.float64)
        if spread > EQUAL * np.abs(scores).max():
            model.direction *= SLOPE / spread
            model.by_closeness *= SLOPE / spread
            scores = model.scores(graph)[task.unlabelled]
        ordered = np.sort(scores.astype(np.float64))[::-1]
        last = count_above(share, len(ordered))
        model.constant -= ordered[last - 1 : last + 1].mean()
        return model.eval()

    @property
    def needs_known(self) -> bool:  # type: ignore[override]
        """If closeness counts."""
        return bool(self.by_closeness)

    def know(self, graph: Graph, positives: NDArray[np.int64]) -> None:
        """Remember the known positives of a graph."""
        self._known = graph, positives

    def known_in(self, graph: Graph) -> NDArray[np.int64]:
        """The known positives of a graph, if they were given last; otherwise none."""
        return self._known[1] if self._known is not None and self._known[0] is graph else np.zeros(0, np.int64)

    def seeds(self, graph: Graph) -> NDArray[np.float32]:
        """1 for the known positives of a graph and 0 for all other nodes, shape ``(N, 1)``."""
        seeds = np.zeros((graph.num_nodes, 1), np.float32)
        seeds[self.known_in(graph)] = 1.0
        return seeds

    def scores(self, graph: Graph) -> NDArray[np.float32]:
        """The log-odds of all nodes, but for the constant, shape ``(N,)``."""
        found: NDArray[np.float32] = (self.views(graph) @ self.direction.numpy()[:, :, None])[:, 0]
        if self.by_closeness and len(self.known_in(graph)):
            found += np.float32(self.by_closeness) * closeness(graph, self.seeds(graph))[:, 0]
        return found

    @property
    def attributes(self) -> Attributes:
        """How it reads the attributes of nodes."""
        return Attributes(self.centre.numpy(), self.scale.numpy(), bool(self.standardised))

    def views(self, graph: Graph) -> ViewMatrix:
        """The views that it reads."""
        return views_of(graph, self.attributes, tuple(VIEWS)[: len(self.direction)])

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        logits = torch.from_numpy(self.scores(inputs.graph)).double() + self.constant
        return Output(logits[:, None], logits)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name in LinearModel.__annotations__:
            setattr(self, name, torch.empty_like(state_dict[f"{prefix}{name}"]))  # sized as they were saved
        super()._load_from_state_dict(state_dict, prefix, *rest)
        width = self._columns + bool(self.standardised.numel() and self.standardised)
        views = min(max(1, len(self.direction)), len(VIEWS)) if self.direction.ndim else 1
        sizes = {"centre": (self._columns,), "scale": (self._columns,), "direction": (views, width)}
        for name in LinearModel.__annotations__:
            given, size = tuple(getattr(self, name).shape), sizes.get(name, ())
            if given != size:
                raise PugnnError(f"its weights {name} have the shape {given}, not {size}")
        if not (self.scale > 0).all():
            raise PugnnError("its weights scale must be positive")
