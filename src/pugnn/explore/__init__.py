"""The case room: a run in the browser, and a loop that learns from every decision."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from pugnn.runs.notebook import Explorer, explore


class _Explore(ModuleType):
    """This package takes the place of the function ``pugnn.explore`` once it is imported, so it does the same."""

    def __call__(self, run: Any, *, read_only: bool = False) -> Explorer:
        """Open the case room of a run, see :func:`pugnn.runs.notebook.explore`."""
        return explore(run, read_only=read_only)


sys.modules[__name__].__class__ = _Explore
