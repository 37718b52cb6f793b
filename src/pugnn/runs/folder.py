"""The run folder: it has its name only when everything is in it."""

from __future__ import annotations

import shutil
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
        self.path = path
        self.partial = path.with_name(path.name + ".partial")
        self.checkpoint = self.partial / "checkpoint.safetensors"
        if path.exists():
            raise PugnnError(f"{path} exists already and is left as it is. Choose another --out, or remove it first.")
        if self.partial.exists() and not resume:
            raise PugnnError(
                f"{self.partial} holds a run that was stopped. Add --resume to go on with it, or remove it to start anew."
            )
        if resume and not self.checkpoint.exists():
            raise PugnnError(f"there is nothing to resume: {self.checkpoint} does not exist. Run without --resume.")
        try:
            self.partial.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PugnnError(f"cannot make the folder {self.partial}: {error.strerror}") from None

    def finish(self) -> None:
        """Drop the checkpoint and give the folder its name."""
        self.checkpoint.unlink(missing_ok=True)
        try:
            self.partial.rename(self.path)
        except OSError as error:
            raise PugnnError(f"cannot rename {self.partial} to {self.path}: {error.strerror}") from None

    def abandon(self) -> None:
        """Remove the partial folder, unless there is a checkpoint to go on from."""
        if not self.checkpoint.exists():
            shutil.rmtree(self.partial, ignore_errors=True)


def next_free(folder: Path, name: str) -> Path:
    """The first of ``folder/name-1``, ``folder/name-2``, … that no run, finished or stopped, has taken."""
    number = 1
    while any((folder / f"{name}-{number}{suffix}").exists() for suffix in ("", ".partial")):
        number += 1
    return folder / f"{name}-{number}"
