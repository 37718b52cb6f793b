"""The log-odds of nodes of a graph with several relations: a sum of linear models, each on a layer of the graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pugnn.errors import PugnnError, shorten
from pugnn.features.structure import WIDTH
from pugnn.graph import Graph
from pugnn.graph.layers import layers_of, structural
from pugnn.models.backbone import Backbone, Output
from pugnn.models.inputs import GraphInputs
from pugnn.views.attributes import Attributes
from pugnn.views.linear_model import LinearModel
from pugnn.views.view_matrix import ViewMatrix


class LayerModel(LinearModel):
    """A linear model on one layer: of the attributes of nodes, or of where in the layer they are."""

    layer: Tensor
    structural: Tensor

    def __init__(self, num_features: int) -> None:
        super().__init__(num_features)
        self.register_buffer("layer", torch.empty(0, dtype=torch.uint8))
        self.register_buffer("structural", torch.empty((), dtype=torch.bool))

    @classmethod
    def of(cls, layer: str, views: ViewMatrix, attributes: Attributes, direction: NDArray[np.float32]) -> LayerModel:
        """The part with a direction in the views of a layer, shape ``(views, F)``."""
        part = cls(views.graph.num_features)
        part.layer = torch.tensor(list(layer.encode()), dtype=torch.uint8)
        part.structural = torch.tensor(not views.graph.num_features)
        part.centre, part.scale = torch.tensor(attributes.centre), torch.tensor(attributes.scale)
        part.standardised = torch.tensor(attributes.standardised)
        part.direction = torch.from_numpy(direction.copy())
        part.by_closeness, part.constant = (torch.zeros((), dtype=torch.float64) for _ in range(2))
        return part

    @property
    def name(self) -> str:
        """That of its layer."""
        return bytes(self.layer.tolist()).decode()

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        self.layer = torch.empty_like(state_dict[f"{prefix}layer"])
        if state_dict[f"{prefix}structural"]:
            self._columns = WIDTH
        super()._load_from_state_dict(state_dict, prefix, *rest)
        try:
            _ = self.name
        except (TypeError, ValueError):
            raise PugnnError("its weights layer are not the name of a relation") from None


class LayeredModel(Backbone):
    """The sum of the log-odds of several parts, and a constant.

    Args:
        parts: linear models on layers.
    """

    uses_weights = True

    constant: Tensor

    def __init__(self, parts: list[LayerModel]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.register_buffer("constant", torch.zeros((), dtype=torch.float64))
        #: What was scored last: the graph, its known positives, and the log-odds but for the constant.
        self.scored_last: tuple[Graph, bytes, NDArray[np.float32]] | None = None
        self._known: tuple[Graph, NDArray[np.int64]] | None = None

    def __iter__(self) -> Iterator[LayerModel]:
        for part in self.parts:
            assert isinstance(part, LayerModel)
            yield part

    @property
    def needs_known(self) -> bool:  # type: ignore[override]
        """If closeness counts in a part."""
        return any(part.needs_known for part in self)

    def know(self, graph: Graph, positives: NDArray[np.int64]) -> None:
        """Remember the known positives of a graph."""
        self._known = graph, positives

    def known_in(self, graph: Graph) -> NDArray[np.int64]:
        """The known positives of a graph, if they were given last; otherwise none."""
        return self._known[1] if self._known is not None and self._known[0] is graph else np.zeros(0, np.int64)

    def on_layers(self, graph: Graph) -> Iterator[tuple[LayerModel, Graph]]:
        """Each part, which knows the known positives, and the layer that it scores."""
        layers = layers_of(graph)
        if missing := [part.name for part in self if part.name not in layers]:
            raise PugnnError(
                f"the model was trained with the relation {missing[0]!r}, but the graph has {shorten(layers)}. Give "
                "the same relations, under the same names."
            )
        for part in self:
            layer = structural(layers[part.name]) if part.structural else layers[part.name]
            part.know(layer, self.known_in(graph))
            yield part, layer

    def scores(self, graph: Graph) -> NDArray[np.float32]:
        """The log-odds of all nodes, but for the constant, shape ``(N,)``."""
        known = self.known_in(graph).tobytes()
        last = self.scored_last
        if last is None or last[0] is not graph or last[1] != known:
            found = np.zeros(graph.num_nodes, np.float32)
            for part, layer in self.on_layers(graph):
                found += part.scores(layer)[: graph.num_nodes]
            last = self.scored_last = graph, known, found
        return last[2]

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        logits = torch.from_numpy(self.scores(inputs.graph)).double() + self.constant
        return Output(logits[:, None], logits)
