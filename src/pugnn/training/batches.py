"""Batches: what one step of a training reads, and the loader that hands them out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from pugnn import processes
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.losses import Sets
from pugnn.models import GraphInputs, RowInputs, inputs_on
from pugnn.models.views.rows import Rows
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
        has_edges: its batches have edges; without them, only networks that read none can be trained.
        threads: batches of so many epochs are prepared at a time in the background; 0 if that takes no time.
    """

    graph: Graph
    device: torch.device
    replayable: bool
    has_edges: bool
    threads: int

    def batches(self, seed: int) -> Iterator[Batch]:
        """The batches of one epoch; ``seed`` controls what is random about them."""


class FullGraph:
    """The simplest loader: every epoch is one batch, the whole graph with its sets of nodes."""

    replayable = True
    has_edges = True
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


class RowBatches:
    """Each epoch is one batch of rows: those of all known positives, of all known negatives, then of a random sample of
    the unlabelled nodes.

    Every epoch draws another sample, so that means over it are unbiased estimates of the means over all. Where there
    are no more than ``size`` unlabelled nodes, every batch holds all of them, in the same order.

    Several processes share each batch: every one takes its own share of the known positives, of the known negatives
    and of the sample (:func:`pugnn.processes.own_share`).

    Args:
        graph: where the nodes come from.
        rows: what the network reads of each node, shape ``(N, d)``.
        sets: positions of the labelled and of the unlabelled nodes, and of known negatives.
        size: unlabelled nodes in a batch, at most.
    """

    replayable = False
    has_edges = False
    threads = 0

    def __init__(self, graph: Graph, rows: Rows, sets: Sets, size: int) -> None:
        self.graph, self.device = graph, rows.device
        self._rows, self._unlabelled = rows, sets.unlabelled
        self._size = min(size, len(sets.unlabelled))
        counts = [len(sets.labelled), len(sets.negative), self._size]
        own = [processes.own_share(count) for count in counts]
        self._known, self._share = torch.cat([sets.labelled[own[0]], sets.negative[own[1]]]), own[2]
        labelled, negative, unlabelled = _ranges([share.stop - share.start for share in own])
        sizes = {name: sets.size(name) for name in ("labelled", "negative", "unlabelled")}
        self._sets = Sets(labelled, unlabelled, negative, sizes=sizes).to(self.device)
        self._places: Tensor | None = None
        if processes.count() > 1:
            whole = _ranges(counts)
            places = torch.cat([rows[share] for rows, share in zip(whole, own, strict=True)])
            self._places = places.to(self.device)
        self._whole = self._batch(sets.unlabelled[self._share]) if self._size == len(sets.unlabelled) else None

    def batches(self, seed: int) -> Iterator[Batch]:
        """The batch of an epoch."""
        if self._whole is not None:
            yield self._whole
        else:
            yield self._batch(self._unlabelled[self._draw(seed)[self._share]])

    def _draw(self, seed: int) -> Tensor:
        """A sample of the unlabelled nodes, by their places among them."""
        count = len(self._unlabelled)
        if self.device.type == "cuda":  # with repeats, which are as unbiased: others would be drawn on the host
            generator = torch.Generator(self.device).manual_seed(seed)
            return torch.randint(count, (self._size,), generator=generator, device=self.device)
        return torch.from_numpy(np.random.default_rng(seed).choice(count, self._size, replace=False))

    def _batch(self, unlabelled: Tensor) -> Batch:
        return Batch(RowInputs(self._rows[torch.cat([self._known, unlabelled])], self._places), self._sets)


def _ranges(lengths: list[int]) -> list[Tensor]:
    """The numbers from 0 in parts of these lengths."""
    return [torch.arange(end - length, end) for length, end in zip(lengths, accumulate(lengths), strict=True)]
