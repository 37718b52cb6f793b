import hashlib
import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

from pugnn.errors import PugnnError
from pugnn.store import build_store, open_store, read_manifest, read_store
from pugnn.store.opening import listed_files
from pugnn.store.stored_arrays import new_array, write_array
from store.messy import messy_tables, write_tables


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    build_store(folder / "store", **write_tables(folder, messy_tables(integers=False, weighted=True)))
    return folder / "store"


@pytest.fixture
def store(built, tmp_path):
    return shutil.copytree(built, tmp_path / "store")


def test_arrays_are_written_in_pieces_and_read_by_numpy(tmp_path):
    with new_array(tmp_path, "x", np.float32, 3) as file:
        file.write(np.ones((2, 3)))
        file.write(np.zeros((0, 3)))
        file.write(2 * np.ones((1, 3), order="F"))
    write_array(tmp_path, "y", np.arange(4))
    x = np.load(tmp_path / "x.npy", allow_pickle=False)
    assert x.dtype == np.float32
    assert x.tolist() == [[1, 1, 1], [1, 1, 1], [2, 2, 2]]
    assert np.load(tmp_path / "y.npy").tolist() == [0, 1, 2, 3]


def test_the_arrays_of_a_sound_store_are_mapped(store):
    graph = open_store(store)
    assert graph.num_nodes > 0
    for array in (graph.indptr, graph.indices, graph.weights, graph.features):
        assert isinstance(array.base, np.memmap)
        assert not array.flags.writeable
    assert graph.stored.checksum == read_manifest(store).checksum


@pytest.mark.parametrize("name", ["indptr", "indices", "weights", "features", "id_starts", "id_letters", "store.json"])
def test_a_changed_bit_is_found_by_every_command(store, name):
    path = store / (name if "." in name else f"{name}.npy")
    content = bytearray(path.read_bytes())
    content[-5] ^= 16
    path.write_bytes(content)
    with pytest.raises(
        PugnnError, match=rf"the graph store .* is damaged: .*{name}.*Build it again with `pugnn build`"
    ):
        read_store(store)


@pytest.mark.parametrize("name", ["indices.npy", "features.npy", "id_starts.npy"])
def test_a_file_that_is_cut_short_or_missing_is_found_at_once(store, name):
    with (store / name).open("r+b") as file:
        file.truncate(200)
    with pytest.raises(PugnnError, match=rf"damaged: {name} has 200 bytes instead of"):
        open_store(store)
    (store / name).unlink()
    with pytest.raises(PugnnError, match=f"damaged: {name} is missing"):
        open_store(store)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("cleaning", {"a": 1}),
        ("cleaning", 7),
        ("feature_names", None),
        ("notes", 7),
        ("notes", [7]),
        ("id_column", [7]),
    ],
)
def test_a_list_with_a_fitting_checksum_must_still_be_well_formed(store, part, value):
    _reseal(store, {part: value})
    with pytest.raises(PugnnError, match=r"is damaged: store.json"):
        open_store(store)


def test_a_list_with_a_fitting_checksum_must_name_the_files_of_a_store_in_its_folder(store):
    files = json.loads((store / "store.json").read_text())["files"]
    for changed in [
        {},
        {name: file for name, file in files.items() if name != "indices.npy"},
        {**files, "../indices.npy": files["indices.npy"]},
        {**files, "indices.npy": {**files["indices.npy"], "shape": None}},
        {**files, "indices.npy": {**files["indices.npy"], "bytes": "many"}},
    ]:
        _reseal(store, {"files": changed})
        with pytest.raises(PugnnError, match=r"is damaged: store.json"):
            open_store(store)


def _reseal(store, changes):
    """Change store.json, and make its checksum fit."""
    record = json.loads((store / "store.json").read_text()) | changes
    content = {name: value for name, value in record.items() if name not in ("format", "checksum")}
    record["checksum"] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    (store / "store.json").write_text(json.dumps(record))


def test_what_is_no_store_of_this_version_is_refused(store, tmp_path):
    for path in (tmp_path / "nowhere", tmp_path, store / "indices.npy"):
        with pytest.raises(PugnnError, match=r"is not a graph store: it has no store.json. Give a folder"):
            open_store(path)
    record = json.loads((store / "store.json").read_text())
    for content, message in [
        ({**record, "format": 0}, "is a graph store of version 0, but this release reads version 1. Build it again"),
        ({**record, "format": 2}, "of version 2"),
        ({**record, "notes": ["other"]}, "store.json was changed after it was written"),
        ({**record, "files": 7}, "store.json was changed after it was written"),
        ({"format": 1}, "store.json was changed after it was written"),
        ([], "store.json names no version"),
    ]:
        (store / "store.json").write_text(json.dumps(content))
        with pytest.raises(PugnnError, match=message):
            open_store(store)
    (store / "store.json").write_text("{")
    with pytest.raises(PugnnError, match=r"store.json is not JSON"):
        open_store(store)


def test_files_of_other_folders_are_refused(store, tmp_path):
    shutil.copy(store / "indices.npy", tmp_path / "indices.npy")
    manifest = read_manifest(store)
    replace(manifest, files={**manifest.files, "../indices.npy": manifest.files["indices.npy"]}).write(store)
    with pytest.raises(PugnnError, match=r"store.json was changed after it was written"):
        open_store(store)


@pytest.mark.parametrize(
    "changed",
    [
        lambda manifest: {"files": {name: file for name, file in manifest.files.items() if name != "indptr.npy"}},
        lambda manifest: {"files": {name: replace(file, bytes="7") for name, file in manifest.files.items()}},
        lambda _: {"cleaning": {"other": 1}},
        lambda _: {"feature_names": None},
    ],
)
def test_a_list_that_fits_its_checksum_but_not_the_files_is_refused(store, changed):
    manifest = read_manifest(store)
    replace(manifest, **changed(manifest)).write(store)
    with pytest.raises(PugnnError, match=r"the graph store .* is damaged: store.json"):
        open_store(store)


def _exchange(store, name, array):
    """Put another array into a store, and make its list fit."""
    manifest = read_manifest(store)
    np.save(store / f"{name}.npy", array)
    replace(manifest, files={**manifest.files, f"{name}.npy": listed_files(store)[f"{name}.npy"]}).write(store)


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("indices", 3, 10**6),
        ("indices", 3, -1),
        ("indptr", 1, -1),
        ("indptr", 1, 10**12),
        ("indptr", -1, 10**12),
        ("id_starts", 0, 10**12),
        ("id_starts", 5, -1),
        ("id_starts", -1, 10**12),
        ("id_letters", 1, 255),
    ],
)
def test_positions_outside_the_graph_are_refused_even_with_the_right_checksum(store, name, at, value):
    array = np.load(store / f"{name}.npy")
    array[at] = value
    _exchange(store, name, array)
    for verified in (False, True):
        with pytest.raises(PugnnError, match=r"the graph store .* is damaged: store.json does not fit the other files"):
            open_store(store, verified=verified)


@pytest.mark.parametrize("name", ["indptr", "indices", "weights", "features", "id_starts"])
@pytest.mark.parametrize("change", [lambda a: a[:-1], lambda a: a.astype(np.float64) + 0.5, lambda a: a[None]])
def test_arrays_of_other_types_and_shapes_are_refused_even_with_the_right_checksum(store, name, change):
    _exchange(store, name, change(np.load(store / f"{name}.npy")))
    with pytest.raises(PugnnError, match=r"the graph store .* is damaged"):
        open_store(store)


def test_sparse_features_with_columns_that_do_not_exist_are_refused(tmp_path):
    nodes = {"id": list(range(40)), **{f"w{at}": [int(n == at) for n in range(40)] for at in range(40)}}
    build_store(tmp_path / "store", [(n, n + 1) for n in range(39)], nodes)
    for name, value in (("feature_columns", 10**6), ("feature_starts", 10**6)):
        copied = shutil.copytree(tmp_path / "store", tmp_path / name)
        array = np.load(copied / f"{name}.npy")
        array[1] = value
        _exchange(copied, name, array)
        with pytest.raises(PugnnError, match="do not fit together"):
            open_store(copied)


@pytest.mark.parametrize("name", ["store.json", "indices.npy"])
def test_a_pipe_in_place_of_a_file_is_refused_at_once(store, name):
    (store / name).unlink()
    os.mkfifo(store / name)
    with pytest.raises(PugnnError, match=f"{name}: it is not a regular file"):
        open_store(store)


def test_whatever_happens_to_the_head_of_a_file_there_is_no_other_error(store):
    content = (store / "indices.npy").read_bytes()
    refused, unpadded = 0, len(content[:128].rstrip())
    for at in range(128):
        (store / "indices.npy").write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        try:
            open_store(store)
        except PugnnError:
            refused += 1
    assert refused >= unpadded  # nothing but white space follows
