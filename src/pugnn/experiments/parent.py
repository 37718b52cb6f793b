"""Worker processes that end with the process that started them."""

from __future__ import annotations

import os
import time
from threading import Thread

#: Seconds between looks at the parent.
LOOK_EVERY = 0.2


def end_with_parent(parent: int) -> None:
    """Watch the process with this number, our parent, and end this one soon after it.

    A process that is killed cannot end its workers: they would finish what they are at, and then wait for more.
    """
    Thread(target=_watch, args=[parent], name="end with the parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:  # another process takes the children of one that is gone
        time.sleep(LOOK_EVERY)
    os._exit(1)
