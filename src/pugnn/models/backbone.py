"""The small interface that every backbone follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from pugnn.models.dropout import dropout
from pugnn.models.inputs import GraphInputs
from pugnn.models.sparse import SparseMatrix
from pugnn.registry import Registry


class Output(NamedTuple):
    """What a backbone says of each node.

    Attributes:
        embedding: the representation *z* **before** any ReLU, shape ``(N, d)``. (A ReLU would make all
            products of two embeddings non-negative and every similarity at least one half.)
        logit: log-odds of being positive, shape ``(N,)``.
    """

    embedding: Tensor
    logit: Tensor


class Backbone(nn.Module):
    """A graph neural network with one output.

    Attributes:
        reads_edges: it reads edges, and not features alone.
        first_layer: the module whose parameters get weight decay (Kipf & Welling decay the first layer alone).
        uses_weights: edge weights play a part.
        replayable: an epoch can be recorded as a CUDA graph; not if the host looks at values on the way.
        nodewise_head: the way from embedding to logit asks no neighbours, and :meth:`logits` computes it.
    """

    first_layer: nn.Module
    reads_edges: bool = True
    uses_weights: bool = False
    replayable: bool = True
    nodewise_head: bool = False

    def forward(self, inputs: GraphInputs) -> Output:
        """Score every node of a graph."""
        raise NotImplementedError

    def logits(self, embedding: Tensor) -> Tensor:
        """Logits of nodes with these embeddings, ``(M, d)`` to ``(M,)``, where ``nodewise_head`` says that it can."""
        raise NotImplementedError


#: Every backbone by its name on the command line: a factory that takes ``num_features``, ``hidden`` and ``dropout``.
BACKBONES: Registry[Callable[..., Backbone]] = Registry("backbone", "pugnn.backbones", "pugnn.models")


class InputLinear(nn.Module):
    """Dropout and a linear map of the features, which may be sparse and stay so.

    Args:
        num_features: F.
        out: number of outputs.
        dropout: share of the features (non-zero ones, where sparse) set to zero in training.
        bias: add a bias.
    """

    def __init__(self, num_features: int, out: int, *, dropout: float, bias: bool = False) -> None:
        super().__init__()
        self.linear = linear(num_features, out, bias=bias)
        self.dropout = dropout

    def forward(self, features: Tensor | SparseMatrix) -> Tensor:
        """Map features of shape ``(N, F)`` to ``(N, out)``."""
        if isinstance(features, SparseMatrix):
            mapped = features.dropout(self.dropout, self.training) @ self.linear.weight.t()
            return mapped if self.linear.bias is None else mapped + self.linear.bias
        return F.linear(dropout(features, self.dropout, self.training), self.linear.weight, self.linear.bias)


def linear(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
    """A linear layer initialised as Glorot & Bengio do, with a zero bias."""
    layer = nn.Linear(inputs, outputs, bias=bias)
    nn.init.xavier_uniform_(layer.weight)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer
