"""Standard error in tests of what is shown to those who wait."""

import io
import sys
import time

from pugnn import waiting


class Stream(io.StringIO):
    """Standard error, on a terminal or not."""

    terminal = False

    def isatty(self) -> bool:
        return self.terminal

    def wait_for(self, text: str, times: int = 1) -> None:
        """Return when this was written; however busy the machine is, it is at last."""
        end = time.monotonic() + 600
        while self.getvalue().count(text) < times:
            assert time.monotonic() < end, self.getvalue()
            time.sleep(0.01)


def replaced_stderr(monkeypatch, *, patience=0.05, line_every=0.05, terminal=False) -> Stream:
    """A stream in place of standard error, with shorter times to wait."""
    monkeypatch.setattr(waiting, "SILENT_SECONDS", patience)
    monkeypatch.setattr(waiting, "LINE_EVERY", line_every)
    monkeypatch.setenv("TERM", "xterm")
    stream = Stream()
    stream.terminal = terminal
    monkeypatch.setattr(sys, "stderr", stream)
    return stream
