"""Several processes that train one model together, as ``torchrun`` starts them; usually there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def count() -> int:
    """How many processes there are."""
    import torch.distributed as distributed

    ready = distributed.is_available() and distributed.is_initialized()
    return distributed.get_world_size() if ready else 1


def rank() -> int:
    """The number of this process, from 0; the first one writes."""
    if count() == 1:
        return 0
    import torch.distributed as distributed

    return distributed.get_rank()


def own_share(length: int) -> slice:
    """Which of so many items this process takes: contiguous shares, in the order of the processes."""
    return slice(rank() * length // count(), (rank() + 1) * length // count())


def sum_over_processes(values: Tensor) -> Tensor:
    """The sum over all processes; its gradient is that of this process's part.

    If every process computes the same loss from such sums, the gradients of all processes add up to the gradient of
    the whole.
    """
    if count() == 1:
        return values
    import torch.distributed as distributed

    total = values.detach().clone()
    distributed.all_reduce(total)
    return values + (total - values.detach())
