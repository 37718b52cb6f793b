import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from pugnn.datasets import cache
from pugnn.datasets.archive import Archive, Sizes, archive_bytes, read_archive, simple_edges
from pugnn.datasets.cache import cached
from pugnn.errors import PugnnError, PugnnWarning
from pugnn.files import cache_folder


def path_graph(nodes: int = 4) -> Archive:
    nodes_in_order = np.arange(nodes)
    return Archive(
        edge_index=simple_edges(nodes_in_order[:-1], nodes_in_order[1:], nodes),
        x=sp.csr_array(np.eye(nodes, dtype=np.float32)),
        y=(nodes_in_order % 2).astype(np.int16),
        missing_nodes=np.asarray([1], dtype=np.int32),
        ids=nodes_in_order.astype(np.int64) + 10,
        class_names=("even", "odd"),
    )


class Builder:
    """Counts how often it is asked to build."""

    def __init__(self):
        self.calls = 0

    def __call__(self) -> Archive:
        self.calls += 1
        return path_graph()


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PUGNN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("PUGNN_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("PUGNN_CACHE")
    assert cache_folder() == tmp_path / "xdg" / "pugnn"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "pugnn"


def test_without_a_home_folder_the_cache_must_be_named(monkeypatch):
    for name in ("PUGNN_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(PugnnError, match="Set PUGNN_CACHE"):
        cache_folder()


def test_built_once_and_read_back_whole(folder):
    build = Builder()
    first, second = cached("path", build), cached("path", build)
    assert build.calls == 1
    for archive in (first, second):
        assert archive.edge_index.tolist() == [[0, 1, 2], [1, 2, 3]]
        assert np.array_equal(archive.x.toarray(), np.eye(4))
        assert archive.y.tolist() == [0, 1, 0, 1]
        assert archive.missing_nodes.tolist() == [1]
        assert archive.ids.tolist() == [10, 11, 12, 13]
        assert archive.class_names == ("even", "odd")
    assert [file.name for file in (folder / "path").iterdir()] == ["path.npz"]


def test_the_file_is_an_ordinary_npz_with_the_same_bytes_each_time(folder):
    cached("path", path_graph)
    path = folder / "path" / "path.npz"
    assert path.read_bytes() == archive_bytes(path_graph())
    with np.load(path, allow_pickle=False) as file:
        assert int(file["num_nodes"]) == 4


def truncate(content: bytes) -> bytes:
    return content[:-100]


def change_a_byte(content: bytes) -> bytes:
    return content[:60] + bytes([content[60] ^ 1]) + content[61:]


def empty(content: bytes) -> bytes:
    return b""


def swap_in_a_file_without_checksum(content: bytes) -> bytes:
    return content[:-64] + b"0" * 64


@pytest.mark.parametrize("damage", [truncate, change_a_byte, empty, swap_in_a_file_without_checksum])
def test_a_broken_cache_is_noticed_and_rebuilt(damage, folder):
    build = Builder()
    cached("path", build)
    path = folder / "path" / "path.npz"
    good = path.read_bytes()
    path.write_bytes(damage(good))
    with pytest.warns(PugnnWarning, match=r"path\.npz is damaged \(its checksum does not.*rebuilding it"):
        assert cached("path", build).y.tolist() == [0, 1, 0, 1]
    assert build.calls == 2
    assert path.read_bytes() == good
    cached("path", build)
    assert build.calls == 2


def test_a_failed_build_leaves_nothing(folder):
    def fail() -> Archive:
        raise PugnnError("no network")

    with pytest.raises(PugnnError, match="no network"):
        cached("path", fail)
    assert list(folder.rglob("*.npz")) == []


def test_a_write_that_breaks_off_leaves_the_old_file(folder, monkeypatch):
    path = folder / "path" / "path.npz"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"old")

    def no_replace(source, target):
        raise OSError("disk full")

    monkeypatch.setattr(cache.os, "replace", no_replace)
    with (
        pytest.warns(PugnnWarning, match="rebuilding it"),
        pytest.raises(PugnnError, match=r"cannot write .*path\.npz: disk full"),
    ):
        cached("path", path_graph)
    assert [file.name for file in path.parent.iterdir()] == ["path.npz"]
    assert path.read_bytes() == b"old"


def test_a_cache_that_cannot_be_made_says_so_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PUGNN_CACHE", str(tmp_path / "file" / "cache"))
    build = Builder()
    with pytest.raises(PugnnError, match=r"cannot write to the cache.*Set PUGNN_CACHE"):
        cached("path", build)
    assert build.calls == 0


def test_a_read_only_cache_says_so(folder, monkeypatch):
    monkeypatch.setattr(cache.os, "access", lambda path, mode: False)
    with pytest.raises(PugnnError, match=r"permission denied.*Set PUGNN_CACHE"):
        cached("path", path_graph)


RACE = """
import sys, warnings
warnings.simplefilter("error")
sys.path.insert(0, {tests!r})
from test_cache import path_graph
from pugnn.datasets.cache import cached
from pugnn.files import cache_folder
for _ in range(100):
    assert len(cached("path", lambda: path_graph(50)).y) == 50
    (cache_folder() / "path" / "path.npz").unlink(missing_ok=True)
    cached("path", lambda: path_graph(50))
"""


def test_processes_at_once_never_see_half_a_file(folder):
    code = RACE.format(tests=str(Path(__file__).parent))
    command = [sys.executable, "-c", code]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    errors = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], errors
    assert len(cached("path", path_graph).y) == 50
    assert [file.name for file in (folder / "path").iterdir()] == ["path.npz"]


# ---------------------------------------------------------------------- reading one file

WHOLE = archive_bytes(path_graph())


def npz(*absent: str, **changed) -> bytes:
    """The path graph's file with arrays left out or changed, as numpy itself writes it."""
    with np.load(io.BytesIO(WHOLE)) as file:
        arrays = {key: file[key] for key in file.files if key not in absent}
    buffer = io.BytesIO()
    np.savez(buffer, **{**arrays, **changed})
    return buffer.getvalue()


def test_no_checksum_is_asked_of_files_from_elsewhere(tmp_path):
    (tmp_path / "a.npz").write_bytes(npz("ids", "class_names", "missing_nodes"))
    archive = read_archive(tmp_path / "a.npz")
    assert (archive.ids, archive.class_names, len(archive.missing_nodes)) == (None, None, 0)
    assert archive.sizes == Sizes(nodes=4, edges=3, features=4, class_counts=(2, 2))


def test_class_names_cannot_steer_a_terminal(tmp_path):
    names = np.asarray(["\x1b]0;title\x07even", "odd\x9b31m"])
    (tmp_path / "a.npz").write_bytes(npz(class_names=names))
    assert read_archive(tmp_path / "a.npz").class_names == ("�]0;title�even", "odd�31m")


BROKEN = {
    "empty": (b"", "not a complete"),
    "no zip": (b"something else entirely", "not a complete"),
    "truncated": (truncate(WHOLE), "not a complete"),
    "a changed byte": (change_a_byte(WHOLE), "cannot read"),
    "missing keys": (npz("y", "x_data"), "lacks the arrays x_data, y"),
    "an object array": (npz(y=np.asarray([{}, 1, 2, 3], dtype=object)), "allow_pickle"),
    "an edge too far": (npz(edge_index=np.asarray([[0], [4]])), "edge_index names a node outside 0 to 3"),
    "a flat edge_index": (npz(edge_index=np.asarray([0, 1])), "shapes disagree"),
    "fractional edges": (npz(edge_index=np.asarray([[0.5], [1]])), "edge_index names a node"),
    "too few labels": (npz(y=np.asarray([0, 1])), "shapes disagree"),
    "too few ids": (npz(ids=np.asarray([0, 1])), "shapes disagree"),
    "a negative label": (npz(y=np.asarray([0, 1, 1, -1])), "class index"),
    "ids that stand twice": (npz(ids=np.array([1, 2, 2, 3])), "node ids must be unique; these appear .* 2"),
    "too few class names": (npz(class_names=np.asarray(["even"])), "1 class names for 2 classes"),
    "a column too far": (npz(x_indices=np.full(4, 9, dtype=np.int32)), "do not fit together"),
    "a column below 0": (npz(x_indices=np.full(4, -9, dtype=np.int32)), "do not fit together"),
    "a row too far": (npz(x_indptr=np.array([0, 10**6, 2, 3, 4])), "do not fit together"),
    "fractional columns": (npz(x_indices=np.full(4, 0.5)), "x_indices must be integers"),
    "a class too far": (npz(y=np.asarray([0, 1, 1, 10**12])), "class index"),
    "an infinite feature": (npz(x_data=np.full(4, np.inf, dtype=np.float32)), "not finite"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_gets_one_clear_message(case, tmp_path):
    content, reason = BROKEN[case]
    path = tmp_path / "mine.npz"
    path.write_bytes(content)
    with pytest.raises(PugnnError, match=reason) as caught:
        read_archive(path)
    assert str(path) in str(caught.value)
    assert "Replace it with an intact copy" in str(caught.value)
