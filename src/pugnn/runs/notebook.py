"""The case room in a notebook: a server in a process of its own, and its page in a frame."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import weakref
from html import escape
from pathlib import Path
from typing import Any

from pugnn.errors import PugnnError, shown
from pugnn.files import as_path
from pugnn.processes import end_process
from pugnn.runs.run import Run

#: Height of the frame, in pixels.
HEIGHT = 760
#: Seconds that a server has to end after it was told to.
PATIENCE = 10.0


class Explorer:
    """A case room that is open; it closes with :meth:`close`, or with the process that opened it.

    Args:
        run: folder of the run.
        read_only: nothing can be decided.
    """

    def __init__(self, run: Path, *, read_only: bool = False) -> None:
        command = ["explore", str(run), "--no-browser", "--json", *(["--read-only"] if read_only else [])]
        with tempfile.TemporaryFile() as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pugnn", *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # interrupting a cell of the notebook does not end it
            )
            self._end = weakref.finalize(self, _end, self._process)
            assert self._process.stdout is not None
            line = self._process.stdout.readline()
            if not line:
                self._process.wait()
                errors.seek(0)
                words = errors.read().decode("utf-8", "replace").strip().rpartition("error: ")[2]
                raise PugnnError(words or f"the case room of {run} did not start")
        #: Address of the page; whoever has it can decide.
        self.url: str = json.loads(line)["url"]
        self._run = run

    def __repr__(self) -> str:
        return f"Explorer({shown(self._run)}, {self.url if self._end.alive else 'closed'})"

    def close(self) -> None:
        """End the server; what was decided is kept."""
        self._end()

    def _repr_html_(self) -> str:
        if not self._end.alive:
            return f"<p>The case room of {escape(shown(self._run))} is closed.</p>"
        url = escape(self.url)
        frame = f'<iframe src="{url}" title="Case room" width="100%" height="{HEIGHT}"></iframe>'
        return f'{frame}<p><a href="{url}" target="_blank" rel="noreferrer">In a window of its own</a></p>'


def explore(run: Any, *, read_only: bool = False) -> Explorer:
    """Open the case room of a run; a notebook shows its page in a frame.

    Args:
        run: the folder of a run, or a run that is open.
        read_only: nothing can be decided.
    """
    return Explorer(run.path if isinstance(run, Run) else as_path(run, "run"), read_only=read_only)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a server, and close what it has said."""
    end_process(process, PATIENCE)
    if process.stdout is not None:
        process.stdout.close()
