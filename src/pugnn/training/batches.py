"""Batches: what one step of a training reads, and the loader that hands them out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from pugnn.graph import Graph
from pugnn.losses import Sets
from pugnn.models import GraphInputs, RowInputs, inputs_on
from pugnn.models.rows import Rows
from pugnn.task import PUTask
from pugnn.training.device import resolve_device


@dataclass(frozen=True)
class Batch:
    """What one step of a training reads.

    Args:
        inputs: what the network reads.
        sets: which rows of its output are labelled, unlabelled, near, …
    """

    inputs: GraphInputs
    sets: Sets


class Loader(Protocol):
    """Hands out the batches of each epoch.

    Attributes:
        graph: where they come from.
        device: where they are.
        replayable: all epochs consist of the same single batch, so that one can be recorded and replayed.
        has_edges: its batches have edges; without them, only networks that read none can be trained.
    """

    graph: Graph
    device: torch.device
    replayable: bool
    has_edges: bool

    def batches(self, seed: int) -> Iterator[Batch]:
        """The batches of one epoch; ``seed`` controls what is random about them."""


class FullGraph:
    """The simplest loader: every epoch is one batch, the whole graph with its sets of nodes."""

    replayable = True
    has_edges = True

    def __init__(self, graph: Graph, sets: Sets, device: str = "cpu") -> None:
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


class RowBatches:
    """Each epoch is one batch of rows: those of all known positives, of all known negatives, then of a random sample of
    the unlabelled nodes.

    Every epoch draws another sample, so that means over it are unbiased estimates of the means over all. Where there
    are no more than ``size`` unlabelled nodes, every batch holds all of them, in the same order.

    Args:
        graph: where the nodes come from.
        rows: what the network reads of each node, shape ``(N, d)``.
        sets: positions of the labelled and of the unlabelled nodes, and of known negatives.
        size: unlabelled nodes in a batch, at most.
    """

    replayable = False
    has_edges = False

    def __init__(self, graph: Graph, rows: Rows, sets: Sets, size: int) -> None:
        self.graph, self.device = graph, rows.device
        self._rows, self._known, self._unlabelled = rows, torch.cat([sets.labelled, sets.negative]), sets.unlabelled
        self._size = min(size, len(sets.unlabelled))
        known, positive = len(self._known), len(sets.labelled)
        labelled, negative = torch.arange(positive), torch.arange(positive, known)
        self._sets = Sets(labelled, torch.arange(known, known + self._size), negative).to(self.device)
        self._whole = self._batch(sets.unlabelled) if self._size == len(sets.unlabelled) else None

    def batches(self, seed: int) -> Iterator[Batch]:
        """The batch of an epoch."""
        if self._whole is not None:
            yield self._whole
        else:
            chosen = np.random.default_rng(seed).choice(len(self._unlabelled), self._size, replace=False)
            yield self._batch(self._unlabelled[torch.from_numpy(chosen).to(self.device)])

    def _batch(self, unlabelled: Tensor) -> Batch:
        return Batch(RowInputs(self._rows[torch.cat([self._known, unlabelled])]), self._sets)
