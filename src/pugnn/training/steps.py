"""One step: forward, backward, optimiser. On a CUDA device, recorded once and replayed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from pugnn import processes
from pugnn.models import Backbone, Output
from pugnn.training.adam import Adam
from pugnn.training.batches import Batch

#: Controls what is drawn in a step; on a CUDA device a tensor that holds the number, shape ``(1,)``, int64.
Seed = int | Tensor
#: From the network's output, the batch and the seed of the step to the named terms of the loss.
Objective = Callable[[Output, Batch, Seed], dict[str, Tensor]]


@cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """One stream for all warm-ups: memory freed on a stream is reserved for that stream."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


class Step:
    """One step, operation by operation."""

    def __init__(self, model: Backbone, objective: Objective, optimizer: Adam) -> None:
        self._model, self._objective, self._optimizer = model, objective, optimizer
        self.names: list[str] = []

    def __call__(self, batch: Batch, seed: Seed) -> Tensor:
        """Train on a batch; the terms of the loss in the order of ``names``, and last their total."""
        self._optimizer.zero_grad()
        terms = self._objective(self._model(batch.inputs), batch, seed)
        self.names = list(terms)
        values = torch.stack(list(terms.values()))
        total = values.sum()
        total.backward()  # type: ignore[no-untyped-call]
        processes.add_up_gradients(self._model.parameters())
        self._optimizer.step()
        return torch.cat([values, total[None]]).detach()


class ReplayedStep(Step):
    """The same on a CUDA device, where a step on a small graph takes longer to launch than to compute.

    The first steps run as they are, which lets libraries set themselves up; then one is recorded as a CUDA graph and
    all later ones replay it with a single launch, on the batch that was recorded. What differs between steps stays
    outside of the recording: the seed is a tensor that is filled before each replay, and dropout follows the device's
    generator.
    """

    WARM_UP = 3

    def __init__(self, model: Backbone, objective: Objective, optimizer: Adam) -> None:
        super().__init__(model, objective, optimizer)
        device = next(model.parameters()).device
        self._seed = torch.zeros(1, dtype=torch.int64, device=device)
        self._stream = _side_stream(device)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._steps = 0

    def __call__(self, batch: Batch, seed: Seed) -> Tensor:
        """As :class:`Step`, on the same batch every time."""
        self._seed.fill_(seed)
        self._steps += 1
        if self._steps <= self.WARM_UP:
            self._stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self._stream):
                values = super().__call__(batch, self._seed)
            torch.cuda.current_stream().wait_stream(self._stream)
            return values
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._values = super().__call__(batch, self._seed)
        self._graph.replay()
        return self._values
