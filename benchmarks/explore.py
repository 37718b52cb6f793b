"""Measure the server of the case room on a large run: seconds for what a page asks for, and memory.

    python benchmarks/explore.py > results/explore.txt                  # a million nodes
    python benchmarks/explore.py --nodes 100000

The run is on a synthetic graph with ten times as many edges as nodes and a hub, and has two columns to show. The server
runs in its own process. The script asks it over the network as a browser does, and then opens it in a browser.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from measuring import machine, sized, table
from pugnn.explore.replies import PAGE

#: Each request is made so many times; the median counts.
TIMES = sized(5, 1)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--nodes", type=int, default=sized(1_000_000, 2_000))
    options.add_argument("--folder", type=Path, help="where to keep the run, and to find it again")
    given = options.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        run = folder / f"run-{given.nodes}"
        if not run.exists():
            make_run(folder, run, given.nodes)
        copy = Path(temporary) / "copy"  # without the decisions of an earlier measurement
        shutil.copytree(run, copy)
        shutil.copytree(run, again := Path(temporary) / "again")
        measure(copy, given.nodes)
        if chromium := shutil.which("chromium"):
            browse(again, chromium)


def make_run(folder: Path, run: Path, nodes: int) -> None:
    """Make a run on a synthetic graph; its first node is a hub that touches a tenth of all nodes."""
    made = folder / f"synthetic-{nodes}"
    pugnn("synthetic", "--nodes", str(nodes), "--out", str(made))
    edges = pq.read_table(made / "edges.parquet")
    ids = pq.read_table(made / "nodes.parquet", columns=["id"])["id"]
    spokes = np.random.default_rng(0).choice(np.arange(1, nodes), nodes // 10, replace=False)
    of_hub = [pa.repeat(ids[0], len(spokes)), ids.take(pa.array(spokes))]
    columns = [column.cast(edges.schema.types[at]) for at, column in enumerate(of_hub)]
    rest = [pa.nulls(len(spokes), kind) for kind in edges.schema.types[2:]]
    pq.write_table(
        pa.concat_tables([edges, pa.table([*columns, *rest], schema=edges.schema)]), folder / "edges.parquet"
    )
    tables = ["--edges", folder / "edges.parquet", "--nodes", made / "nodes.parquet"]
    positives = ["--positives", made / "positives.parquet", "--show", "x0,x1"]
    pugnn("fit", *map(str, [*tables, *positives, "--out", run]))


def pugnn(*command: str) -> None:
    subprocess.run([sys.executable, "-m", "pugnn", *command], check=True, capture_output=True)


@contextmanager
def served(run: Path) -> Iterator[tuple[subprocess.Popen[bytes], str, float]]:
    """Start a server; yield it, its address, and the seconds until it answered."""
    began = time.perf_counter()
    server = subprocess.Popen([sys.executable, "-c", SERVE, str(run)], stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().decode().strip()
        yield server, url, time.perf_counter() - began
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def measure(run: Path, nodes: int) -> None:
    """Measure times and memory of a server on a run."""
    with served(run) as (server, url, opened):
        rows = [["the server answers", f"{opened:.2f}", ""]]

        def ask(name: str, path: str) -> dict[str, object]:
            seconds = []
            for _ in range(TIMES):
                started = time.perf_counter()
                found = ask_now(f"{url}api/{path}")
                seconds.append(time.perf_counter() - started)
            rows.append([name, f"{seconds[0]:.3f}", f"{np.median(seconds):.3f}"])
            return found

        def why(name: str, path: str) -> None:
            started = time.perf_counter()
            while ask_now(f"{url}api/{path}")["whyPending"]:
                pass
            rows.append([name, f"{time.perf_counter() - started:.3f}", ""])

        audit = ask("the audit's queue, drawn", "queue?goal=audit")["rows"]
        first = audit[0]["node"]  # type: ignore[index]
        ask("first case, why may be pending", f"case/{first}?blind=1")
        why("first case, with why", f"case/{first}?blind=1")
        ask("the run", "run")
        best = ask("first rows", "nodes?limit=100")["rows"][0]["node"]  # type: ignore[index]
        for name, query in LISTS.items():
            ask(name, f"nodes?limit=100&{query}")
        ask("last rows", f"nodes?limit=100&offset={nodes - 100}")
        ask("place of a node", f"nodes/place?node={best}&sort=id")
        ask("neighbourhood, 1 hop", f"graph?nodes={best}&hops=1")
        ask("neighbourhood, 2 hops", f"graph?nodes={best}&hops=2")
        ask(f"around a hub of {nodes // 10:,}", "graph?nodes=0&hops=1")
        ask("expanding the hub", "expand?node=0&have=&by=score&count=100")
        ask("path", f"path?node={best}")
        why("a case of the list, with why", f"case/{best}")
        for goal in ("finds", "discovery", "learning"):
            ask(f"queue: {goal}", f"queue?goal={goal}")
        ask("quality, from hidden positives", "quality")
        seconds, cases = [], []
        for row in audit[:10]:  # type: ignore[index]
            started = time.perf_counter()
            ask_now(f"{url}api/case/{row['node']}?blind=1")
            cases.append(time.perf_counter() - started)
            decide(url, row["node"])
            seconds.append(time.perf_counter() - started - cases[-1])
        rows.append(["the next case, with why", f"{cases[1]:.3f}", f"{np.median(cases):.3f}"])
        rows.append(["a decision, on disk", f"{seconds[0]:.3f}", f"{np.median(seconds):.3f}"])
        ask("quality, measured", "quality")
        rows.append(["memory, MB", f"{memory_of(server.pid):,.0f}", ""])
        print(f"\n{nodes:,} nodes: seconds of the first request, and the median of {TIMES}")
        print(table(["", "first", "median"], rows), flush=True)


def browse(run: Path, chromium: str) -> None:
    """Time the page in a browser, on a server that has just begun to answer, and print its size."""
    from playwright.sync_api import sync_playwright

    rows = []
    with served(run) as (_, url, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--headless", "--no-sandbox"])
        for name in ("first", "again"):
            page = browser.new_page()
            page.goto(url, wait_until="commit")
            page.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
            ready = page.evaluate(SINCE_FIRST_BYTE)
            page.wait_for_selector(".card[aria-busy=false]", timeout=60_000)
            rows.append([name, f"{ready:.2f}", f"{page.evaluate(SINCE_FIRST_BYTE):.2f}"])
            page.close()
        browser.close()
    print(
        f"\nthe page, {sum(file.stat().st_size for file in PAGE.rglob('*') if file.is_file()) / 1000:,.0f} kB:", end=""
    )
    print(" seconds from its first byte")
    print(table(["", "interactive", "first case on screen"], rows), flush=True)


SINCE_FIRST_BYTE = "(performance.now() - performance.getEntriesByType('navigation')[0].responseStart) / 1000"

#: Serves a run as `pugnn explore` does.
SERVE = """
import sys
from pathlib import Path
from pugnn.cli.input_data import open_run
from pugnn.explore.server import Server
from pugnn.explore.serving import serve
server = Server(open_run(Path(sys.argv[1])), open_run)
serve(server, host="127.0.0.1", port=0, token=None, started=lambda url: print(url, flush=True))
"""

#: What people do with the list.
LISTS = {
    "sort by id": "sort=id&desc=0",
    "sort by hops": "sort=hops&desc=0",
    "sort by a column": "sort=x0&desc=0",
    "search": "q=12345",
    "search and filter": "q=77&decided=1&hops=2",
    "filter by score": "min=0.2&max=0.4",
    "filter by status": "status=open",
}


def decide(url: str, node: int) -> None:
    """Confirm a node."""
    content = json.dumps({"node": node, "verdict": "yes", "queue": "audit"}).encode()
    request = urllib.request.Request(f"{url}api/decisions", content, {"Content-Type": "application/json"})
    urllib.request.urlopen(request).close()


def ask_now(address: str) -> dict[str, object]:
    """Return the reply to a request."""
    with urllib.request.urlopen(address) as reply:
        found: dict[str, object] = json.loads(reply.read())
        return found


def memory_of(process: int) -> float:
    """Return the resident memory of a process, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    main()
