"""Writing files so that readers never see half of one, even after a crash, and where to keep them."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from filelock import lock_descriptor

from pugnn.errors import PugnnError, WriteError, require_type

#: Text that a spreadsheet would run: it begins like a formula and is not a plain number. Text that is already escaped
#: is escaped once more, so that no two ids become the same.
_FORMULA = re.compile(r"'*([=@\t\r\n]|[+-](?!\d+([.,]\d+)?$))")

#: Characters that need quotation marks. Many spreadsheets also split at semicolons and tabs.
_SPECIAL = re.compile(r'[,;\t"\r\n]')


def replacing(path: Path) -> AbstractContextManager[Path]:
    """A temporary file next to ``path``, which replaces it on success."""
    return _unfinished(path, path.suffix, Path.touch)  # the suffix is for writers that choose a format by it


def new_folder(path: Path) -> AbstractContextManager[Path]:
    """A temporary folder next to ``path``, which must not exist; it is renamed to it on success."""
    return _unfinished(path, "", Path.mkdir)


@contextmanager
def _unfinished(path: Path, suffix: str, make: Callable[[Path], None]) -> Iterator[Path]:
    with ExitStack() as held:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            remove_unfinished(path.parent, path.name)
            while True:
                temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.unfinished{suffix}")
                make(temporary)
                held.callback(_remove, temporary)
                # Another process that writes the same may have taken it for abandoned before it was locked.
                if held.enter_context(locked(temporary)) is not False and temporary.exists():
                    break
        except OSError as error:
            raise WriteError(f"cannot write {path}: {error.strerror}. Choose another place.") from None
        try:
            yield temporary
            os.replace(temporary, path)
        except OSError as error:
            raise WriteError(f"cannot write {path}: {error.strerror or error}. Nothing was changed there.") from None


def require_new(path: Path) -> None:
    """Raise if there is something under a name that is to be written."""
    if os.path.lexists(path):
        raise PugnnError(f"{path} already exists and is not overwritten. Choose another --out, or remove it first.")


def write_text(path: Path, text: str, errors: str = "strict") -> None:
    """Write text in UTF-8; ``errors`` says what becomes of what cannot be encoded, as in :meth:`str.encode`."""
    content = text.encode("utf-8", errors)
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def write_json(path: Path, value: Any) -> None:
    """Write plain values as JSON."""
    # What a name that is not UTF-8 leaves in a text is escaped in the way of JSON: it comes back as it was.
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n", "backslashreplace")


def cache_folder() -> Path:
    """``$PUGNN_CACHE``, else ``$XDG_CACHE_HOME/pugnn``, else ``~/.cache/pugnn``. It need not exist."""
    own, shared = os.environ.get("PUGNN_CACHE"), os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(own) if own else Path(shared or Path.home() / ".cache") / "pugnn"
    except RuntimeError:
        raise PugnnError("there is no home folder for the cache. Set PUGNN_CACHE to a writable folder.") from None


def as_path(name: Any, what: str = "path") -> Path:
    """The path that a user names, or an error if it cannot be the name of a file; ``what`` it is for messages."""
    require_type(what, name, str | os.PathLike, "the name of a file or folder")
    if not os.fspath(name) or "\0" in os.fsdecode(name):
        raise PugnnError(f"{what} must be the name of a file or folder; got {os.fspath(name)!r}")
    return Path(os.fsdecode(name))


def regular(path: Path) -> Path:
    """The same path; an ``OSError`` if it is a pipe, a socket or a device, whose reading may never end."""
    try:
        mode = path.stat().st_mode  # once: another process may be replacing it
    except (OSError, ValueError):  # opening it says why
        return path
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return path


def file_states(files: Iterable[str]) -> dict[str, list[int]]:
    """Size in bytes and time of the last change of each file, as far as they are there."""
    states = {}
    for file in files:
        with suppress(OSError, ValueError):
            found = os.stat(file)
            states[file] = [found.st_size, found.st_mtime_ns]
    return states


def remove_unfinished(folder: Path, name: str | None = None) -> None:
    """Remove what killed processes left unfinished in a folder, or under one name in it.

    What a process still holds a lock on stays, and everything does where locks are not available.
    """
    pattern = re.compile(rf"\.{'.+' if name is None else re.escape(name)}\.[0-9a-f]{{16}}\.unfinished(\.\w+)?")
    try:
        names = [each for each in os.listdir(folder) if pattern.fullmatch(each)]
    except OSError:  # a folder that can be written to, but not listed
        return
    for path in (folder / each for each in names):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            continue
        with locked(path) as free:
            if free:
                _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def locked(path: Path) -> Iterator[bool | None]:
    """Lock an existing file or folder while inside; yields what :func:`lock` returns."""
    with ExitStack() as held:
        free = None
        if sys.platform != "win32":  # where an open file cannot be renamed
            with suppress(OSError):  # it is gone, or cannot be opened on this system
                handle = os.open(path, os.O_RDONLY)
                held.callback(os.close, handle)
                free = lock(handle, path)
        yield free


def lock(handle: int, path: Path) -> bool | None:
    """Lock an open file until it is closed or the process ends, in whatever way.

    ``False`` if another process holds the lock, or has moved or removed the file since it was opened; ``None`` where
    locks are not available.
    """
    if sys.platform == "win32":  # where a lock would keep others from reading the file
        return None
    try:
        return lock_descriptor(handle, blocking=False) and os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
    except OSError:
        return None


def is_formula(value: Any) -> bool:
    """Whether a spreadsheet would run this value instead of showing it."""
    return isinstance(value, str) and _FORMULA.match(value) is not None


def write_csv(file: TextIO, header: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a table as CSV: numbers to the last bit, ``None`` as an empty field, and nothing that a spreadsheet runs.

    Spreadsheets run what begins like a formula, even in quotation marks; a ``'`` in front makes it text.
    """
    file.writelines(",".join(map(_field, row)) + "\n" for row in chain([header], rows))


def write_csv_folder(folder: Path, tables: Mapping[str, tuple[Iterable[str], Iterable[Iterable[Any]]]]) -> list[Path]:
    """Write tables, header and rows by name, as CSV files into a folder, which must not exist; returns the files."""
    require_new(folder)
    with new_folder(folder) as unfinished:
        for name, (header, rows) in tables.items():
            with (unfinished / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
                write_csv(file, header, rows)
    return [folder / f"{name}.csv" for name in tables]


def _field(value: Any) -> str:
    """A field of a CSV file. (Python's own writer leaves a lone carriage return without quotation marks.)"""
    if type(value) in (float, int):  # most fields are, and need no more
        return str(value)
    text = "" if value is None else f"'{value}" if is_formula(value) else str(value)
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text
