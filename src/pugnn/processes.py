"""Several processes that train one model together, as ``torchrun`` starts them; usually there is one.

All of them run the same command on the same data. Each takes its own share of every batch; sums over the processes make
loss and gradient those of the whole batch. The first process alone reads checkpoints, writes and speaks.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from datetime import timedelta
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from pugnn.errors import PugnnError

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")

#: How long one process waits for the others. A lost connection is noticed at once; this is for one that hangs.
PATIENCE = timedelta(minutes=30)
#: Seconds between looks at the parent.
LOOK_EVERY = 0.2
#: Seconds that a process which has failed waits for the others to notice.
MAX_FAREWELL = 5.0

#: Where the first process that fails leaves its number: the store through which the processes have met.
_notes: Any = None


def end_process(process: subprocess.Popen[Any], patience: float) -> None:
    """End a process that was started from here as Ctrl-C does, and after so many seconds in any case."""
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class LostProcessError(PugnnError):
    """Another process ended, so this one cannot go on."""


def count() -> int:
    """How many processes there are."""
    distributed = sys.modules.get("torch.distributed")  # imported by then where processes have joined
    ready = distributed is not None and distributed.is_available() and distributed.is_initialized()
    return distributed.get_world_size() if distributed and ready else 1


def rank() -> int:
    """The number of this process, from 0; the first one writes."""
    if count() == 1:
        return 0
    import torch.distributed as distributed

    return distributed.get_rank()


def number_on_host() -> int:
    """The number of this process among those on the same host, from 0."""
    return int(os.environ.get("LOCAL_RANK", rank()))


def count_on_host() -> int:
    """How many processes there are on this host."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", count())) if count() > 1 else 1


def started() -> int:
    """How many processes the launcher has started, whether they have joined or not."""
    text = os.environ.get("WORLD_SIZE", "1")
    if not text.isdecimal():
        raise PugnnError(f"WORLD_SIZE is the number of processes, which torchrun sets; it is {text!r}. Unset it.")
    return int(text)


# ---------------------------------------------------------------------- shares and sums


def own_share(length: int) -> slice:
    """Which of so many items this process takes: contiguous shares, in the order of the processes."""
    return slice(rank() * length // count(), (rank() + 1) * length // count())


def sum_over_processes(values: Tensor) -> Tensor:
    """The sum over all processes, the same bits in each; its gradient is that of this process's part.

    If every process computes the same loss from such sums, the gradients of all processes add up to the gradient of
    the whole.
    """
    if count() == 1:
        return values
    # Adding the difference, which is 0, changes no bit of the sum.
    whole: Tensor = _message("all_reduce", values.detach().clone())
    return whole + (values - values.detach())


def add_up_gradients(parameters: Iterable[Tensor]) -> None:
    """Replace the gradients of all parameters by their sums over the processes, all in one message."""
    if count() == 1:
        return
    import torch

    # A process whose share of the batch does not touch a parameter adds nothing to its gradient.
    gradients = []
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        gradients.append(parameter.grad)
    flat = _message("all_reduce", torch.cat([gradient.flatten() for gradient in gradients]))
    sizes = [gradient.numel() for gradient in gradients]
    for gradient, whole in zip(gradients, flat.split(sizes), strict=True):
        gradient.copy_(whole.view_as(gradient))


def copy_from_first(tensors: Iterable[Tensor]) -> None:
    """Give tensors the values that they have in the first process."""
    for tensor in tensors if count() > 1 else ():
        _message("broadcast", tensor, src=0)


def value_of_first(value: T) -> T:
    """A value as the first process has it: for what it alone has read, and for what all must decide alike."""
    found: T = value if count() == 1 else _message("broadcast_object_list", [value], src=0)[0]
    return found


def _message(kind: str, content: Any, **options: Any) -> Any:
    """Exchange something in place with all other processes."""
    import torch.distributed as distributed

    try:
        getattr(distributed, kind)(content, **options)
    except RuntimeError:  # which names sockets and lines of C++
        here = f"process {rank()} of {count()} cannot go on without it; perhaps memory ran out"
        raise LostProcessError(f"another process of this job has ended or does not answer, and {here}") from None
    return content


# ---------------------------------------------------------------------- joining and failing together


@contextmanager
def joined() -> Iterator[None]:
    """Join the processes that the launcher has started beside this one, if any, and leave them at the end.

    Inside, all processes but the first are silent.
    """
    global _notes
    if started() == 1:
        yield
        return
    import torch
    import torch.distributed as distributed

    # When one process fails, the launcher asks the others to end: they tidy up as after Ctrl-C.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    if "TORCHELASTIC_RUN_ID" in os.environ:
        end_with_parent(os.getppid(), _stop)
    try:
        meeting = distributed.rendezvous("env://", timeout=PATIENCE)  # type: ignore[attr-defined]
        _notes, number, processes = next(meeting)
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        distributed.init_process_group(backend, store=_notes, rank=number, world_size=processes, timeout=PATIENCE)
    except (RuntimeError, ValueError) as error:
        words = f"cannot join the other processes: {str(error).splitlines()[0]}"
        raise PugnnError(f"{words}. Start them with torchrun, or unset WORLD_SIZE to work in one.") from None
    failed: object = True
    try:
        if number == 0:
            yield
        else:
            with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
                yield
        failed = False
    except SystemExit as end:
        failed = end.code
        raise
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN if failed else before)  # what fails is about to end anyway
        if not failed:  # otherwise that could wait for a process that is gone
            distributed.destroy_process_group()


def fails_first() -> bool:
    """Whether this process is the first to fail, and so the one to say why; the others fail because of it."""
    if _notes is None:
        return True
    own = str(rank())
    try:
        return bool(_notes.compare_set("pugnn/failed", "", own) == own.encode())
    except RuntimeError:  # the process that kept the notes is gone
        return True


@contextmanager
def ending_at_once() -> Iterator[None]:
    """End a process that failed among others without tearing down Python.

    The group's threads abort the process if they lose a connection while Python is being torn down.
    """
    try:
        yield
    except SystemExit as end:
        if _notes is not None and isinstance(end.code, int) and end.code != 0:
            sys.stdout.flush()
            sys.stderr.flush()
            _wait_for_others()
            os._exit(end.code)
        raise


def _wait_for_others() -> None:
    """Let the first process stay until the others have failed too: it keeps the notes that they look at then."""
    give_up = time.monotonic() + MAX_FAREWELL
    try:
        ended = _notes.add("pugnn/ended", 1)
        while rank() == 0 and ended < count() and time.monotonic() < give_up:
            time.sleep(LOOK_EVERY / 4)
            ended = _notes.add("pugnn/ended", 0)
    except RuntimeError:  # the process that kept the notes is gone
        pass


def end_with_parent(parent: int, end: Callable[[], None] | None = None) -> None:
    """End this process soon after the one with this number, its parent, which cannot do so itself if it is killed."""

    def watch() -> None:
        while os.getppid() == parent:  # orphans are handed to another process
            time.sleep(LOOK_EVERY)
        end() if end else os._exit(1)

    Thread(target=watch, name="end with the parent", daemon=True).start()


def _stop() -> None:
    print("the launcher of this process has ended", file=sys.stderr)
    os.kill(os.getpid(), signal.SIGTERM)
