"""The run folder: it has its name only when everything is in it."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from pugnn.errors import PugnnError


class RunFolder:
    """A folder that is filled under the name ``<name>.partial`` and renamed when the run is complete.

    A run that was stopped leaves the partial folder with its checkpoint, from which ``resume`` goes on.

    Args:
        path: where the finished run shall lie.
        resume: go on with a run that was stopped.
    """

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        if os.path.lexists(path):
            raise PugnnError(f"{path} exists already and is left as it is. Choose another --out, or remove it first.")
        self.path = path
        self.partial = path.with_name(path.name + ".partial")
        self.checkpoint = self.partial / "checkpoint.safetensors"
        stopped = os.path.lexists(self.partial)
        if stopped and not resume:
            raise PugnnError(
                f"{self.partial} holds a run that was stopped. Add --resume to go on with it, or remove it to start "
                "anew."
            )
        if resume and not stopped:
            raise PugnnError(f"there is nothing to resume: {self.partial} does not exist. Run without --resume.")
        self._made = [folder for folder in (self.partial, *self.partial.parents) if not os.path.lexists(folder)]
        self._complete = False
        try:
            self.partial.mkdir(parents=True, exist_ok=resume)
        except OSError as error:
            self._remove_made()
            raise PugnnError(f"cannot make the folder {self.partial}: {error.strerror}") from None
        for unfinished in self.partial.glob(".*.*"):  # what a killed run was just writing, see pugnn.files
            unfinished.unlink()

    def finish(self) -> None:
        """Give the folder its name and drop the checkpoint."""
        self._complete = True
        try:
            self.partial.rename(self.path)
        except OSError as error:
            raise PugnnError(
                f"cannot rename {self.partial} to {self.path}: {error.strerror}. The run is complete and stays "
                "where it is; rename it yourself."
            ) from None
        (self.path / self.checkpoint.name).unlink(missing_ok=True)

    def abandon(self) -> None:
        """Remove what was made here, unless there is a checkpoint to go on from or the run is complete."""
        if not self._complete and not self.checkpoint.exists():
            self._remove_made()

    def _remove_made(self) -> None:
        if self.partial in self._made:
            shutil.rmtree(self.partial, ignore_errors=True)
        for folder in self._made:
            with suppress(OSError):  # somebody else may have put something there
                folder.rmdir()


def next_free(folder: Path, name: str) -> Path:
    """The first of ``folder/name-1``, ``folder/name-2``, … that no run, finished or stopped, has taken."""
    number = 1
    while any(os.path.lexists(folder / f"{name}-{number}{suffix}") for suffix in ("", ".partial")):
        number += 1
    return folder / f"{name}-{number}"
