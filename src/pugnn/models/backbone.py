"""The interface of a backbone, and how one is made."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from pugnn.errors import PugnnError, require_number, require_whole
from pugnn.graph import Graph
from pugnn.models.dropout import dropout
from pugnn.models.inputs import GraphInputs
from pugnn.models.sparse import SparseMatrix
from pugnn.registry import Registry

#: A larger hidden layer is surely a typing error.
MAX_HIDDEN = 65_536


class Output(NamedTuple):
    """Embeddings *z* **before** any ReLU, shape ``(N, d)``, and logits, shape ``(N,)``.

    (After a ReLU, all inner products are non-negative, so every similarity would be at least one half.)
    """

    embedding: Tensor
    logit: Tensor


class Scored(NamedTuple):
    """How the graph of a training was scored, so that it is scored the same way again, however much memory is free.

    ``reduced``: with less memory, from sampled neighbours. ``nodes`` and ``entries``: of the graph and its adjacency.
    """

    reduced: bool
    nodes: int
    entries: int


class Backbone(nn.Module):
    """A graph neural network with one output per node.

    Backbones are built from ``num_features`` (F), ``hidden`` (d, the size of the hidden layer and the embedding) and
    ``dropout`` (before each layer, in training); their docstrings list further arguments.

    Attributes:
        first_layer: the only module with weight decay (as in Kipf & Welling).
        head: the layer after the embedding, where logits can be computed from embeddings alone.
        dropout: share of the inputs of a layer.
        reads_edges: whether it reads edges, and not features alone.
        neighbours: through which attribute of its inputs it reads neighbours, if it has two layers that may read a
            sample of them; ``None`` if it can only be trained on the whole graph.
        uses_weights: whether edge weights matter.
        replayable: whether a step can be recorded as a CUDA graph; the host must not read values in between.
        nodewise_head: whether :meth:`logits` can compute logits from embeddings alone.
        needs_known: whether it scores a graph by its known positives, too (:meth:`know`).
        scored: how it has scored the graph of its training; ``None`` before.
    """

    first_layer: nn.Module
    head: nn.Module | None
    dropout: float
    reads_edges: bool = True
    neighbours: str | None = None
    uses_weights: bool = False
    replayable: bool = True
    nodewise_head: bool = False
    needs_known: bool = False
    scored: Scored | None = None

    def know(self, graph: Graph, positives: NDArray[np.int64]) -> None:
        """Learn the positions of the known positives in a graph that is to be scored."""

    def reduces(self, graph: Graph) -> bool | None:
        """Whether to score a graph with less memory; ``None`` if the free memory decides.

        It does before the graph of the training was scored, and for larger graphs.
        """
        if self.scored is None:
            return None
        larger = graph.num_nodes > self.scored.nodes or len(graph.indices) > self.scored.entries
        return None if larger and not self.scored.reduced else self.scored.reduced

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        raise NotImplementedError

    def logits(self, embedding: Tensor, places: Tensor | None = None) -> Tensor:
        """Logits for these embeddings, ``(M, d)`` to ``(M,)``: a ReLU, dropout and ``head``; needs ``nodewise_head``.

        ``places`` are numbers of the rows, on which dropout depends.
        """
        assert self.head is not None
        logit: Tensor = self.head(self.drop(F.relu(embedding), places))
        return logit.squeeze(1)

    def drop(self, x: Tensor, places: Tensor | None = None) -> Tensor:
        """Dropout, in training; see :func:`pugnn.models.dropout.dropout`."""
        return dropout(x, self.dropout, self.training, places)


#: Every backbone by its name on the command line: a factory that takes ``num_features``, ``hidden`` and ``dropout``.
BACKBONES: Registry[Callable[..., Backbone]] = Registry("backbone", "pugnn.backbones", "pugnn.models")
#: A registered name, a factory such as the class of a network, or a network to start from.
BackboneLike = str | Callable[..., Backbone] | Backbone


def make_backbone(
    backbone: BackboneLike, num_features: int, *, hidden: int, dropout: float, **options: Any
) -> Backbone:
    """Build a backbone with its own ``options``; weights come from torch's global generator.

    ``backbone`` is a registered name; a factory, called with the other arguments; or a network, which is copied.
    """
    if num_features == 0:
        raise PugnnError(
            "the graph has no features, and a graph neural network needs some. Without attributes, "
            "give each node its own: features=scipy.sparse.eye_array(number_of_nodes, format='csr')"
        )
    require_sizes(hidden, dropout)
    if isinstance(backbone, Backbone):
        return copy.deepcopy(backbone)
    make = BACKBONES[backbone] if isinstance(backbone, str) else backbone
    made = make(num_features, hidden=hidden, dropout=dropout, **options)
    if not isinstance(made, Backbone):
        raise PugnnError(f"{backbone_name(backbone)} made a {type(made).__name__}, not a pugnn.models.Backbone")
    return made


def require_sizes(hidden: int, dropout: float) -> None:
    """Raise unless a network can have this size of the hidden layer and this dropout."""
    require_whole("hidden", hidden, 1, MAX_HIDDEN)
    require_number("dropout", dropout)
    if not 0.0 <= dropout < 1.0:
        raise PugnnError(f"dropout must lie in [0, 1), got {dropout}")


def backbone_name(backbone: BackboneLike) -> str:
    """Its name in messages and records."""
    return backbone if isinstance(backbone, str) else getattr(backbone, "__qualname__", type(backbone).__qualname__)


class InputLinear(nn.Module):
    """Dropout and a linear map of dense or sparse features; of sparse ones, only non-zero entries are dropped."""

    def __init__(self, num_features: int, out: int, *, dropout: float, bias: bool = False) -> None:
        super().__init__()
        self.linear = linear(num_features, out, bias=bias)
        self.dropout = dropout

    def forward(self, features: Tensor | SparseMatrix, places: Tensor | None = None) -> Tensor:
        """Map features of shape ``(N, F)`` to ``(N, out)``; ``places`` are numbers of the rows, for dropout."""
        if isinstance(features, SparseMatrix):
            mapped = features.dropout(self.dropout, self.training) @ self.linear.weight.t()
            return mapped if self.linear.bias is None else mapped + self.linear.bias
        return F.linear(dropout(features, self.dropout, self.training, places), self.linear.weight, self.linear.bias)


def size_of_heads(hidden: int, heads: int) -> int:
    """The outputs of each of several attention heads."""
    if hidden % heads:
        raise PugnnError(f"hidden={hidden} must be a multiple of the number of attention heads, {heads}")
    return hidden // heads


def linear(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
    """A linear layer with Glorot initialisation and zero bias."""
    layer = nn.Linear(inputs, outputs, bias=bias)
    nn.init.xavier_uniform_(layer.weight)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer
