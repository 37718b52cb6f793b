import errno
import io
import os
import sys

import pytest

from pugnn.cli.output import kept_output


class Broken(io.RawIOBase):
    """A place that takes nothing."""

    def __init__(self, number: int) -> None:
        self.number = number

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        raise OSError(self.number, os.strerror(self.number))


@pytest.fixture
def stream(monkeypatch):
    """Makes standard output a text stream to some place."""

    def make(raw, encoding="utf-8", errors="strict"):
        text = io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors)
        monkeypatch.setattr(sys, "stdout", text)
        return text

    return make


def test_a_full_device_is_told_once_and_stops_nobody(stream):
    before = stream(Broken(errno.ENOSPC))
    with kept_output() as failure:
        assert failure() is None
        for _ in range(3):
            print("x" * 100_000, flush=True)
        assert failure().strerror == "No space left on device"
    assert sys.stdout is before


def test_a_reader_that_has_seen_enough_is_no_failure(stream):
    stream(Broken(errno.EPIPE))
    with kept_output() as failure:
        print("enough", flush=True)
        assert failure() is None


@pytest.mark.parametrize(
    ("encoding", "written"), [("latin-1", b"\xfc? ?"), ("ascii", b"?? ?"), ("utf-8", b"\xc3\xbc\xe2\x9c\x93 ?")]
)
def test_what_cannot_be_encoded_is_replaced(stream, tmp_path, encoding, written):
    with (tmp_path / "out").open("wb", buffering=0) as raw:
        stream(raw, encoding)
        with kept_output():
            print("ü✓ \udcff", end="")
        assert (tmp_path / "out").read_bytes() == written


def test_a_closed_stream_leads_nowhere(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with kept_output() as failure:
        print("unheard")
        assert failure() is None
    assert sys.stdout is None
