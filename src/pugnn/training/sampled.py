"""Batches of nodes with sampled neighbours, for networks on graphs that are too large for one batch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import accumulate, pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn import processes
from pugnn.graph import Graph, Neighbourhood, sample_neighbours
from pugnn.losses import Sets
from pugnn.models import Backbone, SampledInputs
from pugnn.regularisers import sample_pairs
from pugnn.threads import available_threads
from pugnn.training.ahead import ahead
from pugnn.training.batches import Batch
from pugnn.training.seeds import derive_seed
from pugnn.waiting import status_line

#: Neighbours that a node keeps in a step, at most. Models that were scored by samples count on it, see ``Scored``.
FAN_OUT = 10
#: Layers of every network that can read sampled neighbours.
HOPS = 2
#: Room for each of the smaller sets, as a share of the batch size: their means should not be poor estimates.
QUOTA = 0.25
#: Edges drawn for a regulariser, as a share of a batch. Each brings three nodes.
EDGES = 0.25
#: Nodes scored at a time.
SCORED = 8192
#: Threads that prepare batches, at most.
MAX_THREADS = 8


class SampledGraph:
    """Each epoch is one batch: a random sample of the unlabelled nodes, the known ones, and neighbours of these.

    An epoch is one step, as on the whole graph, so that a number of epochs means as many steps on graphs of any size.

    **Sets.** A batch has ``size`` unlabelled nodes, all equally likely. Near and far ones are those among them, with
    others added up to a quarter of ``size`` each, which do not count among the unlabelled. It has at most as many known
    positives, and known negatives. Sets with fewer nodes are in every batch as a whole; of the others, nodes are drawn
    anew in every epoch. The mean over a set in the batch is therefore an unbiased estimate of the mean over the whole
    set, and the gradient of a loss that is linear in such means is an unbiased estimate of that on the whole graph.
    Other losses depend on such means smoothly, or by the side of a bound on which they lie: their gradients approach
    that on the whole graph as the batch grows.

    **Neighbours** are drawn anew, too (:mod:`pugnn.graph.sampling`). Sums over them are unbiased; what a network makes
    of such sums is not, and approaches its output on the whole graph as ``fan_out`` grows.

    With several processes, each takes its share of every set. What is drawn depends on the seed alone.

    Args:
        graph: the whole graph.
        sets: positions of the nodes in it.
        size: unlabelled nodes in a batch, of all processes together.
        model: the network that will read the batches.
        device: where they shall be.
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
        self._neighbours, self._hops, self._fan_out = model.neighbours, HOPS if model.reads_edges else 0, fan_out
        names = ("unlabelled",) if sets.near is None else ("near", "far")
        self._nodes = {name: getattr(sets, name).numpy() for name in ("labelled", "negative", *names)}
        self._sizes = {name: sets.size(name) for name in (*self._nodes, "unlabelled")}
        self._size, self._quota = min(size, self._sizes["unlabelled"]), max(1, round(QUOTA * size))
        self._edges = max(1, round(EDGES * size)) if with_pairs else 0

    def batches(self, seed: int) -> Iterator[Batch]:
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
        sample = sample_neighbours(
            self.graph, np.concatenate(seeds), hops=self._hops, fan_out=self._fan_out, seed=derive_seed(seed, 2)
        )
        inputs = SampledInputs(self.graph, sample, self.device)
        if self._neighbours is not None:
            getattr(inputs, self._neighbours)  # computed here: the training may have other things to do
        bounds = [0, *accumulate(map(len, seeds))]
        parts = [torch.from_numpy(sample.rows[begin:end]).to(self.device) for begin, end in pairwise(bounds)]
        rows = dict(zip(drawn, parts, strict=False))
        if "near" in rows:
            rows["unlabelled"] = torch.cat([rows[name][: max(0, counts[name] - own[name].start)] for name in counts])
        yield Batch(inputs, Sets(**rows, sizes=self._sizes), None if pairs is None else pairs.as_rows(parts[-1]))

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
    model: Backbone, graph: Graph, nodes: NDArray[np.int64], device: torch.device
) -> tuple[SampledInputs, Neighbourhood]:
    """What a network reads to score some nodes: neighbours that are sampled as in training, always the same ones."""
    sample = sample_neighbours(graph, nodes, hops=HOPS, fan_out=FAN_OUT, seed=0)
    inputs = SampledInputs(graph, sample, device)
    if model.neighbours is not None:
        getattr(inputs, model.neighbours)
    return inputs, sample


def sampled_logits(model: Backbone, graph: Graph, device: torch.device) -> Tensor:
    """The logit of every node of a graph, from sampled neighbours."""
    parts = (np.arange(start, min(start + SCORED, graph.num_nodes)) for start in range(0, graph.num_nodes, SCORED))
    prepare = partial(sampled_inputs, model, graph, device=device)
    found, done = [], 0
    with ahead(prepare, parts, background_threads()) as prepared, status_line() as line:
        line.say("scoring the nodes")
        for inputs, sample in prepared:
            found.append(model(inputs).logit[: len(sample.rows)])
            done += len(sample.rows)
            line.update(f"scoring the nodes: {done:,} of {graph.num_nodes:,}")
    return torch.cat(found)


def background_threads() -> int:
    """How many threads prepare batches: as many as there are, within bounds."""
    return min(MAX_THREADS, available_threads())
