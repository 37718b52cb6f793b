import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from archives import archive_bytes, change_a_byte, path_graph, truncate
from pugnn.datasets import Archive
from pugnn.errors import PugnnError, PugnnWarning
from pugnn.files import cache_folder
from pugnn_paper import downloads
from pugnn_paper.downloads import cached


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


def empty(content: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [truncate, change_a_byte, empty])
def test_a_broken_cache_is_noticed_and_rebuilt(damage, folder):
    build = Builder()
    cached("path", build)
    path = folder / "path" / "path.npz"
    good = path.read_bytes()
    path.write_bytes(damage(good))
    with pytest.warns(PugnnWarning, match=r"path\.npz is damaged \(.*rebuilding it"):
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

    monkeypatch.setattr(downloads.os, "replace", no_replace)
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
    monkeypatch.setattr(downloads.os, "access", lambda path, mode: False)
    with pytest.raises(PugnnError, match=r"permission denied.*Set PUGNN_CACHE"):
        cached("path", path_graph)


RACE = """
import sys, warnings
warnings.simplefilter("error")
sys.path.insert(0, {tests!r})
from archives import path_graph
from pugnn.files import cache_folder
from pugnn_paper.downloads import cached
for _ in range(100):
    assert len(cached("path", lambda: path_graph(50)).y) == 50
    (cache_folder() / "path" / "path.npz").unlink(missing_ok=True)
    cached("path", lambda: path_graph(50))
"""


def test_processes_at_once_never_see_half_a_file(folder):
    code = RACE.format(tests=str(Path(__file__).parents[1]))
    command = [sys.executable, "-c", code]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    errors = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], errors
    assert len(cached("path", path_graph).y) == 50
    assert [file.name for file in (folder / "path").iterdir()] == ["path.npz"]
