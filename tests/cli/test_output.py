import io
import os
import sys

import pytest

from pugnn.cli.faults import kept_output


@pytest.fixture
def stream(monkeypatch):
    """Makes standard output a text stream to some place."""

    def make(raw, encoding="utf-8", errors="strict"):
        text = io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors)
        monkeypatch.setattr(sys, "stdout", text)
        return text

    return make


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_device_is_told_once_and_stops_nobody(stream):
    with open("/dev/full", "wb", buffering=0) as full:
        before = stream(full)
        with kept_output() as failure:
            assert failure() is None
            for _ in range(3):
                print("x" * 100_000, flush=True)
            assert failure().strerror == "No space left on device"
        assert sys.stdout is before


def test_a_reader_that_has_seen_enough_is_no_failure(stream):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb", buffering=0) as pipe:
        stream(pipe)
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
