"""Files as users name them: patterns, any compression, text line by line; and temporary copies of them."""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, AnyStr
from uuid import uuid4

import pyarrow as pa

from pugnn.errors import EmptyTableError, PugnnError, shown
from pugnn.store.tables.sql_copy import copy_table
from pugnn.store.tables.sql_source import sql_source

#: How much of a text file is examined to see what it is.
HEAD_BYTES = 1 << 22

#: No line of a table, and no object of JSON, is longer, so that a compressed file cannot fill the memory.
MAX_LINE_LENGTH = 100_000_000

#: How much of a text file is in memory at once.
CHUNK_BYTES = 1 << 24

#: Open files by number, if the system has such a folder. A file that has no other name leaves nothing behind, however
#: the process ends.
OPEN_FILES = Path("/proc/self/fd")

#: More files than this are not held open: systems have a limit.
_MAX_OPEN = 200

#: How Parquet files begin.
PARQUET = b"PAR1"

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}

_OPENERS: dict[str, Any] = {
    "none": open,
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
    "zstd": lambda path, _: io.BufferedReader(pa.input_stream(str(path), compression="zstd")),
}


class Scratch(ExitStack):
    """Temporary files that are deleted when this is closed, or when the process ends."""

    def __init__(self) -> None:
        super().__init__()
        self._open = 0
        self._folder = Path(tempfile.gettempdir()).resolve() / f"pugnn-{uuid4().hex}"

    @property
    def folders(self) -> tuple[Path, Path]:
        """The folders of all files. The second one is created when it is needed."""
        return OPEN_FILES, self._folder

    @contextmanager
    def new_file(self) -> Iterator[tuple[IO[bytes], Path]]:
        """An empty file to write to, and the name to read it by afterwards."""
        try:
            if self._nameless():
                file: IO[bytes] = self.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
                yield file, OPEN_FILES / str(file.fileno())
                file.flush()
            else:
                path = self._new_name()
                with path.open("xb") as file:
                    yield file, path
        except OSError as error:
            raise PugnnError(
                f"cannot write a temporary copy of a table in {tempfile.gettempdir()}: {error.strerror or error}. Free "
                "some space there, or set the environment variable TMPDIR to another folder."
            ) from None

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


@dataclass(frozen=True)
class File:
    """A file that exists."""

    shown: str  # its name in messages, as the user wrote it
    path: Path  # where it is, under a name without characters that are special to DuckDB
    first: bytes  # its first bytes
    packed: str  # ``gzip``, ``zstd``, ``bzip2``, ``xz`` or ``none``
    notes: tuple[str, ...] = ()  # on how it was copied

    def head(self) -> bytes:
        """The beginning of the file, decompressed."""
        return next(self.chunks(HEAD_BYTES), b"")

    def chunks(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """The file, decompressed, in pieces of this size."""
        with self._opened() as file:
            while chunk := file.read(size):
                yield chunk

    def lines(self, encoding: str, errors: str) -> Generator[str, None, None]:
        """The lines of a text file, decompressed, with their line ends."""
        with self._opened() as file, io.TextIOWrapper(file, encoding, errors, newline="") as text:
            yield from self._lines_of(text)

    def raw_lines(self) -> Iterator[bytes]:
        """The lines of a text file as bytes, decompressed."""
        with self._opened() as file:
            yield from self._lines_of(file)

    def _lines_of(self, file: IO[AnyStr]) -> Iterator[AnyStr]:
        while line := file.readline(MAX_LINE_LENGTH):
            if len(line) == MAX_LINE_LENGTH:
                raise PugnnError(
                    f"{self.shown} has a line of over {MAX_LINE_LENGTH:,} characters, so it is not a table"
                )
            yield line

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        try:
            with _OPENERS[self.packed](self.path, "rb") as file:
                yield file
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # of the system
                raise PugnnError(f"cannot read {self.shown}: {error.strerror}") from None
            raise PugnnError(f"{self.shown} is damaged or cut short: it cannot be decompressed to its end") from None


def find_files(given: str | os.PathLike[str], scratch: Scratch) -> list[File]:
    """The file of this name, or those that match the pattern, in alphabetical order; or a copy of a database's table.

    ``scratch`` takes copies, and links to files whose names DuckDB would misread.
    """
    name = os.fspath(given)
    path = os.path.expanduser(name)
    source = sql_source(name)
    if source is not None:
        copy, notes = copy_table(source, scratch)
        return [File(source.shown, copy, PARQUET, "none", tuple(notes))]
    if not name:
        raise PugnnError("the file name is empty; give the name of a table")
    if "\0" in name:
        raise PugnnError(f"cannot read {name!r}: file names cannot contain a zero byte")
    if "://" in name and not os.path.exists(path):
        address = re.sub("(?<=://)[^/]*@", "", name)  # without a password
        raise PugnnError(
            f"cannot read {address}: only files on this machine are read, and databases (sqlite:///, duckdb:///, "
            "postgresql://). Download it first."
        )
    if os.path.isdir(path):
        raise PugnnError(f"{name} is a folder; name a file in it, or all of them by a pattern in quotes: '{name}/*'")
    found = matching(name)
    if not found:
        raise PugnnError(f"no file matches the pattern {name}")
    return [_file(each if len(found) > 1 else name, Path(each), scratch) for each in found]


def matching(name: str) -> list[str]:
    """The files that a name stands for: itself, or those that match it as a pattern, in alphabetical order.

    Of a table in a database, these are the files of the database; a server has none.
    """
    source = sql_source(name)
    if source is not None:
        return source.files
    path = os.path.expanduser(name)
    if not glob.has_magic(path) or os.path.lexists(path):
        return [path]
    return sorted(found for found in glob.glob(path, recursive=True) if not os.path.isdir(found))


def _file(name: str, path: Path, scratch: Scratch) -> File:
    name = shown(name, limit=1000)  # printable, whatever its bytes are
    try:
        if path.exists() and not path.is_file():
            raise PugnnError(f"{name} is not a regular file; save its output to one first")
        with path.open("rb") as file:
            first = file.read(8)
        if not first:
            raise EmptyTableError(f"{name} is empty")
        plain = scratch.plain_name(path)
    except OSError as error:
        raise PugnnError(f"cannot read {name}: {error.strerror}") from None
    packed = next((kind for magic, kind in _PACKED.items() if first.startswith(magic)), "none")
    found = File(name, plain, first, packed)
    if packed in ("none", "gzip"):
        return found
    # DuckDB cannot decompress the others, or does not notice that they are cut short.
    with scratch.new_file() as (copy, copy_path):
        for chunk in found.chunks():
            copy.write(chunk)
    return File(name, copy_path, next(found.chunks(8), b""), "none")
