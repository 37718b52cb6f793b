"""Whether a file packed by zstd reaches its end, seen from the sizes of its blocks without unpacking them."""

from __future__ import annotations

from pathlib import Path
from typing import IO

_FRAME = 0xFD2FB528
_SKIPPABLE = range(0x184D2A50, 0x184D2A60)

# Sizes in bytes of two fields of a frame's header, by the two bits that say so (RFC 8878, section 3.1.1.1).
_DICTIONARY_ID = (0, 1, 2, 4)
_CONTENT_SIZE = (0, 2, 4, 8)

_RUN, _RESERVED = 1, 3


def is_whole(path: Path) -> bool:
    """Whether the file is a row of complete frames and nothing else."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            if not _skip_frame(file, size):
                return False
        return file.tell() == size


def _skip_frame(file: IO[bytes], size: int) -> bool:
    """Go to the end of the frame that begins here; ``False`` if there is none."""
    magic = int.from_bytes(file.read(4), "little")
    if magic in _SKIPPABLE:
        file.seek(int.from_bytes(file.read(4), "little"), 1)
        return file.tell() <= size
    descriptor = int.from_bytes(file.read(1), "little")
    if magic != _FRAME or file.tell() >= size:
        return False
    single_segment, checksum = descriptor >> 5 & 1, descriptor >> 2 & 1
    content_size = _CONTENT_SIZE[descriptor >> 6] or single_segment
    file.seek((1 - single_segment) + _DICTIONARY_ID[descriptor & 3] + content_size, 1)
    last = 0
    while not last:
        header = file.read(3)
        block = int.from_bytes(header, "little")
        last, kind, length = block & 1, block >> 1 & 3, block >> 3
        file.seek(1 if kind == _RUN else length, 1)
        if len(header) < 3 or kind == _RESERVED or file.tell() > size:
            return False
    file.seek(4 * checksum, 1)
    return file.tell() <= size
