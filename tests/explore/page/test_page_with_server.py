"""The page with its own server, on a small graph: the whole loop by keyboard alone, and a server that is killed."""

import csv
import json
import socket
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="the case room needs pugnn[explore]")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

NODES, POSITIVE = 150, 50
PUGNN = [sys.executable, "-m", "pugnn"]


def write(file, header, rows):
    with file.open("w", newline="", encoding="utf-8") as content:
        csv.writer(content).writerows([header, *rows])


@pytest.fixture
def run(tmp_path):
    """A fresh fit: A-000 to A-049 are positive, of which 8 are known."""
    rng = np.random.default_rng(0)
    positive = np.arange(NODES) < POSITIVE
    rows = rng.normal(size=(NODES, 3)).round(3)
    rows[:, 0] += 2 * positive
    alike = [np.flatnonzero(positive == kind) for kind in (False, True)]
    edges = {
        tuple(sorted((node, int(rng.choice(alike[int(positive[node] == (rng.random() < 0.9))])))))
        for node in range(NODES)
        for _ in range(3)
    }
    names = [f"A-{node:03d}" for node in range(NODES)]
    write(tmp_path / "edges.csv", ["source", "target"], [[names[a], names[b]] for a, b in edges if a != b])
    table = [[name, *row, f"Name {at % 7}"] for at, (name, row) in enumerate(zip(names, rows.tolist(), strict=True))]
    write(tmp_path / "nodes.csv", ["id", "x", "y", "z", "name"], table)
    write(tmp_path / "positives.csv", ["id"], [[name] for name in names[:8]])
    tables = [f"--{role}={role}.csv" for role in ("edges", "nodes", "positives")]
    fit = [*PUGNN, "fit", *tables, "--show", "name", "--column", "name=ignore", "--out", "mine"]
    subprocess.run(fit, cwd=tmp_path, check=True, capture_output=True)
    return tmp_path / "mine"


@pytest.fixture
def explored():
    """`pugnn explore` as a process; gives it and its address."""
    running = []

    def explore(run, port=0):
        command = [*PUGNN, "explore", str(run), "--no-browser", "--json", "--port", str(port)]
        process = subprocess.Popen(
            [*command, "--token", "token-of-a-browser-test"], stdout=subprocess.PIPE, text=True, cwd=run.parent
        )
        running.append(process)
        said = ""
        while "}" not in said:
            line = process.stdout.readline()
            assert line, "it ended before it answered"
            said += line
        return process, json.loads(said)["url"]

    yield explore
    for process in running:
        process.kill()
        process.wait()
        process.stdout.close()


def asked(url, path):
    with urllib.request.urlopen(f"{url}api/{path}") as answer:
        return json.load(answer)


def shown(page):
    page.wait_for_selector(".card[aria-busy=false]", timeout=30_000)
    return page.locator(".card h2 bdi").inner_text()


def decide_next(page):
    """Confirm or reject the case on the screen, as it truly is, and wait until it is saved; gives its id."""
    name = shown(page)
    page.keyboard.press("c" if int(name[2:]) < POSITIVE else "r")
    page.wait_for_function("id => document.querySelector('.card h2 bdi')?.textContent !== id", arg=name)
    return name


def test_from_a_fresh_fit_through_the_audit_to_the_second_round(run, explored, opened):
    _, url = explored(run)
    page = opened(url)
    drawn = asked(url, "run")["audit"]["drawn"]
    names = [decide_next(page) for _ in range(drawn)]
    assert len(set(names)) == drawn
    page.wait_for_selector("text=Every case here has been seen.")
    assert page.locator(".progress").inner_text() == f"{drawn} of {drawn} checked"

    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_selector(".measured tbody tr")
    expected = asked(url, "quality")["expected"]
    if expected:
        page.focus("#taken")
        page.keyboard.press("Home")
        for step in expected["steps"][:3]:
            finds, low, high = (round(value) for value in step["finds"])
            words = f"{finds:,}" if low == high else f"{finds:,} ({low:,} to {high:,})"
            assert page.locator(".answer dd").first.inner_text() == words
            page.keyboard.press("ArrowRight")

    page.keyboard.press("g")
    page.keyboard.press("f")
    page.wait_for_selector("[data-action=learn]")
    page.keyboard.press("t")
    page.wait_for_selector("[data-action=openRun]", timeout=90_000)
    with page.expect_navigation():
        page.keyboard.press("o")
    page.wait_for_selector("html[data-ready]", state="attached")
    second = asked(url, "run")
    assert second["parent"] == run.name
    assert second["name"] != run.name
    shown(page)


def test_cases_that_were_decided_without_a_note_open_again(run, explored, opened):
    _, url = explored(run)
    page = opened(url, "#/queue/finds")
    names = [decide_next(page) for _ in range(2)]

    def chip_of(name, word):
        """Wait for a case, all of it, and for what was decided of it."""
        page.wait_for_function("id => document.querySelector('.card h2 bdi')?.textContent === id", arg=name)
        page.wait_for_function("word => document.querySelector('.card .chip')?.textContent === word", arg=word)
        assert shown(page) == name

    page.keyboard.press("k")
    chip_of(names[1], "confirmed" if int(names[1][2:]) < POSITIVE else "rejected")
    assert page.locator(".history li").count() == 1
    page.keyboard.press("u")
    chip_of(names[1], "open")
    page.keyboard.press("s")
    page.wait_for_function("id => document.querySelector('.card h2 bdi')?.textContent !== id", arg=names[1])
    page.keyboard.press("u")
    chip_of(names[1], "open")
    assert page.locator(".history li").count() == 4
    page.keyboard.press("g")
    page.keyboard.press("c")
    page.wait_for_selector(".case-list a")
    page.keyboard.press("Enter")
    chip_of(names[0], "confirmed" if int(names[0][2:]) < POSITIVE else "rejected")


def test_the_graph_the_list_and_the_cases_of_a_real_run(run, explored, opened):
    _, url = explored(run)
    page = opened(url, "#/list")
    page.wait_for_selector(".spacer .row .score")
    assert page.locator("#total").inner_text() == f"{NODES} of {NODES} nodes"
    page.keyboard.press("End")
    page.wait_for_selector(f"#active-row[aria-rowindex='{NODES + 1}'] .score")
    page.keyboard.press("s")
    page.wait_for_selector(".spacer .chip.skipped")
    page.keyboard.press("v")
    page.wait_for_selector(".drawn li")
    page.keyboard.press("e")
    page.keyboard.press("p")
    page.wait_for_selector("#said:not(:empty)")
    assert page.locator("#alarm").inner_text() == ""
    page.keyboard.press("g")
    page.keyboard.press("c")
    page.wait_for_selector(".case-list a")
    with page.expect_download() as download:
        page.click("text=case file")
    assert "skipped" in download.value.path().read_text(encoding="utf-8")


def test_a_killed_server_loses_nothing_that_was_acknowledged(run, explored, opened):
    process, url = explored(run)
    port = int(url.split(":")[2].split("/")[0])
    page = opened(url)
    names = [decide_next(page) for _ in range(3)]
    name = shown(page)
    process.kill()
    process.wait()
    page.keyboard.press("c")
    page.wait_for_selector("#gone:not([hidden])")
    assert shown(page) == name
    for _ in range(50):  # until the port is free
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                break
        time.sleep(0.1)
    explored(run, port)
    page.wait_for_selector("#gone", state="hidden", timeout=20_000)
    page.reload()
    assert shown(page) == name
    kept = asked(url, "cases")["rows"]
    assert [row["id"] for row in kept] == names[::-1]
