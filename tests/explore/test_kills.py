"""A server that is killed while it saves, and one whose disk is full: nothing that it acknowledged is lost."""

import os
import random
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest

from pugnn.store.case_log import read_case_log
from rooms import served

#: Posts that are under way at once.
POSTING = 4
#: The server is killed after so many seconds of posts, at most.
MAX_SECONDS = 0.5


def post_until_refused(url, seed):
    """Decide at random until the server is gone; gives what it acknowledged, by number, and what had no answer."""
    rng, saved, unanswered = random.Random(seed), {}, []
    with httpx.Client(base_url=url) as client:
        while True:
            content = {"node": rng.randrange(10, 60), "verdict": rng.choice(["yes", "no", "skip", "note"])}
            content["note"] = f"{seed} " + "x" * rng.randrange(5_000)
            told = f"n{content['node']}", content["verdict"], content["note"]
            try:
                reply = client.post("api/decisions", json=content)
            except httpx.TransportError:
                unanswered.append(told)
                return saved, unanswered
            assert reply.status_code == 200, reply.text
            saved[reply.json()["seq"]] = told


@pytest.mark.parametrize("kills", [3, pytest.param(30, marks=pytest.mark.slow)])
def test_no_acknowledged_decision_is_lost_to_a_kill(kills, run, page):
    rng, before, acknowledged, extra = random.Random(0), {}, 0, 0
    for kill in range(kills):
        with served(run, page) as (process, url), ThreadPoolExecutor(POSTING) as threads:
            assert httpx.get(f"{url}api/changes").json()["seq"] == max(before, default=0)
            posting = [threads.submit(post_until_refused, url, f"{kill}-{each}") for each in range(POSTING)]
            time.sleep(rng.uniform(0, MAX_SECONDS))
            os.kill(process.pid, signal.SIGKILL)
            found = [each.result() for each in posting]
        saved = {seq: told for of_one, _ in found for seq, told in of_one.items()}
        unanswered = [told for _, of_one in found for told in of_one]
        after = {event.seq: (event.node, event.verdict, event.note) for event in read_case_log(run / "cases.sqlite")}
        assert saved.items() <= after.items()
        assert before.items() <= after.items()
        # What was on its way may be on disk, whole, and nothing else.
        rest = [told for seq, told in after.items() if seq not in saved and seq not in before]
        assert len(rest) == len(set(rest) & set(unanswered))
        acknowledged, extra, before = acknowledged + len(saved), extra + len(rest), after
    assert acknowledged
    print(f"{kills} kills, {acknowledged:,} decisions acknowledged, none lost, {extra} more on disk")


@pytest.fixture
def small_disk(tmp_path):
    """A disk of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if (
        shutil.which("mount") is None
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(file):
    with file.open("wb", buffering=0) as content, suppress(OSError):
        while True:
            content.write(bytes(4096))


def test_a_full_disk_says_so_and_keeps_what_was_saved(run, page, small_disk):
    run = shutil.copytree(run, small_disk / "mine")
    with served(run, page) as (process, url), httpx.Client(base_url=url) as client:

        def decide(node, verdict, note=""):
            return client.post("api/decisions", json={"node": node, "verdict": verdict, "note": note})

        assert decide(20, "yes", "before").status_code == 200
        fill(small_disk / "filler")
        assert client.get("api/queue").status_code == 507  # whose first draw is written down
        saved, refused = {20: "before"}, None
        for node in range(21, 60):
            reply = decide(node, "no", f"{node}" + "x" * 9_000)
            if reply.status_code != 200:
                refused = node
                break
            saved[node] = f"{node}" + "x" * 9_000
        assert reply.status_code == 507
        assert "Make room on the disk" in reply.json()["error"]
        assert client.post("api/undo", json={}).status_code in (200, 507)
        cases = client.get("api/cases").json()["rows"]
        assert refused not in [row["node"] for row in cases]
        assert {row["node"]: row["note"] for row in cases}.items() <= saved.items()
        assert 20 in [row["node"] for row in cases]
        (small_disk / "filler").unlink()
        assert decide(refused, "yes", "after").status_code == 200
        assert client.get("api/queue").json()["total"]
        process.kill()
    kept = {event.node: event.note for event in read_case_log(run / "cases.sqlite")}
    assert kept.items() >= {f"n{node}": note for node, note in saved.items()}.items()
    assert kept[f"n{refused}"] == "after"
