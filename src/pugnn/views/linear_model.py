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
from pugnn.task import PUTask
from pugnn.views.attributes import Attributes
from pugnn.views.ranking_model import LOG_ODDS_SPREAD, ROUNDING_SPREAD, RankingModel
from pugnn.views.view import VIEWS
from pugnn.views.view_matrix import ViewMatrix, views_of
from pugnn.views.walks import closeness

#: Buffers of a model, sized by its training data, and their types.
_BUFFERS = {
    "centre": torch.float32,
    "scale": torch.float32,
    "standardised": torch.bool,
    "direction": torch.float32,
    "by_closeness": torch.float64,
}


class LinearModel(RankingModel):
    r"""The logit :math:`\langle z_i, w \rangle + \kappa n_i + c` of every node.

    :math:`z_i` are the views of node i side by side, :math:`n_i` is its closeness to the known positives. The model
    holds how attributes are read, the direction w, one row for each view (of the smoothed view alone, or of all), the
    weight κ (``by_closeness``) and the constant c.

    Args:
        num_features: number of attributes; a graph without any has structural ones.
    """

    centre: Tensor
    scale: Tensor
    standardised: Tensor
    direction: Tensor
    by_closeness: Tensor

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self._columns = num_features or WIDTH
        for name, dtype in _BUFFERS.items():
            self.register_buffer(name, torch.empty(0, dtype=dtype))

    @classmethod
    def of_direction(
        cls, num_features: int, attributes: Attributes, direction: NDArray[Any], closeness_weight: float = 0.0
    ) -> LinearModel:
        """The model with a direction, shape ``(views, F)``, and a weight of closeness; its constant is 0."""
        model = cls(num_features)
        model.centre, model.scale = torch.tensor(attributes.centre), torch.tensor(attributes.scale)
        model.standardised = torch.tensor(attributes.standardised)
        model.direction = torch.from_numpy(np.array(direction, np.float32))
        model.by_closeness = torch.tensor(closeness_weight, dtype=torch.float64)
        return model

    @classmethod
    def ranking(
        cls, task: PUTask, attributes: Attributes, direction: NDArray[Any], share: float, closeness_weight: float = 0.0
    ) -> LinearModel:
        """The model that ranks the nodes of a task by a direction and closeness, and decides a share of them positive.

        Its log-odds have the standard deviation 4 over the unlabelled nodes, and are 0 where the share ends.
        """
        model = cls.of_direction(task.graph.num_features, attributes, direction, closeness_weight)
        model.know(task.graph, task.labelled)
        scores = model.scores(task.graph)[task.unlabelled]
        spread = scores.std(dtype=np.float64)
        if spread > ROUNDING_SPREAD * np.abs(scores).max():
            model.scale_by(LOG_ODDS_SPREAD / spread)
        model.decide(task, share)
        return model.eval()

    def scale_by(self, factor: float) -> None:
        """Multiply all scores by a factor."""
        self.direction *= factor
        self.by_closeness *= factor

    @property
    def needs_known(self) -> bool:  # type: ignore[override]
        """Whether closeness counts."""
        return bool(self.by_closeness)

    def seeds(self, graph: Graph) -> NDArray[np.float32]:
        """1 for the known positives of a graph and 0 for all other nodes, shape ``(N, 1)``."""
        seeds = np.zeros((graph.num_nodes, 1), np.float32)
        seeds[self.known_in(graph)] = 1.0
        return seeds

    def scores(self, graph: Graph) -> NDArray[np.float32]:
        """Log-odds of all nodes without the constant, shape ``(N,)``."""
        scores: NDArray[np.float32] = (self.views(graph) @ self.direction.numpy()[:, :, None])[:, 0]
        if self.by_closeness and len(self.known_in(graph)):
            scores += np.float32(self.by_closeness) * closeness(graph, self.seeds(graph))[:, 0]
        return scores

    @property
    def attributes(self) -> Attributes:
        """How it reads the attributes of nodes."""
        return Attributes(self.centre.numpy(), self.scale.numpy(), bool(self.standardised))

    def views(self, graph: Graph) -> ViewMatrix:
        """The views that it reads."""
        return views_of(graph, self.attributes, tuple(VIEWS)[: len(self.direction)])

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name in (*_BUFFERS, "constant"):
            setattr(self, name, torch.empty_like(state_dict[f"{prefix}{name}"]))  # sized as they were saved
        super()._load_from_state_dict(state_dict, prefix, *rest)
        width = self._columns + bool(self.standardised.numel() and self.standardised)
        views = min(max(1, len(self.direction)), len(VIEWS)) if self.direction.ndim else 1
        shapes = {"centre": (self._columns,), "scale": (self._columns,), "direction": (views, width)}
        for name in (*_BUFFERS, "constant"):
            shape, expected = tuple(getattr(self, name).shape), shapes.get(name, ())
            if shape != expected:
                raise PugnnError(f"its weights {name} have the shape {shape}, not {expected}")
        if not (self.scale > 0).all():
            raise PugnnError("its weights scale must be positive")
