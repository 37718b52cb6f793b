"""Files as users name them: patterns, what a file holds whatever its name says, and its text line by line."""

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
from itertools import islice
from pathlib import Path
from shutil import copyfileobj
from typing import IO, TYPE_CHECKING, Any, AnyStr

from pugnn.errors import PugnnError, shown
from pugnn.io.connecting import literal
from pugnn.io.scratch import Scratch, no_room
from pugnn.io.zstd import is_whole

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: How much of a text file is looked at to see what it is.
HEAD_BYTES = 1 << 22
_HEAD_LINES = 1_000

#: No line of a table, and no object of JSON, is longer, so that what is packed cannot fill the memory.
LONGEST_LINE = 100_000_000

#: How much of a text file is in memory at once.
CHUNK_BYTES = 1 << 24

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
_OPENERS: dict[str, Any] = {"none": open, "gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}

#: What DuckDB can unpack itself.
_DUCKDB_UNPACKS = ("none", "gzip", "zstd")


@dataclass(frozen=True)
class File:
    """A file that exists.

    Args:
        shown: its name in messages, as the user wrote it.
        path: where it is, under a name without signs that mean something to DuckDB.
        first: its first bytes.
        packed: ``gzip``, ``zstd``, ``bzip2``, ``xz`` or ``none``.
    """

    shown: str
    path: Path
    first: bytes
    packed: str

    @property
    def parquet(self) -> bool:
        """Whether it begins like a Parquet file."""
        return self.first.startswith(b"PAR1")

    def head(self, connection: DuckDBPyConnection) -> bytes:
        """The beginning of a text file, unpacked."""
        if self.packed == "zstd":
            return "\n".join(self._zstd_lines(connection, _HEAD_LINES)).encode()
        with self._opened() as file:
            return file.read(HEAD_BYTES)

    def lines(self, connection: DuckDBPyConnection, encoding: str, errors: str) -> Generator[str, None, None]:
        """The lines of a text file, unpacked, with what ends them."""
        if self.packed == "zstd":
            yield from (line + "\n" for line in self._zstd_lines(connection))
        else:
            with self._opened() as file, io.TextIOWrapper(file, encoding, errors, newline="") as text:
                while line := text.readline(LONGEST_LINE):
                    yield self._no_longer(line)

    def raw_lines(self) -> Iterator[bytes]:
        """The lines of a text file as bytes, unpacked."""
        with self._opened() as file:
            while line := file.readline(LONGEST_LINE):
                yield self._no_longer(line)

    def _no_longer(self, line: AnyStr) -> AnyStr:
        if len(line) == LONGEST_LINE:
            raise PugnnError(f"{self.shown} has a line of more than {LONGEST_LINE:,} characters, so it is no table")
        return line

    def chunks(self, connection: DuckDBPyConnection) -> Iterator[bytes]:
        """A text file as bytes, unpacked, cut anywhere."""
        if self.packed == "zstd":
            lines = self._zstd_lines(connection)
            while batch := list(islice(lines, _HEAD_LINES)):
                yield "".join(line + "\n" for line in batch).encode()
            return
        with self._opened() as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    def unpacked(self, scratch: Scratch) -> File:
        """The file itself if DuckDB can unpack it, else a copy that needs no unpacking."""
        if self.packed in _DUCKDB_UNPACKS:
            return self
        copy, path = scratch.new_file()
        with self._opened() as file:
            try:
                copyfileobj(file, copy, CHUNK_BYTES)
                scratch.written(copy)
            except OSError as error:
                if error.errno is None:  # not of the system: the packed data is damaged
                    raise
                raise no_room(error) from None
        with path.open("rb") as plain:
            return replace(self, path=path, first=plain.read(len(self.first)), packed="none")

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        try:
            with _OPENERS[self.packed](self.path, "rb") as file:
                yield file
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile):
            raise cut_short(self.shown) from None
        except OSError as error:
            if error.errno is None:
                raise cut_short(self.shown) from None
            raise PugnnError(f"cannot read {self.shown}: {error.strerror}") from None

    def _zstd_lines(self, connection: DuckDBPyConnection, limit: int | None = None) -> Iterator[str]:
        """Python of itself cannot unpack zstd, but DuckDB can: lines are a table of one column."""
        import duckdb

        table = (
            f"read_csv({literal(str(self.path))}, compression='zstd', auto_detect=false, header=false, delim='\x01', "
            f"quote='', escape='', columns={{'line': 'VARCHAR'}}, max_line_size={LONGEST_LINE})"
        )
        try:
            # A cursor of its own: whoever asks for lines may stop before the last one.
            result = connection.cursor().execute(f"SELECT line FROM {table}" + (f" LIMIT {limit}" if limit else ""))
            while rows := result.fetchmany(10_000):
                yield from (row[0] or "" for row in rows)
        except duckdb.Error as error:
            raise PugnnError(f"cannot read {self.shown}: {str(error).splitlines()[0]}. Unpack it first.") from None


def find_files(given: str | os.PathLike[str], scratch: Scratch) -> list[File]:
    """The file of this name, or the files that match the pattern, in alphabetical order.

    ``scratch`` takes unpacked copies, and files whose names DuckDB would misread.
    """
    name = os.fspath(given)
    path = os.path.expanduser(name)
    if not name:
        raise PugnnError("the name of a file is empty; give the name of a table")
    if "\0" in name:
        raise PugnnError(f"cannot read {name!r}: no file can have a zero byte in its name")
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


def cut_short(name: str) -> PugnnError:
    """What to say of a packed file that does not reach its end."""
    return PugnnError(f"{name} is damaged or cut short: it cannot be unpacked to its end")


def _file(name: str, path: Path, scratch: Scratch) -> File:
    name = shown(name, limit=1000)  # as text that can be printed, whatever its bytes are
    try:
        if path.exists() and not path.is_file():
            raise PugnnError(f"{name} is not a regular file; save what it gives to one first")
        with path.open("rb") as file:
            first = file.read(8)
        if not first:
            raise PugnnError(f"{name} is empty")
        plain = scratch.plain_name(path)
        packed = next((kind for magic, kind in _PACKED.items() if first.startswith(magic)), "none")
        # DuckDB takes a file that ends in the middle for one that ends there.
        if packed == "zstd" and not is_whole(plain):
            raise cut_short(name)
    except OSError as error:
        raise PugnnError(f"cannot read {name}: {error.strerror}") from None
    return File(name, plain, first, packed).unpacked(scratch)
