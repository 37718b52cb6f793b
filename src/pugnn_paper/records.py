"""Records of finished trainings: one line each, only ever appended."""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pugnn.errors import PugnnError, PugnnWarning
from pugnn.files import lock, regular, remove_unfinished

Record = dict[str, Any]


class RecordStore:
    """A folder with ``records.jsonl``, which any number of processes may append to and read.

    Each record is a single append with a line break before and after it, so that one cut short by a kill or a full disk
    stays alone on its line. Every line carries a checksum; a damaged line is left where it is, and its cell is trained
    again.

    Args:
        folder: created if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "records.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.path.touch()
            if not os.access(self.path, os.W_OK):
                raise PermissionError(13, "Permission denied")
            remove_unfinished(folder)
        except OSError as error:
            why = f"{folder} is a file" if os.path.isfile(folder) else error.strerror
            raise PugnnError(f"cannot write to {self.path}: {why}. Choose another --out.") from None

    def read(self, *, warn: bool = True) -> dict[str, Record]:
        """All intact records by key, the first one where a key occurs twice. Damaged lines give a warning."""
        records: dict[str, Record] = {}
        damaged = []
        for number, record in self._records():
            if record is None:
                damaged.append(number)
            else:
                records.setdefault(record["key"], record)
        if damaged and warn:
            where = ", ".join(map(str, damaged[:5])) + (", …" if len(damaged) > 5 else "")
            which = f"record in line {where} is" if len(damaged) == 1 else f"records in lines {where} are"
            warnings.warn(
                f"{self.path}: damaged {which} ignored, and trained again where needed; all other records are kept. "
                "To get rid of this warning, delete the damaged lines.",
                PugnnWarning,
                stacklevel=2,
            )
        return records

    def holds(self, key: str) -> bool:
        """Whether there is an intact record with this key; other lines are not parsed."""
        return any(record is not None and record["key"] == key for _, record in self._records(key.encode()))

    def _records(self, mark: bytes = b"") -> Iterator[tuple[int, Record | None]]:
        """Numbers and records of the lines that contain a mark; ``None`` where a line is damaged."""
        try:
            lines = regular(self.path).read_bytes().split(b"\n")
        except OSError as error:
            raise PugnnError(f"cannot read {self.path}: {error.strerror}") from None
        return ((number, _unsealed(line)) for number, line in enumerate(lines, 1) if line and mark in line)

    def append(self, record: Record) -> None:
        """Add a record at the end of the file; readers see all of it or nothing."""
        line = b"\n" + _sealed(record) + b"\n"
        try:
            handle = os.open(regular(self.path), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                if os.write(handle, line) < len(line):
                    raise OSError(28, "No space left on device")
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise PugnnError(
                f"cannot write to {self.path}: {error.strerror}. All records so far are kept; once that is fixed, the "
                "same command continues from there."
            ) from None

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Claim a cell for this process while inside; ``False`` if another process is working on it.

        The claim is a lock, which the system drops with the process; its file has the name of an unfinished one, so
        that the next process clears it away. Without locks, two processes may do the same work.
        """
        path = self.folder / f".cell.{key[:16]}.unfinished"
        try:
            handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
        except OSError as error:
            raise PugnnError(f"cannot write to {path}: {error.strerror}. Choose another --out.") from None
        ours = lock(handle, path) is not False
        try:
            yield ours
        finally:
            if ours:
                path.unlink(missing_ok=True)
            os.close(handle)


def _sealed(record: Record) -> bytes:
    text = json.dumps(record, separators=(",", ":"), allow_nan=False).encode()  # a file name need not be UTF-8
    return b'{"sha256":"%b","record":%b}' % (_digest(text), text)


def _unsealed(line: bytes) -> Record | None:
    sealed = re.fullmatch(rb'{"sha256":"(\w+)","record":(.+)}', line)
    return json.loads(sealed[2]) if sealed and sealed[1] == _digest(sealed[2]) else None


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:16].encode()
