"""Files as users name them: patterns, what a file holds whatever its name says, and its text line by line."""

from __future__ import annotations

import glob
import gzip
import io
import os
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pugnn.errors import PugnnError
from pugnn.tables.connecting import literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: How much of a text file is looked at to see what it is.
HEAD_BYTES = 1 << 22
_HEAD_LINES = 1_000

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


@dataclass(frozen=True)
class File:
    """A file that exists.

    Args:
        shown: its name in messages, as the user wrote it.
        path: where it is, under a name without signs that mean something to DuckDB.
        parquet: whether it begins like a Parquet file.
        packed: ``gzip``, ``zstd`` or ``none``.
    """

    shown: str
    path: Path
    parquet: bool
    packed: str

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
                yield from text

    def raw_lines(self) -> Iterator[bytes]:
        """The lines of a text file as bytes, unpacked."""
        with self._opened() as file:
            yield from file

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        opener: Any = gzip.open if self.packed == "gzip" else open
        try:
            with opener(self.path, "rb") as file:
                yield file
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise PugnnError(f"{self.shown} is damaged or cut short: it cannot be unpacked to its end") from None
        except OSError as error:
            raise PugnnError(f"cannot read {self.shown}: {error.strerror}") from None

    def _zstd_lines(self, connection: DuckDBPyConnection, limit: int | None = None) -> Iterator[str]:
        """Python of itself cannot unpack zstd, but DuckDB can: lines are a table of one column."""
        import duckdb

        table = (
            f"read_csv({literal(str(self.path))}, compression='zstd', auto_detect=false, header=false, delim='\x01', "
            "quote='', escape='', columns={'line': 'VARCHAR'}, max_line_size=100000000)"
        )
        try:
            # A cursor of its own: whoever asks for lines may stop before the last one.
            result = connection.cursor().execute(f"SELECT line FROM {table}" + (f" LIMIT {limit}" if limit else ""))
            while rows := result.fetchmany(10_000):
                yield from (row[0] or "" for row in rows)
        except duckdb.Error as error:
            raise PugnnError(f"cannot read {self.shown}: {str(error).splitlines()[0]}. Unpack it first.") from None


def find_files(given: str | os.PathLike[str], folder: Path) -> list[File]:
    """The file of this name, or the files that match the pattern, in alphabetical order.

    ``folder`` takes links to files whose names DuckDB would misread.
    """
    shown = os.fspath(given)
    path = os.path.expanduser(shown)
    if "://" in shown and not os.path.exists(path):
        raise PugnnError(f"cannot read {shown}: only files on this machine are read. Download it first.")
    if os.path.isdir(path):
        raise PugnnError(f"{shown} is a folder; name a file in it, or all of them by a pattern in quotes: '{shown}/*'")
    found = [path]
    if glob.has_magic(path) and not os.path.lexists(path):
        found = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))
        if not found:
            raise PugnnError(f"no file matches the pattern {shown}")
    return [_file(name if len(found) > 1 else shown, Path(name), folder) for name in found]


def _file(shown: str, path: Path, folder: Path) -> File:
    try:
        if path.exists() and not path.is_file():
            raise PugnnError(f"{shown} is not a regular file; save what it gives to one first")
        with path.open("rb") as file:
            first = file.read(4)
        if not first:
            raise PugnnError(f"{shown} is empty")
        if first == b"PK\3\4":
            raise PugnnError(f"{shown} is an Excel workbook or a zip archive. Save the sheet as CSV, or unpack it.")
        plain = path.resolve()
        if glob.has_magic(str(plain)):
            plain = folder / f"file-{len(os.listdir(folder))}"
            plain.symlink_to(path.resolve())
    except OSError as error:
        raise PugnnError(f"cannot read {shown}: {error.strerror}") from None
    packed = next((kind for magic, kind in _PACKED.items() if first.startswith(magic)), "none")
    return File(shown, plain, first == b"PAR1", packed)
