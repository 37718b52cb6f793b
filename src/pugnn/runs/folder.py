"""The run folder, which gets its name only when everything is in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path

from pugnn.errors import PugnnError, shorten
from pugnn.files import lock, locked, remove_unfinished, require_new


class RunFolder:
    """A folder that is filled as ``<name>.partial`` and renamed when the run is complete.

    A run that was stopped leaves the partial folder with its checkpoint, from which ``resume`` continues. The file
    ``run.lock`` marks the folder as a run; the process that fills it holds a lock on that file until it finishes or
    abandons the run, or ends in any other way.

    Args:
        path: of the finished run.
        resume: continue a run that was stopped.
    """

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        require_new(path)
        self.path = path
        self.partial = path.with_name(path.name + ".partial")
        self.checkpoint = self.partial / "checkpoint.safetensors"
        self._lock_file = self.partial / "run.lock"
        self._held = ExitStack()
        self._complete = False
        stopped = os.path.lexists(self.partial)
        if stopped and not self._is_ours():
            words = "is in the way: it is not a run that was stopped. Choose another --out, or remove it first."
            raise PugnnError(f"{self.partial} {words}")
        if stopped and not resume:
            with locked(self._lock_file) as free:
                if free is False:
                    raise self._taken()
            words = "Add --resume to continue it, or remove it to start afresh."
            raise PugnnError(f"{self.partial} holds a run that was stopped. {words}")
        if resume and not stopped:
            raise PugnnError(f"there is nothing to resume: {self.partial} does not exist. Run without --resume.")
        self._made = [folder for folder in (self.partial, *self.partial.parents) if not os.path.lexists(folder)]
        self._made_lock = not os.path.lexists(self._lock_file)
        try:
            self.partial.mkdir(parents=True, exist_ok=resume)
            handle = os.open(self._lock_file, os.O_CREAT | os.O_RDWR, 0o666)
            self._held.callback(os.close, handle)
        except FileExistsError:  # created in the meantime
            raise self._taken() from None
        except OSError as error:
            self._remove_made()
            raise PugnnError(f"cannot make the folder {self.partial}: {error.strerror}") from None
        if lock(handle, self._lock_file) is False:
            self._held.close()
            raise self._taken()
        remove_unfinished(self.partial)

    def _is_ours(self) -> bool:
        """Whether it holds a run, or nothing at all; runs of version 0.3 have a checkpoint and no lock file."""
        if self.partial.is_symlink() or not self.partial.is_dir():
            return False
        files = (self._lock_file, self.checkpoint)
        return any(file.is_file() and not file.is_symlink() for file in files) or not os.listdir(self.partial)

    def _taken(self) -> PugnnError:
        return PugnnError(f"{self.partial} is being filled by another process, which continues. Choose another --out.")

    def finish(self, written: Sequence[str] = ()) -> None:
        """Give the folder its name and remove checkpoint and lock, if everything ``written`` is there."""
        if lost := [name for name in written if not (self.partial / name).exists()]:
            raise PugnnError(f"{self.partial} was changed meanwhile: {shorten(lost)} went missing. Run again.")
        self._complete = True
        try:
            self.partial.rename(self.path)
        except OSError as error:
            words = f"cannot rename {self.partial} to {self.path}: {error.strerror}"
            raise PugnnError(f"{words}. The run is complete and stays where it is; rename it yourself.") from None
        for file in (self.checkpoint, self._lock_file):
            (self.path / file.name).unlink(missing_ok=True)
        self._held.close()

    def abandon(self) -> None:
        """Remove what was made here, unless the run is complete or can be resumed from a checkpoint."""
        if not self._complete and not self.checkpoint.exists():
            self._remove_made()
        if self._made_lock:
            with suppress(OSError):
                self._lock_file.unlink()
        self._held.close()

    def _remove_made(self) -> None:
        if self.partial in self._made:
            shutil.rmtree(self.partial, ignore_errors=True)
        for folder in self._made:
            with suppress(OSError):  # somebody else may have put something there
                folder.rmdir()


def next_free(folder: Path, name: str, *, first: int = 1, suffix: str = "") -> Path:
    """The first of ``folder/name-1``, ``folder/name-2``, … that is not there, nor is a run that was stopped there."""
    paths = (folder / f"{name}-{number}{suffix}" for number in count(first))
    return next(path for path in paths if not any(os.path.lexists(f"{path}{more}") for more in ("", ".partial")))
