"""A store: the list of its files, with sizes and checksums, and the graph whose arrays stay in them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from pugnn.errors import Displayed, PugnnError, counted, require_type
from pugnn.features.typed_recipe import recipe_from_plain
from pugnn.files import as_path, regular
from pugnn.graph import Cleaning, Graph
from pugnn.graph.arrays import reject_infinite, require_adjacency
from pugnn.graph.stored import Stored
from pugnn.store.arguments import Request
from pugnn.store.assembly.table_graph import TableGraph
from pugnn.store.ids import ids_of
from pugnn.store.node_lists import ListableNodes, read_lists
from pugnn.store.stored_arrays import damaged, features_in, ids_in, open_array, relation_files, relations_in
from pugnn.store.tables.access import read_tables
from pugnn.task import PUTask
from pugnn.threads import available_threads

#: Changes whenever files of the same names mean something else.
FORMAT = 1

MANIFEST = "store.json"

#: What a manifest may lack.
_OPTIONAL = ("relations", "kinds")


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
        relations: name, ends and reverse of each relation (:class:`pugnn.graph.Relation`), if there are several.
        kinds: number of nodes of each kind by name, if there are several.
    """

    files: Mapping[str, StoredFile]
    cleaning: Mapping[str, int]
    recipe: Mapping[str, Any]
    feature_names: Sequence[str]
    id_column: str | None
    notes: Sequence[str]
    built_from: Sequence[Mapping[str, Any]]
    relations: Sequence[Mapping[str, Any]] = ()
    kinds: Sequence[tuple[str, int]] = ()

    @property
    def checksum(self) -> str:
        """A SHA-256 of all that this says, and so of the whole store."""
        return hashlib.sha256(json.dumps(self.to_plain(), sort_keys=True).encode()).hexdigest()

    def to_plain(self) -> dict[str, Any]:
        """All that this says, fit for JSON; without relations and kinds if there are none."""
        return {name: value for name, value in asdict(self).items() if name not in _OPTIONAL or value}

    def _facts(self) -> list[str]:
        size = sum(file.bytes for file in self.files.values())
        return [counted(len(self.files), "file"), f"{size:,} bytes", counted(len(self.notes), "note")]

    def write(self, folder: Path) -> None:
        """Write ``store.json``."""
        record = {"format": FORMAT, "checksum": self.checksum, **self.to_plain()}
        (folder / MANIFEST).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def listed_files(folder: Path) -> dict[str, StoredFile]:
    """All arrays in a folder, with their checksums."""
    files = {}
    for name, checksum in _checksums(folder, sorted(path.name for path in folder.glob("*.npy"))).items():
        array = open_array(folder, name.removesuffix(".npy"))
        files[name] = StoredFile(array.dtype.str, array.shape, (folder / name).stat().st_size, checksum)
    return files


def _checksums(folder: Path, names: Collection[str]) -> dict[str, str]:
    def checksum(name: str) -> str:
        with regular(folder / name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    with ThreadPoolExecutor(available_threads()) as pool:
        return dict(zip(names, pool.map(checksum, names), strict=True))


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
    try:
        files = {name: StoredFile(**entry) for name, entry in record["files"].items()}
        known = {field.name: record[field.name] for field in fields(Manifest) if field.name in record}
        manifest = Manifest(**{**known, "files": files})
        sound = manifest.checksum == record["checksum"] and _well_formed(manifest)
    except (KeyError, TypeError, AttributeError):
        sound = False
    if not sound:
        raise damaged(folder, f"{MANIFEST} was changed after it was written")
    for name, file in manifest.files.items():
        try:
            size = regular(folder / name).stat().st_size
        except OSError as error:
            gone = isinstance(error, FileNotFoundError)
            raise damaged(folder, f"{name} is missing" if gone else f"{name}: {error.strerror}") from None
        if size != file.bytes:
            raise damaged(folder, f"{name} has {size:,} bytes instead of {file.bytes:,}")
    return manifest


def _well_formed(manifest: Manifest) -> bool:
    """Whether everything has its type, which a checksum that was made to fit does not show."""
    return (
        all(name.removesuffix(".npy").isidentifier() for name in manifest.files)  # no other folder
        and all(isinstance(file.bytes, int) and isinstance(file.shape, list) for file in manifest.files.values())
        and all(isinstance(number, int) for number in manifest.cleaning.values())
        and isinstance(manifest.id_column, str | None)
        and all(isinstance(text, list) for text in (manifest.feature_names, manifest.notes, manifest.built_from))
        and all(isinstance(text, str) for text in (*manifest.feature_names, *manifest.notes))
    )


def open_store(path: str | os.PathLike[str], *, verified: bool = False) -> Graph:
    """Open a store that :func:`build_store` or ``pugnn build`` wrote.

    The arrays are memory-mapped, and the system reads what is used. All files must be there, each of its length.
    Arrays of positions are read once, to see that all lie within the graph: kernels rely on that.

    Args:
        path: the folder.
        verified: read all files once and compare their checksums, about a second per gigabyte.
    """
    require_type("verified", verified, bool, "True or False")
    return open_with_manifest(as_path(path), verified=verified)[0]


def open_with_manifest(folder: Path, *, verified: bool) -> tuple[Graph, Manifest]:
    """The graph of a store, and what ``store.json`` says."""
    manifest = read_manifest(folder)
    if verified:
        for name, checksum in _checksums(folder, manifest.files).items():
            if checksum != manifest.files[name].sha256:
                raise damaged(folder, f"the content of {name} has changed since it was written")
    listed = {name.removesuffix(".npy"): file for name, file in manifest.files.items()}
    arrays = {name: open_array(folder, name) for name in listed}
    for name, file in listed.items():
        if arrays[name].dtype.str != file.dtype or list(arrays[name].shape) != file.shape:
            raise damaged(folder, f"the head of {name}.npy has changed since it was written")
    try:
        indptr, indices, weights = arrays["indptr"], arrays["indices"], arrays.get("weights")
        require_adjacency(indptr, indices, weights)
        ids = ids_in(arrays)
        features = features_in(arrays, (len(indptr) - 1, len(manifest.feature_names)))
        relations = relations_in(arrays, manifest.relations)
        for relation in relations.values():
            require_adjacency(relation.indptr, relation.indices, relation.weights)
        sums = {name: file.sha256 for name, file in listed.items()}
        sums |= {f"{name} {part}": sums[file] for file, (name, part) in relation_files(relations).items()}
        if verified:
            reject_infinite(features, ids)  # type: ignore[arg-type]
        graph = Graph(
            indptr,
            indices,
            features,
            ids,  # type: ignore[arg-type]  # behaves like an array where it is text
            weights,
            tuple(manifest.feature_names),
            Cleaning(**manifest.cleaning),
            manifest.recipe,
            Stored(manifest.checksum, (indptr, indices, features, ids, weights, relations), ids, sums),
            relations,
            dict(manifest.kinds),
        )
    except (KeyError, TypeError, ValueError) as error:  # it has a checksum, but `pugnn build` did not write it
        raise damaged(folder, f"{MANIFEST} does not fit the other files: {error}") from None
    return graph, manifest


def read_store(
    path: str | os.PathLike[str],
    *,
    positives: Any = None,
    truth: Any = None,
    id: str | None = None,
    label: str | None = None,
    on_phase: Callable[[str], None] | None = None,
) -> TableGraph:
    """Open a store, verify its checksums, and read lists of known and true positives.

    Args:
        path: the folder.
        positives: as in :func:`pugnn.read_graph`, like the other arguments.
    """
    request = Request({"id": id, "label": label}, on_phase=on_phase)
    request.say(f"verifying {path}")
    graph, manifest = open_with_manifest(as_path(path), verified=True)
    listed, notes, _ = read_tables(
        {"positives": positives, "truth": truth},
        request.columns,
        lambda tables: read_lists(tables, request, ListableNodes(ids_of(graph), graph.ids, manifest.id_column)),
    )
    task = PUTask.from_positives(graph, listed["positives"]) if "positives" in listed else None
    recipe = recipe_from_plain(manifest.recipe)
    return TableGraph(graph, task, listed.get("truth"), recipe, (*manifest.notes, *notes), manifest.id_column)
