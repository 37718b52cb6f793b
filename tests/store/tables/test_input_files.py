import errno
import os
import tempfile
from pathlib import Path

import pytest

from pugnn.errors import PugnnError
from pugnn.store.tables import input_files as module
from pugnn.store.tables.input_files import Scratch


@pytest.fixture(params=["nameless", "named"])
def scratch(request, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    if request.param == "named":  # as on systems without such a folder
        monkeypatch.setattr(module, "OPEN_FILES", Path("/no/such/folder"))
    elif not module.OPEN_FILES.is_dir():
        pytest.skip("open files have no names here")
    with Scratch() as made:
        yield made
    assert not os.listdir(tmp_path / "tmp")


def test_what_is_written_can_be_read_by_name(scratch):
    with scratch.new_file() as (file, path):
        file.write(b"a,b\n")
    assert path.read_bytes() == b"a,b\n"
    assert path.parent in scratch.folders


@pytest.mark.parametrize("name", ["plain.csv", "a[1]*.csv", os.fsdecode(b"a\xff.csv")])
def test_another_name_where_one_is_needed(scratch, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"content")
    plain = scratch.plain_name(path)
    assert plain.read_bytes() == b"content"
    assert (plain == path) == (name == "plain.csv")


def test_nothing_has_a_name_in_the_temporary_folder(tmp_path, monkeypatch):
    if not module.OPEN_FILES.is_dir():
        pytest.skip("open files have no names here")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Scratch() as scratch:
        with scratch.new_file() as (file, _):
            file.write(b"x")
        assert not os.listdir(tmp_path)


def test_not_all_of_many_files_are_held_open(scratch, monkeypatch):
    monkeypatch.setattr(module, "_MAX_OPEN", 2)
    paths = []
    for number in range(5):
        with scratch.new_file() as (file, path):
            file.write(b"%d" % number)
        paths.append(path)
        assert file.closed == (path.parent != module.OPEN_FILES)
    assert [path.read_bytes() for path in paths] == [b"0", b"1", b"2", b"3", b"4"]


def test_no_room_is_said(scratch, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(PugnnError, match=r"temporary copy of a table.*No space left.*TMPDIR"), scratch.new_file():
        pass
