"""Batches: what one step of a training reads, and the loader that hands them out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch

from pugnn import processes
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.losses import Sets
from pugnn.models import GraphInputs, inputs_on
from pugnn.regularisers import Pairs
from pugnn.task import PUTask
from pugnn.training.device import resolve_device


@dataclass(frozen=True)
class Batch:
    """What one step of a training reads.

    Args:
        inputs: what the network reads.
        sets: which rows of its output are labelled, unlabelled, near, …
        pairs: which rows are neighbours and which are not, where the loss compares them and the batch is a part of the
            graph.
    """

    inputs: GraphInputs
    sets: Sets
    pairs: Pairs | None = None


class Loader(Protocol):
    """Hands out the batches of each epoch.

    Attributes:
        graph: where they come from.
        device: where they are.
        replayable: all epochs consist of the same single batch, so that one can be recorded and replayed.
        threads: batches of so many epochs are prepared at a time in the background; 0 if that takes no time.
    """

    graph: Graph
    device: torch.device
    replayable: bool
    threads: int

    def batches(self, seed: int) -> Iterator[Batch]:
        """The batches of one epoch; ``seed`` controls what is random about them."""


class FullGraph:
    """The simplest loader: every epoch is one batch, the whole graph with its sets of nodes."""

    replayable = True
    threads = 0

    def __init__(self, graph: Graph, sets: Sets, device: str = "cpu") -> None:
        if processes.count() > 1:
            raise PugnnError(
                "the whole graph as one batch gains nothing from several processes. Give --batch-size, or train in one "
                "process, without torchrun."
            )
        self.graph = graph
        self.device = resolve_device(device)
        self.batch = Batch(inputs_on(graph, self.device), sets.to(self.device))

    @classmethod
    def of(cls, task: PUTask, device: str) -> FullGraph:
        """The graph of a task with its sets of nodes."""
        return cls(task.graph, Sets.of(task.labelled, task.unlabelled, task.negative), device)

    def batches(self, seed: int) -> Iterator[Batch]:  # noqa: ARG002 (nothing is random here)
        """The whole graph, once."""
        yield self.batch
