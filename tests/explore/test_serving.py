"""A real server: it survives being killed, is bounded, and ends when it is told to."""

import concurrent.futures
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import httpx
import pytest

from pugnn.errors import PugnnError
from pugnn.explore.serving import is_loopback, serve
from pugnn.store.case_log import current_cases, read_log

#: Serves a run with a page of its own.
SERVE = """
import sys
from pathlib import Path
from pugnn.cli.input_data import open_run
from pugnn.explore.server import Server
from pugnn.explore.serving import serve
server = Server(open_run(Path(sys.argv[1])), open_run, page=Path(sys.argv[2]), who="me")
serve(server, host="127.0.0.1", port=0, token=None, started=lambda url: print(url, flush=True))
"""
#: Times that the server is killed.
KILLS = 3


@contextmanager
def served(run, page):
    command = [sys.executable, "-c", SERVE, str(run), str(page)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_no_acknowledged_decision_is_lost_to_a_kill(run, page):
    saved = {}
    for kill in range(KILLS):
        with served(run, page) as (process, url), httpx.Client(base_url=url) as client:
            assert client.get("api/changes").json()["seq"] == len(saved)
            for node in range(12 + 15 * kill, 60):
                try:
                    content = {"node": node, "verdict": "yes" if node % 2 else "no", "note": str(kill)}
                    reply = client.post("api/decisions", json=content)
                except httpx.TransportError:
                    break
                assert reply.status_code == 200
                saved[reply.json()["seq"]] = (node, content["verdict"])
                if node == 20 + 15 * kill:
                    os.kill(process.pid, signal.SIGKILL)
        events = read_log(run / "cases.sqlite")
        kept = {event.seq: (int(event.node[1:]), event.verdict) for event in events}
        assert saved.items() <= kept.items()
        assert len(kept) <= len(saved) + 1  # one may have been on disk without an answer
        saved = kept
    assert len(current_cases(events)) == len({node for node, _ in saved.values()})


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
    with pytest.raises(PugnnError, match="give --token"):
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
    with pytest.raises(PugnnError, match="no address that a browser could name"):
        serve(Nothing(), host="0.0.0.0", port=0, token="x" * 20, started=print)


def test_the_log_is_one_that_fit_reads(run, page):
    with served(run, page) as (_, url):
        httpx.post(f"{url}api/decisions", json={"node": 20, "verdict": "yes"})
    out = Path(run).with_name("next")
    command = ["fit", "--config", str(run / "run.json"), "--checked", str(run / "cases.sqlite"), "--out", str(out)]
    subprocess.run([sys.executable, "-m", "pugnn", *command], check=True, capture_output=True)
    assert json.loads((out / "run.json").read_text())["labelled"] == 11
