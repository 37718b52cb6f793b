"""Batches: what one step of a training reads, and the loaders that hand them out.

A loader gives the whole graph, or, for graphs that are too large for that, some nodes with sampled neighbours.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from pugnn import processes
from pugnn.errors import PugnnError
from pugnn.graph import Graph, Neighbourhood, sample_neighbours
from pugnn.losses import Sets
from pugnn.models import Backbone, SampledInputs, inputs_on
from pugnn.regularisers import Pairs, sample_pairs
from pugnn.task import PUTask
from pugnn.threads import available_threads
from pugnn.training.settings import derive_seed, resolve_device

#: Neighbours that a node keeps in a step, at most. Models that were scored by samples count on it, see ``Scored``.
FAN_OUT = 10
#: Layers of every network that can read sampled neighbours.
HOPS = 2
#: Room for each of the smaller sets, as a share of the batch size: their means should not be poor estimates.
QUOTA = 0.25
#: Edges drawn for a regulariser, as a share of a batch. Each brings three nodes.
EDGES = 0.25
#: Threads that prepare batches, at most.
MAX_THREADS = 8

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Batch:
    """What one step of a training reads.

    Args:
        inputs: what the network reads, usually the inputs of a graph.
        sets: which rows of its output are labelled, unlabelled, near, …
        pairs: which rows are neighbours and which are not, for a regulariser on a part of the graph.
        epoch: number of the epoch, from 0, for objectives that change over time; these cannot be recorded and replayed.
    """

    inputs: Any
    sets: Sets
    pairs: Pairs | None = None
    epoch: int = 0


class Loader(Protocol):
    """Hands out the batch of each epoch.

    Attributes:
        graph: where they come from.
        device: where they are.
        replayable: all epochs have the same batch, so a step can be recorded and replayed.
        threads: so many batches are prepared at a time in the background; 0 if that takes no time.
    """

    graph: Graph
    device: torch.device
    replayable: bool
    threads: int

    def draw(self, seed: int) -> Batch:
        """The batch of one epoch; ``seed`` controls what is random about it."""


def require_one_process() -> None:
    """Raise if several processes would train on the same batch."""
    if processes.count() > 1:
        raise PugnnError(
            "the whole graph gains nothing from several processes. Give --batch-size and a --method that uses it, "
            "such as nnpu; or use one process."
        )


class FullGraph:
    """The simplest loader: the whole graph with its sets of nodes."""

    replayable = True
    threads = 0

    def __init__(self, graph: Graph, sets: Sets, device: str = "cpu") -> None:
        require_one_process()
        self.graph = graph
        self.device = resolve_device(device)
        self.batch = Batch(inputs_on(graph, self.device), sets.to(self.device))

    @classmethod
    def of(cls, task: PUTask, device: str) -> FullGraph:
        """The graph of a task with its sets of nodes."""
        return cls(task.graph, Sets.of(task.labelled, task.unlabelled, task.negative), device)

    def draw(self, seed: int) -> Batch:  # noqa: ARG002 (nothing is random here)
        """The whole graph."""
        return self.batch


class SampledGraph:
    """Each epoch is one batch: a random sample of the unlabelled nodes, the known ones, and neighbours of these.

    An epoch is one step, as on the whole graph, so a number of epochs means as many steps on graphs of any size.

    **Sets.** A batch has ``size`` unlabelled nodes, all equally likely. Near and far ones are those among them, with
    others added up to a quarter of ``size`` each, which do not count among the unlabelled. It has at most as many known
    positives, and known negatives. Sets with fewer nodes are in every batch as a whole; of the others, nodes are drawn
    anew in every epoch. The mean over a set in the batch is therefore an unbiased estimate of the mean over the whole
    set, and the gradient of a loss that is linear in such means is an unbiased estimate of that on the whole graph.
    Other losses depend on such means smoothly, or by the side of a bound on which they lie: their gradients approach
    that on the whole graph as the batch grows.

    **Neighbours** are drawn anew, too (:mod:`pugnn.graph.random`). Sums over them are unbiased; what a network makes
    of such sums is not, and approaches its output on the whole graph as ``fan_out`` grows.

    With several processes, each takes its share of every set. What is drawn depends on the seed alone.

    Args:
        graph: the whole graph.
        sets: positions of the nodes in it.
        size: unlabelled nodes in a batch, of all processes together.
        model: the network that will read the batches.
        device: where to put them.
        with_pairs: draw edges and non-neighbours, too, for a regulariser.
        fan_out: neighbours that a node keeps, at most.
    """

    replayable = False

    def __init__(
        self,
        graph: Graph,
        sets: Sets,
        size: int,
        model: Backbone,
        device: torch.device,
        *,
        with_pairs: bool = False,
        fan_out: int = FAN_OUT,
    ) -> None:
        self.graph, self.device = graph, device
        self.threads = background_threads()
        self._model, self._fan_out = model, fan_out
        names = ("unlabelled",) if sets.near is None else ("near", "far")
        self._nodes = {name: getattr(sets, name).numpy() for name in ("labelled", "negative", *names)}
        self._sizes = {name: sets.size(name) for name in (*self._nodes, "unlabelled")}
        self._size, self._quota = min(size, self._sizes["unlabelled"]), max(1, round(QUOTA * size))
        self._edges = max(1, round(EDGES * size)) if with_pairs else 0

    def draw(self, seed: int) -> Batch:
        """The batch of an epoch."""
        counts = self._counts(derive_seed(seed, 3))
        whole = {name: self._draw(name, counts, derive_seed(seed, 0, at)) for at, name in enumerate(self._nodes)}
        own = {name: processes.own_share(len(nodes)) for name, nodes in whole.items()}
        drawn = {name: nodes[own[name]] for name, nodes in whole.items()}
        seeds, pairs = list(drawn.values()), None
        if self._edges:
            share = processes.own_share(self._edges)
            pairs = sample_pairs(self.graph, self._edges, derive_seed(seed, 1), share)
            seeds.append(pairs.ends)
        options = {"fan_out": self._fan_out, "seed": derive_seed(seed, 2)}
        inputs, sample = sampled_inputs(self._model, self.graph, np.concatenate(seeds), self.device, **options)
        bounds = [0, *accumulate(map(len, seeds))]
        parts = [torch.from_numpy(sample.rows[begin:end]).to(self.device) for begin, end in pairwise(bounds)]
        rows = dict(zip(drawn, parts, strict=False))
        if "near" in rows:
            rows["unlabelled"] = torch.cat([rows[name][: max(0, counts[name] - own[name].start)] for name in counts])
        return Batch(inputs, Sets(**rows, sizes=self._sizes), None if pairs is None else pairs.as_rows(parts[-1]))

    def _counts(self, seed: int) -> dict[str, int]:
        """How many of the unlabelled nodes in a batch are near, and far."""
        if "near" not in self._nodes:
            return {"unlabelled": self._size}
        places = np.random.default_rng(seed).choice(self._sizes["unlabelled"], self._size, replace=False)
        near = int((places < self._sizes["near"]).sum())
        return {"near": near, "far": self._size - near}

    def _draw(self, name: str, counts: dict[str, int], seed: int) -> NDArray[np.int64]:
        """The nodes of a set in a batch, in random order unless all of them count."""
        nodes: NDArray[np.int64] = self._nodes[name]
        count = counts.get(name, self._quota)
        if len(nodes) <= count:
            return nodes
        return nodes[np.random.default_rng(seed).choice(len(nodes), min(len(nodes), max(count, self._quota)), False)]


def sampled_inputs(
    model: Backbone, graph: Graph, nodes: NDArray[np.int64], device: torch.device, fan_out: int = FAN_OUT, seed: int = 0
) -> tuple[SampledInputs, Neighbourhood]:
    """What a network reads of some nodes and their sampled neighbours, and the sample."""
    sample = sample_neighbours(graph, nodes, hops=HOPS if model.reads_edges else 0, fan_out=fan_out, seed=seed)
    inputs = SampledInputs(graph, sample, device)
    if model.neighbours is not None:
        getattr(inputs, model.neighbours)  # computed now: the thread that trains has other things to do
    return inputs, sample


def background_threads() -> int:
    """How many threads prepare batches."""
    return min(MAX_THREADS, available_threads())


@contextmanager
def prefetch(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Iterator[Result]]:
    """The results of a function, in the order of the items, as those of :func:`map`, computed ahead of their use.

    ``threads`` items are worked on at a time, and as many results wait at most. Without threads, each is worked on when
    it is asked for.

    Example:
        >>> with prefetch(str.upper, ["a", "b", "c"], threads=2) as results:
        ...     list(results)
        ['A', 'B', 'C']
    """
    if not threads:
        yield map(function, items)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="pugnn") as pool:

        def results() -> Iterator[Result]:
            waiting: deque[Future[Result]] = deque()
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

        try:
            yield results()
        finally:
            pool.shutdown(cancel_futures=True)
