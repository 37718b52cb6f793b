"""Copies of tables for as long as they are read, and names that DuckDB does not misread."""

from __future__ import annotations

import glob
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO

from pugnn.errors import PugnnError

#: Open files by number, where the system has such a folder. A file in use needs no other name there, so that nothing
#: stays behind whatever ends the process.
OPEN_FILES = Path("/proc/self/fd")


class Scratch:
    """Files that are gone when this is closed, or when the process ends."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._nameless = OPEN_FILES.is_dir()
        self._folder: Path | None = None

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    @property
    def folder(self) -> Path:
        """The folder in which all files are."""
        if self._nameless:
            return OPEN_FILES
        if self._folder is None:
            self._folder = Path(self._held.enter_context(tempfile.TemporaryDirectory(prefix="pugnn-"))).resolve()
        return self._folder

    def new_file(self) -> tuple[IO[bytes], Path]:
        """An empty file to write to, and the name to read it by once it is flushed."""
        try:
            if self._nameless:
                file: IO[bytes] = self._held.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
                return file, OPEN_FILES / str(file.fileno())
            handle, name = tempfile.mkstemp(dir=self.folder)
            return self._held.enter_context(os.fdopen(handle, "wb")), Path(name)
        except OSError as error:
            raise no_room(error) from None

    def plain_name(self, path: Path) -> Path:
        """A name for a file without signs that mean something to DuckDB: its own, or another one."""
        plain = path.resolve()
        if not glob.has_magic(str(plain)) and str(plain).encode(errors="replace") == os.fsencode(plain):
            return plain
        if self._nameless:
            return OPEN_FILES / str(self._held.enter_context(path.open("rb")).fileno())
        link = self.folder / f"file-{len(os.listdir(self.folder))}"
        link.symlink_to(plain)
        return link


def no_room(error: OSError) -> PugnnError:
    """What to say where a copy cannot be written."""
    return PugnnError(
        f"cannot write a temporary copy of a table in {tempfile.gettempdir()}: {error.strerror or error}. Make room "
        "there, or name another folder in the environment variable TMPDIR."
    )
