"""The end of a command whose mapped files were cut short while it used them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_MESSAGE = (
    "\nerror: a file that is in use was cut short, or its disk has failed: one of a graph store, or of the smoothed "
    "attributes beside a run. Build the store again with `pugnn build` if it has changed, and run the command again.\n"
)


@ctypes.CFUNCTYPE(None, ctypes.c_int)
def _end(_: int) -> None:
    os.write(2, _MESSAGE.encode())
    os._exit(2)


def end_with_message() -> None:
    """From now on, a mapped file that is cut short ends the process with a message, and not with a core dump.

    The system reports it by a signal on the spot. A handler of Python's own :mod:`signal` would only run once the
    instruction that failed is over, which it never is; one that is called directly can still write and exit.
    """
    if sys.platform != "win32":
        ctypes.CDLL(None).signal(signal.SIGBUS, _end)
