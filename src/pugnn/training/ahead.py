"""Work that is done in the background, ahead of its use."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def ahead(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Iterator[Result]]:
    """The results of a function, in the order of the items, as those of :func:`map`.

    ``threads`` items are worked on at a time, and as many results wait at most. Without threads, each is worked on when
    it is asked for.

    Example:
        >>> with ahead(str.upper, ["a", "b", "c"], threads=2) as results:
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
