"""Scores of all nodes of a graph by a trained network: in one pass, or from sampled neighbours if memory is short."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.models import Backbone, Scored, inputs_on
from pugnn.threads import threads_for
from pugnn.training.batches import background_threads, prefetch, sampled_inputs
from pugnn.training.planning import scores_whole
from pugnn.waiting import status_line

#: Nodes scored at a time.
SCORED = 8192


@torch.no_grad()
def log_odds(model: Backbone, graph: Graph) -> Tensor:
    """Log-odds of being positive for every node of a graph, shape ``(N,)``, in double precision on the CPU."""
    device = _device_of(model)
    with current_device(device), threads_for(graph.num_nodes * graph.num_features):
        if scores_whole(graph, model, str(device)):
            logit: Tensor = model.eval()(inputs_on(graph, device)).logit
        else:
            logit = sampled_logits(model.eval(), graph, device)
    lost = int(logit.isnan().sum())
    if lost:  # a loss is computed before its step, so the last step may fail unseen
        raise PugnnError(
            f"the scores of {lost:,} of {graph.num_nodes:,} nodes are nan. Lower the learning rate, or scale the "
            "features down if they are large."
        )
    return logit.double().cpu()


def fix_scoring(model: Backbone, graph: Graph) -> None:
    """Decide how a trained model scores the graph of its training, now and whenever it is loaded."""
    model.scored = None
    whole = scores_whole(graph, model, str(_device_of(model)))
    model.scored = Scored(not whole, graph.num_nodes, len(graph.indices))


def score(model: Backbone, graph: Graph) -> Tensor:
    """The score of every node of a graph, from 0 to 1, shape ``(N,)``, on the CPU."""
    return torch.from_numpy(scores_of(log_odds(model, graph).numpy()))


#: A threshold above every score: even a score of 1, which log-odds from about 37 are rounded to, does not reach it.
ABOVE_ALL_SCORES = float(np.nextafter(1.0, 2.0))


def scores_of(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores that belong to log-odds."""
    scores: NDArray[np.float64] = torch.from_numpy(log_odds).sigmoid().numpy()
    return scores


def sampled_logits(model: Backbone, graph: Graph, device: torch.device) -> Tensor:
    """The logit of every node of a graph, from neighbours that are sampled as in training, always the same ones."""
    parts = np.split(np.arange(graph.num_nodes), range(SCORED, graph.num_nodes, SCORED))
    prepare = partial(sampled_inputs, model, graph, device=device)
    found, done = [], 0
    with prefetch(prepare, parts, background_threads()) as prepared, status_line() as line:
        line.say("scoring the nodes")
        for inputs, sample in prepared:
            found.append(model(inputs).logit[: len(sample.rows)])
            done += len(sample.rows)
            line.update(f"scoring the nodes: {done:,} of {graph.num_nodes:,}")
    return torch.cat(found)


def current_device(device: torch.device) -> AbstractContextManager[object]:
    """Make a CUDA device the current one, on which streams, generators and kernels work."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def _device_of(model: Backbone) -> torch.device:
    return next(chain(model.parameters(), model.buffers())).device
