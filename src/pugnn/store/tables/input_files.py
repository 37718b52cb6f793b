"""Files as users name them: patterns, compression whatever the name says, and text line by line."""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any, AnyStr

import pyarrow as pa

from pugnn.errors import EmptyTableError, PugnnError, shown
from pugnn.store.tables.scratch import Scratch, no_room

#: How much of a text file is examined to see what it is.
HEAD_BYTES = 1 << 22

#: No line of a table, and no object of JSON, is longer, so that a compressed file cannot fill the memory.
MAX_LINE_LENGTH = 100_000_000

#: How much of a text file is in memory at once.
CHUNK_BYTES = 1 << 24

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}


_OPENERS: dict[str, Any] = {
    "none": open,
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
    "zstd": lambda path, _: io.BufferedReader(pa.input_stream(str(path), compression="zstd")),
}

#: What DuckDB can decompress itself.
_KNOWN_TO_DUCKDB = ("none", "gzip", "zstd")


@dataclass(frozen=True)
class File:
    """A file that exists."""

    shown: str  # its name in messages, as the user wrote it
    path: Path  # where it is, under a name without characters that are special to DuckDB
    first: bytes  # its first bytes
    packed: str  # ``gzip``, ``zstd``, ``bzip2``, ``xz`` or ``none``

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
            while line := text.readline(MAX_LINE_LENGTH):
                yield self._not_too_long(line)

    def raw_lines(self) -> Iterator[bytes]:
        """The lines of a text file as bytes, decompressed."""
        with self._opened() as file:
            while line := file.readline(MAX_LINE_LENGTH):
                yield self._not_too_long(line)

    def _not_too_long(self, line: AnyStr) -> AnyStr:
        if len(line) == MAX_LINE_LENGTH:
            raise PugnnError(f"{self.shown} has a line of over {MAX_LINE_LENGTH:,} characters, so it is not a table")
        return line

    def readable_by_duckdb(self, scratch: Scratch) -> File:
        """The file itself if DuckDB can decompress it, else a decompressed copy."""
        if self.packed in _KNOWN_TO_DUCKDB:
            return self
        copy, path = scratch.new_file()
        with self._opened() as file:
            try:
                copyfileobj(file, copy, CHUNK_BYTES)
                scratch.written(copy)
            except OSError as error:
                if error.errno is None:  # not of the system: the compressed data is damaged
                    raise
                raise no_room(error) from None
        with path.open("rb") as plain:
            return replace(self, path=path, first=plain.read(len(self.first)), packed="none")

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
    """The file of this name, or the files that match the pattern, in alphabetical order.

    ``scratch`` takes decompressed copies, and links to files whose names DuckDB would misread.
    """
    name = os.fspath(given)
    path = os.path.expanduser(name)
    if not name:
        raise PugnnError("the file name is empty; give the name of a table")
    if "\0" in name:
        raise PugnnError(f"cannot read {name!r}: file names cannot contain a zero byte")
    if "://" in name and not os.path.exists(path):
        raise PugnnError(f"cannot read {name}: only files on this machine are read. Download it first.")
    if os.path.isdir(path):
        raise PugnnError(f"{name} is a folder; name a file in it, or all of them by a pattern in quotes: '{name}/*'")
    found = [path]
    if glob.has_magic(path) and not os.path.lexists(path):
        found = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))
        if not found:
            raise PugnnError(f"no file matches the pattern {name}")
    return [_file(each if len(found) > 1 else name, Path(each), scratch) for each in found]


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
        packed = next((kind for magic, kind in _PACKED.items() if first.startswith(magic)), "none")
    except OSError as error:
        raise PugnnError(f"cannot read {name}: {error.strerror}") from None
    found = File(name, plain, first, packed)
    if packed == "zstd":  # of which DuckDB would read a truncated one without an error
        for _ in found.chunks():
            pass
    return found.readable_by_duckdb(scratch)
