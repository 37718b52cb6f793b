"""Temporary copies of tables, and names that DuckDB does not misread."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO
from uuid import uuid4

from pugnn.errors import PugnnError

#: More files than this are not held open: systems have a limit.
_MAX_OPEN = 200

#: Open files by number, if the system has such a folder. A file that has no other name leaves nothing behind, however
#: the process ends.
OPEN_FILES = Path("/proc/self/fd")


class Scratch(ExitStack):
    """Files that are deleted when this is closed, or when the process ends."""

    def __init__(self) -> None:
        super().__init__()
        self._open = 0
        self._nameless_files: list[IO[bytes]] = []
        self._folder = Path(tempfile.gettempdir()).resolve() / f"pugnn-{uuid4().hex}"

    @property
    def folders(self) -> tuple[Path, Path]:
        """The folders of all files. The second one is created when it is needed."""
        return OPEN_FILES, self._folder

    def new_file(self) -> tuple[IO[bytes], Path]:
        """An empty file to write to, and the name to read it by once it is :meth:`written`."""
        try:
            if self._nameless():
                file: IO[bytes] = self.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
                self._nameless_files.append(file)
                return file, OPEN_FILES / str(file.fileno())
            path = self._new_name()
            return path.open("xb"), path
        except OSError as error:
            raise no_room(error) from None

    def written(self, file: IO[bytes]) -> None:
        """Complete a file."""
        try:
            file.flush()
        except OSError as error:
            raise no_room(error) from None
        if file not in self._nameless_files:
            file.close()

    def plain_name(self, path: Path) -> Path:
        """A name for a file without characters that are special to DuckDB: its own, or another one."""
        plain = path.resolve()
        if not glob.has_magic(str(plain)) and str(plain).encode(errors="replace") == os.fsencode(plain):
            return plain
        if self._nameless():
            return OPEN_FILES / str(self.enter_context(path.open("rb")).fileno())
        link = self._new_name()
        link.symlink_to(plain)
        return link

    def _nameless(self) -> bool:
        """Whether one more file can do without a name."""
        self._open += 1
        return self._open <= _MAX_OPEN and OPEN_FILES.is_dir()

    def _new_name(self) -> Path:
        if not self._folder.exists():
            self._folder.mkdir(mode=0o700)
            self.callback(shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder / str(self._open)


def no_room(error: OSError) -> PugnnError:
    """The error for a copy that cannot be written."""
    return PugnnError(
        f"cannot write a temporary copy of a table in {tempfile.gettempdir()}: {error.strerror or error}. Free "
        "some space there, or set the environment variable TMPDIR to another folder."
    )
