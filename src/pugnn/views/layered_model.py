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
from pugnn.views.attributes import Attributes
from pugnn.views.linear_model import LinearModel
from pugnn.views.ranking_model import RankingModel
from pugnn.views.view_matrix import ViewMatrix


class LayerModel(LinearModel):
    """A linear model on one layer: of the attributes of nodes, or of their place in the layer."""

    layer: Tensor
    structural: Tensor

    def __init__(self, num_features: int) -> None:
        super().__init__(num_features)
        self.register_buffer("layer", torch.empty(0, dtype=torch.uint8))
        self.register_buffer("structural", torch.empty((), dtype=torch.bool))

    @classmethod
    def on_layer(cls, name: str, views: ViewMatrix, direction: NDArray[np.float32]) -> LayerModel:
        """The model with a direction, shape ``(views, F)``, in the views of a layer."""
        graph = views.graph
        model = cls.of_direction(graph.num_features, Attributes.of(graph), direction)
        assert isinstance(model, LayerModel)
        model.layer = torch.tensor(list(name.encode()), dtype=torch.uint8)
        model.structural = torch.tensor(not graph.num_features)
        return model

    @property
    def name(self) -> str:
        """The name of its layer."""
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


class LayeredModel(RankingModel):
    """The sum of the scores of several models on layers.

    Args:
        parts: the models.
    """

    def __init__(self, parts: list[LayerModel]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self._last_scores: tuple[Graph, bytes, NDArray[np.float32]] | None = None

    def __iter__(self) -> Iterator[LayerModel]:
        for part in self.parts:
            assert isinstance(part, LayerModel)
            yield part

    @property
    def needs_known(self) -> bool:  # type: ignore[override]
        """Whether closeness counts in a part."""
        return any(part.needs_known for part in self)

    def on_layers(self, graph: Graph) -> Iterator[tuple[LayerModel, Graph]]:
        """Each part, which is given the known positives, and the layer that it scores."""
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
        """Log-odds of all nodes without the constant, shape ``(N,)``; those of the last graph are kept."""
        known = self.known_in(graph).tobytes()
        if self._last_scores is None or self._last_scores[0] is not graph or self._last_scores[1] != known:
            scores = np.zeros(graph.num_nodes, np.float32)
            for part, layer in self.on_layers(graph):
                scores += part.scores(layer)[: graph.num_nodes]
            self._last_scores = graph, known, scores
        return self._last_scores[2]

    def remember_scores(self, graph: Graph, scores: NDArray[np.float32] | None) -> None:
        """Take scores as those of a graph, without smoothing every layer again; ``None`` forgets them."""
        known = self.known_in(graph).tobytes()
        self._last_scores = None if scores is None else (graph, known, scores)
