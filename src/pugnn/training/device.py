"""The device that a training runs on."""

from __future__ import annotations

import torch

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
    index = torch.cuda.current_device() if device.index is None else device.index
    if index >= torch.cuda.device_count():
        raise PugnnError(f"there is no device {name!r}; torch sees {torch.cuda.device_count()} CUDA devices")
    return torch.device("cuda", index)  # numbered, so that one device has one name
