import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from pugnn.errors import PugnnError, PugnnWarning
from pugnn_paper.records import RecordStore


def record(number, **more):
    """A small record; its key is as long as a cell's."""
    return {"key": f"{number:024x}", "metrics": {"macro_f1": 70.0 + number}, "words": "δ ± naïve\n", **more}


@pytest.fixture
def store(tmp_path):
    return RecordStore(tmp_path / "out")


def python(code, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", "from pathlib import Path; from pugnn_paper.records import *; import sys\n" + code]
        + [str(argument) for argument in arguments],
        text=True,
        **options,
    )


# ---------------------------------------------------------------------- whole records


def test_what_was_appended_is_read_in_that_order(store):
    assert store.read() == {}
    for number in range(5):
        store.append(record(number))
    assert list(store.read().values()) == [record(number) for number in range(5)]
    assert RecordStore(store.folder).read() == store.read()


def test_each_record_is_one_line_of_json(store):
    for number in range(3):
        store.append(record(number))
    lines = store.path.read_bytes().split(b"\n")
    assert [json.loads(line)["record"] for line in lines if line] == [record(number) for number in range(3)]


def test_the_first_of_two_records_with_one_key_counts(store):
    store.append(record(1, seconds=1))
    store.append(record(2))
    store.append(record(1, seconds=2))
    assert list(store.read().values()) == [record(1, seconds=1), record(2)]


def test_holds_tells_whole_records_from_mentions_of_their_key(store):
    store.append(record(1, other=f"{2:024x}"))
    assert store.holds(f"{1:024x}")
    assert not store.holds(f"{2:024x}")
    store.append(record(3))
    with store.path.open("r+b") as file:
        file.truncate(store.path.stat().st_size - 3)
    assert not store.holds(f"{3:024x}")
    store.append(record(3))
    assert store.holds(f"{3:024x}")


def test_numbers_that_json_does_not_have_are_not_written(store):
    before = store.path.read_bytes()
    with pytest.raises(ValueError, match="JSON"):
        store.append(record(1, loss=float("nan")))
    assert store.path.read_bytes() == before


def test_processes_that_append_at_once_lose_and_mix_nothing(store):
    code = """
store, first = RecordStore(Path(sys.argv[1])), int(sys.argv[2])
for number in range(first, first + 50):
    store.append({"key": f"{number:024x}", "text": str(number) * 500})
"""
    processes = [python(code, store.folder, first) for first in range(0, 200, 50)]
    while any(process.poll() is None for process in processes):  # a reader in the middle of it all
        assert all(found["text"] == str(int(key, 16)) * 500 for key, found in store.read(warn=False).items())
        time.sleep(0.01)
    assert [process.wait() for process in processes] == [0] * 4
    found = store.read()
    assert sorted(int(key, 16) for key in found) == list(range(200))
    assert all(found[key]["text"] == str(int(key, 16)) * 500 for key in found)
    assert sum(bool(line) for line in store.path.read_bytes().split(b"\n")) == 200


# ---------------------------------------------------------------------- damaged records


def test_a_record_cut_short_anywhere_is_left_out_and_all_others_stay(store):
    for number in range(3):
        store.append(record(number))
    kept = store.path.stat().st_size
    store.append(record(3))
    whole = store.path.read_bytes()
    for size in range(kept, len(whole)):
        store.path.write_bytes(whole[:size])
        damaged = kept + 1 < size < len(whole) - 1  # without its line breaks there is nothing, or a whole record
        expected = [record(number) for number in range(3 if size < len(whole) - 1 else 4)]
        if damaged:
            with pytest.warns(PugnnWarning, match="records.jsonl: damaged record in line 8 is ignored") as caught:
                assert list(store.read().values()) == expected
            assert len(caught) == 1
        else:
            assert list(store.read().values()) == expected
        store.append(record(4))
        assert list(store.read(warn=False).values()) == [*expected, record(4)]


def test_a_changed_byte_anywhere_is_noticed(store):
    for number in range(3):
        store.append(record(number))
    whole = store.path.read_bytes()
    begin = whole.index(b'{"sha256"', 10)  # of the second record
    end = whole.index(b"\n", begin)
    for place in range(begin, end):
        for bit in (1, 0x80):
            spoilt = bytearray(whole)
            spoilt[place] ^= bit
            store.path.write_bytes(spoilt)
            with pytest.warns(PugnnWarning, match="damaged record in line 4"):
                assert list(store.read().values()) == [record(0), record(2)]


@pytest.mark.parametrize(
    "line", [b"hello", b"[1, 2]", b"5", b'"record"', b"{}", b'{"record": 5}', b'{"record": {}}', b"\xff\xfe", b"\0" * 9]
)
def test_lines_that_are_no_records(store, line):
    store.append(record(1))
    with store.path.open("ab") as file:
        file.write(line)
    store.append(record(2))
    with pytest.warns(PugnnWarning, match="damaged record in line 3") as caught:
        assert list(store.read().values()) == [record(1), record(2)]
    assert len(caught) == 1


def test_one_warning_for_many_damaged_lines(store):
    store.path.write_bytes(b"x\n" * 7)
    with pytest.warns(PugnnWarning, match=r"records in lines 1, 2, 3, 4, 5, … are ignored") as caught:
        store.read()
    assert len(caught) == 1
    assert store.path.read_bytes() == b"x\n" * 7


# ---------------------------------------------------------------------- claims


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
def test_a_claim_keeps_other_processes_out_until_its_process_ends(store):
    key, other = record(1)["key"], "f" * 24
    code = """
with RecordStore(Path(sys.argv[1])).claim(sys.argv[2]) as ours:
    print(ours, flush=True)
    sys.stdin.read()
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with python(code, store.folder, key, **pipes) as holder:
        try:
            assert holder.stdout.readline() == "True\n"
            with store.claim(key) as ours:
                assert not ours
            with store.claim(other) as ours:
                assert ours
            with python(code, store.folder, key, **pipes) as second:
                assert second.communicate("")[0] == "False\n"
        finally:
            os.kill(holder.pid, signal.SIGKILL)
    assert holder.returncode == -signal.SIGKILL
    with store.claim(key) as ours:
        assert ours
        with python(code, store.folder, key, **pipes) as second:
            assert second.communicate("")[0] == "False\n"
    with python(code, store.folder, key, **pipes) as second:
        assert second.communicate("")[0] == "True\n"
    assert [path.name for path in store.folder.iterdir()] == ["records.jsonl"], "claims leave nothing behind"


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
def test_the_claim_of_a_killed_process_is_cleared_away_and_that_of_a_living_one_stays(store):
    left = store.folder / ".cell.0123456789abcdef.unfinished"
    left.touch()
    with store.claim("f" * 24):
        RecordStore(store.folder)
        assert [path.name for path in store.folder.glob(".*")] == [f".cell.{'f' * 16}.unfinished"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
def test_of_many_processes_one_has_the_claim_at_a_time(store):
    code = """
import os
store, mark = RecordStore(Path(sys.argv[1])), Path(sys.argv[1]) / "at work"
won = 0
while won < 40:
    with store.claim("f" * 24) as ours:
        if ours:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))  # fails if anybody else is at work
            mark.unlink()
            won += 1
"""
    processes = [python(code, store.folder) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")
def test_a_file_system_without_locks_keeps_nobody_waiting(store, monkeypatch):
    monkeypatch.setattr("pugnn_paper.records.lock", lambda *_: None)
    with store.claim("f" * 24) as ours:
        assert ours


def test_a_claim_that_cannot_be_written(store):
    (store.folder / f".cell.{'f' * 16}.unfinished").mkdir()
    with pytest.raises(PugnnError, match=r"^cannot write to .*f{16}\.unfinished: Is a dir"), store.claim("f" * 24):
        pass


# ---------------------------------------------------------------------- full disks and folders that cannot be written

FULL = r"^cannot write to .*records.jsonl: {}. All records so far are kept; .* the same command continues from there\.$"


@pytest.mark.parametrize("part", [0.0, 0.01, 0.5, 0.99])
def test_a_disk_that_runs_full_in_the_middle_of_a_record(store, monkeypatch, part):
    store.append(record(1))
    write = os.write

    def half(handle, data):
        if part == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data[: int(part * len(data))])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(PugnnError, match=FULL.format("No space left on device")):
        store.append(record(2))
    monkeypatch.undo()
    assert list(store.read(warn=False).values()) == [record(1)]
    store.append(record(3))
    assert list(store.read(warn=False).values()) == [record(1), record(3)]


def test_a_record_that_does_not_reach_the_disk(store, monkeypatch):
    def fsync(handle):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(PugnnError, match=FULL.format("Input/output error")):
        store.append(record(1))


def test_a_limit_on_the_size_of_files(store):
    store.append(record(1))
    size = store.path.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, hard))
    try:
        for _ in range(2):  # first a part of the record fits, then nothing at all
            with pytest.raises(PugnnError, match=FULL.format("(No space left on device|File too large)")):
                store.append(record(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert store.path.stat().st_size == size + 40
    with pytest.warns(PugnnWarning, match="damaged record in line 4"):
        assert list(store.read().values()) == [record(1)]
    store.append(record(2))
    assert list(store.read(warn=False).values()) == [record(1), record(2)]


def test_a_real_disk_that_is_full(tmp_path):
    mount = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=32k tmpfs "$0" && exec "$@"', str(tmp_path)]
    try:
        possible = subprocess.run([*mount, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        possible = False
    if not possible:
        pytest.skip("mounting is not allowed here")
    code = """
import sys, warnings
from pathlib import Path
from pugnn.errors import PugnnError, PugnnWarning
from pugnn_paper.records import RecordStore
warnings.simplefilter("ignore", PugnnWarning)
store = RecordStore(Path(sys.argv[1]) / "out")
(store.folder / "ballast").write_bytes(bytes(8192))
records = [{"key": f"{number:024x}", "text": str(number % 10) * 3000} for number in range(20)]
try:
    for count, record in enumerate(records):
        store.append(record)
    sys.exit("never full")
except PugnnError as error:
    print(error)
assert list(store.read().values()) == records[:count], count
(store.folder / "ballast").unlink()
store.append(records[count])
assert list(store.read().values()) == records[: count + 1], count
print(count)
"""
    done = subprocess.run([*mount, sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    error, count = done.stdout.splitlines()
    assert "records.jsonl: No space left on device. All records so far are kept" in error
    assert 3 <= int(count) <= 8


@pytest.mark.parametrize("below", ["file", "file/out", "file/a/out"])
def test_a_file_where_the_folder_should_be(tmp_path, below):
    (tmp_path / "file").write_text("precious")
    with pytest.raises(
        PugnnError, match=r"^cannot write to .*records.jsonl: .*(is a file|[Nn]ot a directory).*--out\.$"
    ):
        RecordStore(tmp_path / below)
    assert (tmp_path / "file").read_text() == "precious"


def test_a_folder_where_the_records_should_be(tmp_path):
    (tmp_path / "records.jsonl").mkdir()
    with pytest.raises(PugnnError, match=r"^cannot (read|write to) .*records.jsonl: Is a directory"):
        RecordStore(tmp_path).read()


def test_records_that_may_not_be_written(store, monkeypatch):
    store.append(record(1))
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(PugnnError, match=r"^cannot write to .*records.jsonl: Permission denied. Choose another --out"):
        RecordStore(store.folder)
    assert list(store.read().values()) == [record(1)]


def test_a_folder_that_may_not_be_written(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(type(tmp_path), "touch", refuse)
    with pytest.raises(PugnnError, match=r"records.jsonl: Read-only file system. Choose another --out\.$"):
        RecordStore(tmp_path / "out")


def test_records_that_become_unwritable_on_the_way(store, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PugnnError, match=FULL.format("Permission denied")):
        store.append(record(1))


def test_records_that_cannot_be_read(store):
    store.path.unlink()
    for use in (store.read, lambda: store.holds("f" * 24)):
        with pytest.raises(PugnnError, match=r"^cannot read .*records.jsonl: No such file"):
            use()
