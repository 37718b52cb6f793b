"""A real server: it is bounded, and ends when it is told to."""

import concurrent.futures
import json
import signal
import socket
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import httpx
import pytest

from pugnn.errors import PugnnError
from pugnn.explore.serving import is_loopback, serve
from rooms import served


def test_a_thousand_at_once_are_bounded(run, page):
    with served(run, page) as (process, url):
        host, port = url.split("/")[2].split(":")
        path = "/" + "/".join(url.split("/")[3:])

        def ask(_):
            try:
                with closing(HTTPConnection(host, int(port), timeout=60)) as connection:
                    connection.request("GET", f"{path}api/nodes?limit=500")
                    return connection.getresponse().status
            except OSError:
                return 0

        with concurrent.futures.ThreadPoolExecutor(200) as threads:
            statuses = list(threads.map(ask, range(1000)))
        assert set(statuses) <= {0, 200, 503}
        assert 200 in statuses
        assert httpx.get(f"{url}api/run").status_code == 200
        assert process.poll() is None


def test_ctrl_c_ends_it_cleanly(run, page):
    with served(run, page) as (process, url):
        assert httpx.get(f"{url}api/run").status_code == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert err == ""
    assert url.split("/")[3] not in out + err  # the token is in no log


def test_a_host_that_others_can_reach_needs_a_token():
    assert is_loopback("127.0.0.1")
    assert is_loopback("localhost")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("192.168.1.2")
    assert not is_loopback("example.org")
    how = {"port": 0, "started": print}
    with pytest.raises(PugnnError, match="set a token with --token"):
        serve(None, host="192.168.1.2", token=None, **how)
    with pytest.raises(PugnnError, match="at least 16"):
        serve(None, host="192.168.1.2", token="short", **how)
    with pytest.raises(PugnnError, match="at least 16"):
        serve(None, host="192.168.1.2", token="/../" * 6, **how)


class Nothing:
    def close(self):
        pass


def test_addresses_that_cannot_be_served():
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(PugnnError, match="Choose another --port"):
            serve(Nothing(), host="127.0.0.1", port=taken.getsockname()[1], token=None, started=print)
    with pytest.raises(PugnnError, match="not an address that a browser can open"):
        serve(Nothing(), host="0.0.0.0", port=0, token="x" * 20, started=print)


def test_the_log_is_one_that_fit_reads(run, page):
    with served(run, page) as (_, url):
        httpx.post(f"{url}api/decisions", json={"node": 20, "verdict": "yes"})
    out = Path(run).with_name("next")
    command = ["fit", "--config", str(run / "run.json"), "--checked", str(run / "cases.sqlite"), "--out", str(out)]
    subprocess.run([sys.executable, "-m", "pugnn", *command], check=True, capture_output=True)
    assert json.loads((out / "run.json").read_text())["labelled"] == 11
