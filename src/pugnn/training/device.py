"""The device that a training runs on."""

from __future__ import annotations

import torch

from pugnn import processes
from pugnn.errors import PugnnError


def resolve_device(name: str) -> torch.device:
    """The torch device of that name."""
    try:
        device: torch.device | None = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise PugnnError(f"there is no device {name!r}; use cpu, cuda or cuda:1")
    if device.type == "cpu":
        return device
    if not torch.cuda.is_available():
        raise PugnnError("device='cuda' was requested, but torch sees no CUDA device; use device='cpu'")
    several = processes.count() > 1
    if several and device.index is not None:
        raise PugnnError(f"each process has a device of its own; use device='cuda' instead of {name!r}")
    own = processes.number_on_host() if several else torch.cuda.current_device()
    index = own if device.index is None else device.index
    if index >= torch.cuda.device_count():
        found = f"torch sees {torch.cuda.device_count()} CUDA devices"
        if several:
            raise PugnnError(f"there is no device for process {index} of this host; {found}. Start no more processes.")
        raise PugnnError(f"there is no device {name!r}; {found}")
    return torch.device("cuda", index)  # numbered, so that one device has one name
