"""Where trainings run: in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

import os
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, redirect_stdout
from functools import cache
from itertools import islice
from typing import Any, Self, TypeVar

from joblib.externals.loky import get_reusable_executor

from pugnn import __version__
from pugnn.errors import PugnnError, PugnnWarning, require_choice, require_whole
from pugnn.processes import end_with_parent
from pugnn.threads import available_threads
from pugnn.waiting import status_line

#: For workers: a training has one thread, wherever it runs, so that results do not depend on that.
ONE_THREAD = {
    f"{library}_THREADS": "1" for library in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "VECLIB_MAXIMUM", "NUMBA_NUM")
}
#: Seconds after which an idle local worker ends.
IDLE_SECONDS = 60
#: How often the same task is started again after its worker was lost.
RETRIES = 3

T = TypeVar("T")
Result = TypeVar("Result")


def make_executor(name: str, jobs: int | None = None) -> Executor:
    """An executor by name; ``jobs`` is one per core by default, of this machine or of the cluster."""
    require_choice("--executor", name, ("local", "ray"))
    if jobs is not None:
        require_whole("jobs", jobs, 1)
    return RayExecutor(jobs) if name == "ray" else LocalExecutor(jobs or available_threads())


def run_all(executor: Executor, work: Callable[[T], Result], tasks: Iterable[T]) -> Iterator[tuple[T, Result | str]]:
    """Do all tasks, as many at a time as the executor takes: each with its result, or the message of why it has none.

    A task is taken when there is room for it. One whose worker was lost is started again.
    """
    waiting = iter(tasks)
    running: dict[Future[Result | str], tuple[T, int]] = {}  # and how often its worker was lost
    while True:
        for task in islice(waiting, executor.jobs - len(running)):
            running[executor.submit(attempt, work, task, __version__)] = task, 0
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            task, lost = running.pop(future)
            try:
                result = future.result()
            except executor.lost:
                _report_lost(lost + 1, executor.jobs)
                running[executor.submit(attempt, work, task, __version__)] = task, lost + 1
            else:
                yield task, result


def attempt(work: Callable[[T], Result], task: T, version: str) -> Result | str:
    """What a worker does: a result, or the message of why there is none."""
    if version != __version__:
        return f"a worker has pugnn {__version__}, but this task is from {version}; install the same version everywhere"
    try:
        return work(task)
    except PugnnError as error:
        return str(error)


def _report_lost(times: int, jobs: int) -> None:
    words = "a worker process was killed, often because memory ran out"
    if times > RETRIES:
        kept = f"All results so far are kept: the same command continues; fewer --jobs take less memory (now {jobs})"
        raise PugnnError(f"{words}, {times} times during the same training. {kept}.")
    warnings.warn(f"{words}; its training starts again ({times} of {RETRIES} times)", PugnnWarning, stacklevel=3)


class LocalExecutor(AbstractContextManager["LocalExecutor"]):
    """Processes of this machine; with one job, this very process."""

    #: Errors of a future whose worker was lost.
    lost: tuple[type[Exception], ...] = (BrokenProcessPool,)

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Start a function; with one job, wait for it."""
        if self.jobs > 1:
            return self._pool().submit(function, *arguments)  # type: ignore[no-any-return]
        done: Future[Any] = Future()
        done.set_result(function(*arguments))
        return done

    def _pool(self) -> Any:
        """The processes; new ones if one was killed, as that stops all of them."""
        watch = {"initializer": end_with_parent, "initargs": (os.getpid(),)}
        return get_reusable_executor(self.jobs, timeout=IDLE_SECONDS, env=ONE_THREAD, **watch)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self.jobs > 1:
            # A thread of joblib's may find its work gone meanwhile, and would print a traceback.
            shown, threading.excepthook = threading.excepthook, lambda _: None
            try:
                self._pool().shutdown(kill_workers=True)
            finally:
                threading.excepthook = shown


class RayExecutor(ExitStack):
    """A Ray cluster: that of ``RAY_ADDRESS``, or one on this machine that ends with us.

    Workers on other machines need the same version of pugnn and the data sets, but not the folder of records.
    """

    jobs: int

    def __init__(self, jobs: int | None) -> None:
        super().__init__()
        try:
            import ray
            from ray import exceptions as errors
        except ImportError:
            raise PugnnError("--executor ray needs Ray, which is not installed: pip install 'pugnn[ray]'") from None
        self._ray, self._given = ray, jobs
        # Each function is sent once. We try again ourselves, with a message; Ray would do so in silence.
        self._remote = cache(ray.remote(num_cpus=1, max_retries=0))
        self.lost = (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError, errors.ObjectLostError)

    def __enter__(self) -> Self:
        address = os.environ.get("RAY_ADDRESS")
        # Ray reports lost workers on standard output, where only results belong.
        self.enter_context(redirect_stdout(sys.stderr))
        try:
            with status_line() as line:
                line.say(f"joining the Ray cluster at {address}" if address else "starting Ray on this machine")
                host, _, port = (address or "").rpartition(":")
                if port.isdigit() and "/" not in host:  # Ray itself would try for minutes to reach it
                    socket.create_connection((host, int(port)), timeout=10).close()
                self._ray.init(
                    num_cpus=None if address else self._given,
                    include_dashboard=None if address else False,
                    runtime_env={"env_vars": ONE_THREAD},
                    log_to_driver=False,
                    logging_level="error",
                )
        except (OSError, RuntimeError, ValueError) as error:
            self.close()
            where = f"join the Ray cluster at {address}, the value of RAY_ADDRESS" if address else "start Ray"
            raise PugnnError(f"cannot {where}: {error}") from None
        self.callback(self._ray.shutdown)
        # Twice as many as there are cores, so that a cluster that can grow does.
        self.jobs = self._given or 2 * int(self._ray.cluster_resources().get("CPU", 1))
        return self

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Start a function on any core of the cluster."""
        return self._remote(function).remote(*arguments).future()  # type: ignore[no-any-return]


Executor = LocalExecutor | RayExecutor
