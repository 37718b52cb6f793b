"""Build docs/images/room-*.png from a run, with the ids that are truly positive (docs/explore.md makes both).

    python scripts/build_room_screenshots.py runs/cora cora-tables/truth.csv

Needs Playwright, Pillow, a Chromium on the path and pugnn[explore]. The run itself stays as it is.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
DEVICES = {"desktop": (1280, 800), "phone": (390, 844)}
#: Without software WebGL the graph stays blank.
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"]
#: Each picture: its name, device, route, and what is on the page once all of it is there.
PICTURES = [
    # In the smallest of runs, the audit leaves no find to look at.
    ("queue", "desktop", "queue/finds", ".card[aria-busy=false] .reasons, .place .panel"),
    ("graph", "desktop", "graph", ".drawn li"),
    ("quality", "desktop", "quality", ".measured tbody tr"),
    ("list", "phone", "list", ".spacer .row .score"),
]
#: Checks of the finds, after those of the audit.
FINDS = 6
COLOURS = 128
#: Milliseconds for what moves to come to rest.
REST = 1500


@contextmanager
def room(run: Path) -> Iterator[str]:
    """The address of a case room that is open."""
    command = [sys.executable, "-m", "pugnn", "explore", str(run), "--no-browser", "--json", "--who", "ann"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def ask(url: str, path: str, **content: Any) -> Any:
    """What the room answers; ``content`` is posted."""
    body = json.dumps(content).encode() if content else None
    request = urllib.request.Request(f"{url}api/{path}", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def decide(url: str, positive: set[str]) -> None:
    """Check the audit and the first finds, as they truly are."""
    for goal, most in (("audit", None), ("finds", FINDS)):
        for row in ask(url, f"queue?goal={goal}")["rows"][:most]:
            verdict = "yes" if row["id"] in positive else "no"
            ask(url, "decisions", node=row["node"], verdict=verdict, note="", queue=goal)


def shoot(page: Page, target: Path) -> None:
    page.wait_for_timeout(REST)
    shot = Image.open(io.BytesIO(page.screenshot()))
    # The page has few colours; a palette of them makes the file half as large.
    shot.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE).save(target, optimize=True)
    print(f"{target.name}: {target.stat().st_size / 1000:,.0f} kB")


def main(run: Path, truth: Path) -> None:
    with truth.open(encoding="utf-8", newline="") as rows:
        positive = {row[0] for row in csv.reader(rows)}
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(run, Path(folder) / run.name)
        with room(copy) as url, sync_playwright() as playwright:
            decide(url, positive)
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            for name, device, route, there in PICTURES:
                width, height = DEVICES[device]
                for scheme in ("light", "dark"):
                    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                    page.goto(f"{url}#/{route}")
                    page.wait_for_selector(there)
                    shoot(page, IMAGES / f"room-{name}-{scheme}.png")
                    page.close()
            browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
