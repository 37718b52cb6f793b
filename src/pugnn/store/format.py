"""The list of a store's files, with sizes and checksums."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pugnn.errors import Displayed, PugnnError, counted
from pugnn.files import as_path, regular
from pugnn.store.stored_arrays import damaged, open_array
from pugnn.threads import available_threads

#: Changes whenever files of the same names mean something else.
FORMAT = 1

MANIFEST = "store.json"


@dataclass(frozen=True)
class StoredFile:
    """A file of a store: the type and shape of its array, its length in bytes and its SHA-256."""

    dtype: str
    shape: Sequence[int]
    bytes: int
    sha256: str


@dataclass(frozen=True, repr=False)
class Manifest(Displayed):
    """What ``store.json`` says of a store.

    Args:
        files: the other files, by name.
        cleaning: how the edges were cleaned, see :class:`pugnn.graph.Cleaning`.
        recipe: how attributes became features.
        feature_names: one per feature.
        id_column: name of the column of ids in the node table, if there is one.
        notes: what was repaired or left out, one sentence each.
        built_from: name, size in bytes and time of the last change of each file that was read.
    """

    files: Mapping[str, StoredFile]
    cleaning: Mapping[str, int]
    recipe: Mapping[str, Any]
    feature_names: Sequence[str]
    id_column: str | None
    notes: Sequence[str]
    built_from: Sequence[Mapping[str, Any]]

    @property
    def checksum(self) -> str:
        """A SHA-256 of all that this says, and so of the whole store."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    def _facts(self) -> list[str]:
        size = sum(file.bytes for file in self.files.values())
        return [counted(len(self.files), "file"), f"{size:,} bytes", counted(len(self.notes), "note")]

    def write(self, folder: Path) -> None:
        """Write ``store.json``."""
        record = {"format": FORMAT, "checksum": self.checksum, **asdict(self)}
        (folder / MANIFEST).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def open_arrays(folder: Path, manifest: Manifest) -> dict[str, NDArray[Any]]:
    """All arrays of a store by name, memory-mapped."""
    arrays = {}
    for name, file in manifest.files.items():
        array = arrays[name.removesuffix(".npy")] = open_array(folder, name.removesuffix(".npy"))
        if array.dtype.str != file.dtype or list(array.shape) != list(file.shape):
            raise damaged(folder, f"the head of {name} has changed since it was written")
    return arrays


def listed_files(folder: Path) -> dict[str, StoredFile]:
    """All arrays in a folder, with their checksums."""
    files = {}
    for name, checksum in _checksums(folder, sorted(path.name for path in folder.glob("*.npy"))).items():
        array = open_array(folder, name.removesuffix(".npy"))
        files[name] = StoredFile(array.dtype.str, array.shape, (folder / name).stat().st_size, checksum)
    return files


def _checksums(folder: Path, names: Collection[str]) -> dict[str, str]:
    with ThreadPoolExecutor(available_threads()) as pool:
        return dict(zip(names, pool.map(lambda name: checksum_of(folder / name), names), strict=True))


def checksum_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with regular(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_manifest(folder: Path) -> Manifest:
    """Read ``store.json``, and check that all files are there, each of its length."""
    folder = as_path(folder)
    try:
        record = json.loads(regular(folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise PugnnError(
            f"{folder} is not a graph store: it has no {MANIFEST}. Give a folder that `pugnn build` wrote."
        ) from None
    except OSError as error:
        raise PugnnError(f"cannot read {folder / MANIFEST}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise damaged(folder, f"{MANIFEST} is not JSON") from None
    if not isinstance(record, dict) or not isinstance(record.get("format"), int):
        raise damaged(folder, f"{MANIFEST} names no version")
    if record["format"] != FORMAT:
        raise PugnnError(
            f"{folder} is a graph store of version {record['format']}, but this release reads version {FORMAT}. Build "
            "it again with `pugnn build`."
        )
    manifest = _of_record(folder, record)
    for name, file in manifest.files.items():
        try:
            size = regular(folder / name).stat().st_size
        except OSError as error:
            gone = isinstance(error, FileNotFoundError)
            raise damaged(folder, f"{name} is missing" if gone else f"{name}: {error.strerror}") from None
        if size != file.bytes:
            raise damaged(folder, f"{name} has {size:,} bytes instead of {file.bytes:,}")
    return manifest


def verify(folder: Path, manifest: Manifest) -> None:
    """Read all files and compare their checksums; a second or so per gigabyte, if the disk is fast."""
    found = _checksums(folder, manifest.files)
    for name, file in manifest.files.items():
        if found[name] != file.sha256:
            raise damaged(folder, f"the content of {name} has changed since it was written")


def _of_record(folder: Path, record: Mapping[str, Any]) -> Manifest:
    try:
        files = {name: StoredFile(**entry) for name, entry in record["files"].items()}
        others = {field.name: record[field.name] for field in fields(Manifest) if field.name != "files"}
        manifest = Manifest(files=files, **others)
        sound = manifest.checksum == record["checksum"] and _well_formed(manifest)
    except (KeyError, TypeError, AttributeError):
        sound = False
    if not sound:
        raise damaged(folder, f"{MANIFEST} was changed after it was written")
    return manifest


def _well_formed(manifest: Manifest) -> bool:
    """Whether everything has its type and its place, which a checksum that was made to fit does not tell."""
    names = {name.removesuffix(".npy") for name in manifest.files}
    return (
        {"indptr", "indices"} <= names
        and ("features" in names or {"feature_values", "feature_columns", "feature_starts"} <= names)
        and ("ids" in names or {"id_letters", "id_starts"} <= names)
        and all(name.isidentifier() for name in names)  # no other folder
        and all(isinstance(file.bytes, int) and isinstance(file.shape, list) for file in manifest.files.values())
        and manifest.cleaning.keys() <= {"rows", "self_loops", "duplicates", "two_way"}
        and all(isinstance(number, int) for number in manifest.cleaning.values())
        and isinstance(manifest.id_column, str | None)
        and all(isinstance(text, list) for text in (manifest.feature_names, manifest.notes, manifest.built_from))
        and all(isinstance(text, str) for text in (*manifest.feature_names, *manifest.notes))
    )
