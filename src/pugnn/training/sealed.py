"""Tensors and JSON in one safetensors file in which any changed byte is detected.

Nothing in a safetensors file can run. The header holds our metadata and a SHA-256 of the whole file, computed with
zeros in place of the digest itself.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from pugnn.errors import PugnnError
from pugnn.files import regular, replacing

_KEY = b'"sha256":"'
_BLANK = b"0" * 64


def save_sealed(path: Path, tensors: dict[str, Tensor], metadata: dict[str, Any]) -> None:
    """Write tensors and metadata for JSON; an older file is replaced when the new one is complete."""
    header = {"pugnn": json.dumps(metadata), "sha256": _BLANK.decode()}
    content = save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, header)
    at = content.index(_KEY + _BLANK) + len(_KEY)
    digest = hashlib.sha256(content).hexdigest().encode()
    with replacing(path) as temporary:
        temporary.write_bytes(content[:at] + digest + content[at + 64 :])


def load_sealed(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what :func:`save_sealed` wrote, or raise an error that says why it cannot be trusted."""
    try:
        content = regular(path).read_bytes()
    except OSError as error:
        raise PugnnError(f"cannot read {path}: {error.strerror}") from None
    at = content.find(_KEY) + len(_KEY)
    expected = hashlib.sha256(content[:at] + _BLANK + content[at + 64 :]).hexdigest()
    if _KEY not in content or content[at : at + 64] != expected.encode():
        raise PugnnError(
            f"{path} is not an intact pugnn file: it is a file of another kind, or was truncated or changed after it "
            "was written (its checksum does not match). Use another copy or train again."
        )
    try:
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        metadata = json.loads(header["__metadata__"]["pugnn"])
        if not isinstance(metadata, dict):
            raise TypeError("its metadata is not a mapping")
        return load(content), metadata
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise PugnnError(f"{path} is not a pugnn file: {error}") from None
