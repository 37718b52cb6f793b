import errno
import io
import os
import stat
from threading import Thread

import pytest

from pugnn.cli.config import read_config
from pugnn.datasets.archive import read_archive
from pugnn.errors import PugnnError
from pugnn.estimator import PUNodeClassifier
from pugnn.files import lock, new_folder, regular, remove_unfinished, replacing, write_csv

LEFT = ".s.csv.0123456789abcdef.unfinished.csv"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def private():
    before = os.umask(0o077)
    yield
    os.umask(before)


def test_the_umask_is_kept(tmp_path, private):
    with replacing(tmp_path / "file") as temporary:
        assert mode(temporary) == 0o600
        temporary.write_text("1")
    with new_folder(tmp_path / "folder") as temporary:
        assert mode(temporary) == 0o700
    assert (mode(tmp_path / "file"), mode(tmp_path / "folder")) == (0o600, 0o700)


def write_half(making):
    with making as temporary:
        (temporary / "edges.csv" if temporary.is_dir() else temporary).write_text("half")
        raise OSError(28, "No space left on device")


def test_a_failure_leaves_the_older_file_and_nothing_else(tmp_path):
    (tmp_path / "s.csv").write_text("older")
    with pytest.raises(PugnnError, match=r"cannot write .*s.csv: No space left on device. Nothing was changed"):
        write_half(replacing(tmp_path / "s.csv"))
    assert (tmp_path / "s.csv").read_text() == "older"
    assert names(tmp_path) == ["s.csv"]


def test_a_folder_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(PugnnError, match=r"cannot write .*tables: No space left on device"):
        write_half(new_folder(tmp_path / "tables"))
    assert names(tmp_path) == []


def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_there(tmp_path):
    (tmp_path / LEFT).write_text("half")
    theirs = [".s.csv.backup01.csv", ".t.csv.0123456789abcdef.unfinished.csv", "s.csv.0123456789abcdef.unfinished"]
    for name in theirs:
        (tmp_path / name).write_text("1")
    with replacing(tmp_path / "s.csv") as temporary:
        temporary.write_text("whole")
    assert names(tmp_path) == sorted(["s.csv", *theirs])


def test_a_folder_that_a_killed_process_left_is_removed(tmp_path):
    (tmp_path / ".tables.0123456789abcdef.unfinished").mkdir()
    (tmp_path / ".tables.0123456789abcdef.unfinished" / "edges.csv").write_text("half")
    with new_folder(tmp_path / "tables"):
        pass
    assert names(tmp_path) == ["tables"]


def test_what_a_living_process_writes_stays(tmp_path):
    with replacing(tmp_path / "s.csv") as first:
        first.write_text("first")
        with replacing(tmp_path / "s.csv") as second:
            second.write_text("second")
        assert (tmp_path / "s.csv").read_text() == "second"
    assert (tmp_path / "s.csv").read_text() == "first"


def test_links_are_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / LEFT).symlink_to(tmp_path / "precious")
    remove_unfinished(tmp_path)
    assert names(tmp_path) == sorted([LEFT, "precious"])


def test_a_lock_is_dropped_with_its_file(tmp_path):
    def handle():
        return os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)

    path = tmp_path / "lock"
    first, second = handle(), handle()
    assert lock(first, path)
    assert lock(second, path) is False
    os.close(first)
    assert lock(second, path)
    os.close(second)


def test_the_lock_of_a_file_that_was_removed_counts_for_nothing(tmp_path):
    path = tmp_path / "lock"
    early = os.open(path, os.O_CREAT | os.O_RDWR)
    path.unlink()
    assert lock(early, path) is False
    late = os.open(path, os.O_CREAT | os.O_RDWR)
    assert lock(late, path), "the file that has the name now"
    os.close(early)
    os.close(late)


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def lock_descriptor(*_, **__):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("pugnn.files.lock_descriptor", lock_descriptor)
    handle = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    assert lock(handle, tmp_path / "lock") is None
    os.close(handle)


def test_writing_in_threads_leaves_the_umask_alone(tmp_path, private):
    def write(number):
        with replacing(tmp_path / str(number)) as temporary:
            temporary.write_text("1")

    threads = [Thread(target=write, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {mode(path) for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("plain", "plain"),
        (None, ""),
        (0.1, "0.1"),
        (-1.5, "-1.5"),
        ("-1.5", "-1.5"),
        ("a,b", '"a,b"'),
        ('say "x"', '"say ""x"""'),
        ("a\rb", '"a\rb"'),
        (";=1", '";=1"'),
        ("a\t=1", '"a\t=1"'),
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("-x", "'-x"),
        ("'=1", "''=1"),
        ("=a;b", '"\'=a;b"'),
        ("\t=1", '"\'\t=1"'),
    ],
)
def test_cells_of_a_csv_file(cell, written):
    text = io.StringIO()
    write_csv(text, ["id"], [[cell]])
    assert text.getvalue() == f"id\n{written}\n"


def test_what_may_never_end_is_not_read(tmp_path):
    """A pipe in place of a config, of a model or of a data set would wait for ever."""
    os.mkfifo(tmp_path / "pipe.toml")
    for read in (read_config, PUNodeClassifier.load, read_archive):
        with pytest.raises(PugnnError, match=r"pipe.toml: .*not a regular file"):
            read(tmp_path / "pipe.toml")
    assert regular(tmp_path) == tmp_path
    assert regular(tmp_path / "missing") == tmp_path / "missing"
