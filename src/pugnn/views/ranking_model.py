"""What linear models of views have in common: they score whole graphs, and know the positives there."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.graph import Graph
from pugnn.models.backbone import Backbone, Output
from pugnn.models.inputs import GraphInputs
from pugnn.task import PUTask

#: Standard deviation of log-odds over the unlabelled nodes: scores turn from undecided to confident within one.
LOG_ODDS_SPREAD = 4.0
#: Scores whose spread is at most this share of the largest one differ by rounding alone, and rank nothing.
ROUNDING_SPREAD = 1e-6


def count_above(share: float, count: int) -> int:
    """Number of nodes, of ``count``, above a cut-off for a share of them: at least one, and not all."""
    return min(max(1, round(share * count)), max(1, count - 1))


class RankingModel(Backbone):
    """Log-odds of all nodes of a graph: :meth:`scores`, and a constant that decides how many are positive.

    Closeness to known positives may count in the scores. It computes on the CPU.
    """

    uses_weights = True

    constant: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("constant", torch.zeros((), dtype=torch.float64))
        self._known: tuple[Graph, NDArray[np.int64]] | None = None

    @abstractmethod
    def scores(self, graph: Graph) -> NDArray[np.float32]:
        """Log-odds of all nodes without the constant, shape ``(N,)``."""

    def know(self, graph: Graph, positives: NDArray[np.int64]) -> None:
        """Remember the known positives of a graph, in place of those of another graph."""
        self._known = graph, positives

    def known_in(self, graph: Graph) -> NDArray[np.int64]:
        """Known positives of a graph; none if those of another graph were given last."""
        return self._known[1] if self._known is not None and self._known[0] is graph else np.zeros(0, np.int64)

    def decide(self, task: PUTask, share: float) -> None:
        """Set the constant so that this share of the unlabelled nodes has log-odds above 0."""
        ordered = np.sort(self.scores(task.graph)[task.unlabelled].astype(np.float64))[::-1]
        last = count_above(share, len(ordered))
        self.constant = torch.tensor(-ordered[last - 1 : last + 1].mean(), dtype=torch.float64)

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        logits = torch.from_numpy(self.scores(inputs.graph)).double() + self.constant
        return Output(logits[:, None], logits)
