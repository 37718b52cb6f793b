"""Small runs, and a client that asks a case room without a network."""

from __future__ import annotations

import asyncio
import csv
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import numpy as np
from typer.testing import CliRunner

from pugnn.cli import app
from pugnn.cli.input_data import open_run
from pugnn.errors import PugnnWarning
from pugnn.explore.guard import Guard
from pugnn.explore.room import Room
from pugnn.explore.server import Server

TOKEN = "token-of-the-tests"
HOST = "127.0.0.1:8000"
#: What a page, a spreadsheet or a terminal might take for more than text.
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</style></script><h1>",
    '=HYPERLINK("http://evil")',
    "+1+cmd|'/c calc'!A0",
    "@SUM(A1)",
    "\N{RIGHT-TO-LEFT OVERRIDE}gpj.exe",
    "{{ 7 * 7 }}",
    "; DROP TABLE events; --",
    "x" * 10_240,
]

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


@contextmanager
def served(run: Path, page: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server as a process of its own, and its address."""
    command = [sys.executable, "-c", SERVE, str(run), str(page)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def write_tables(folder: Path, ids: list[str], *, names: list[str] | None = None, relations: bool = False) -> list[str]:
    """Two groups of nodes, the first half positive, linked mostly within a group; gives the options of `fit`."""
    n, rng = len(ids), np.random.default_rng(0)
    group = np.arange(n) < n // 2
    pairs = [(i, j) for i in range(n) for j in range(i) if rng.random() < (0.2 if group[i] == group[j] else 0.02)]
    edges = [[ids[i], ids[j], ("pays", "knows")[(i + j) % 2]] for i, j in pairs]
    x = rng.normal(size=(n, 3)) + group[:, None]
    rows = [
        [name, f"Name {at % 7}" if names is None else names[at], f"{at % 5}", *row]
        for at, (name, row) in enumerate(zip(ids, x.round(3).tolist(), strict=True))
    ]
    _write(folder / "edges.csv", ["source", "target", "kind"], edges)
    _write(folder / "nodes.csv", ["id", "name", "city", "x", "y", "z"], rows)
    _write(folder / "positives.csv", ["id"], [[name] for name in ids[: n // 6]])
    tables = [f"--{role}={folder / role}.csv" for role in ("edges", "nodes", "positives")]
    more = ["--edge-type", "kind"] if relations else []
    return [*tables, *more, "--column", "name=ignore", "--column", "city=ignore", "--show", "name,city"]


def _write(file: Path, header: list[str], rows: list[list[object]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as content:
        csv.writer(content).writerows([header, *rows])


def fit(folder: Path, options: list[str], *more: str, name: str = "mine") -> Path:
    arguments = ["fit", *options, *more, "--out", str(folder / name)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PugnnWarning)  # on ids that begin like a formula
        result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return folder / name


def stub_page(folder: Path) -> Path:
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>stub</title>")
    (folder / "assets" / "app.js").write_text("export {}")
    return folder


def opened(run: Path, **how) -> Room:
    return Room(open_run(run), who="me", **how)


class Client:
    """Asks a room, as a page would."""

    def __init__(self, run: Path, page: Path, **how) -> None:
        self.server = Server(open_run(run), open_run, page=page, who="me", **how)
        self.app = Guard(self.server.app(), token=TOKEN, hosts=frozenset({HOST, "localhost:8000"}))

    @property
    def room(self) -> Room:
        return self.server.desk.room

    def raw(self, method: str, path: str, **how) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
                return await client.request(method, path, **how)

        return asyncio.run(ask())

    def ask(self, path: str, **parameters) -> httpx.Response:
        return self.raw("GET", f"/{TOKEN}/{path}", params=parameters)

    def get(self, path: str, **parameters):
        found = self.ask(path, **parameters)
        assert found.status_code == 200, found.text
        return found.json()

    def send(self, path: str, **content) -> httpx.Response:
        return self.raw("POST", f"/{TOKEN}/api/{path}", json=content)

    def post(self, path: str, **content):
        found = self.send(path, **content)
        assert found.status_code == 200, found.text
        return found.json()


def rows_of(log: Path) -> list[tuple]:
    with closing(sqlite3.connect(log)) as connection:
        return connection.execute("SELECT seq, node, verdict, note, undoes FROM events ORDER BY seq").fetchall()
