"""The page on the case room: its commands as they are written, its keys, and its pictures."""

from __future__ import annotations

import json
import re
from contextlib import chdir
from pathlib import Path
from time import sleep

import pytest

from docs.test_tutorial import BLOCK, run

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explore.md"
TEXT = PAGE.read_text(encoding="utf-8")
OPEN = "pugnn explore runs/cora\n"
BINDING = re.compile(r"action: \"(\w+)\", keys: \[(.*?)\]")


def test_all_keys_are_told():
    keys = TEXT.partition("## Keys")[2].partition("## Where")[0]
    told = {"ArrowDown": "↓", "ArrowUp": "↑", "ArrowRight": "→", "ArrowLeft": "←", "Escape": "Esc"}
    source = (ROOT / "explorer" / "src" / "keys.ts").read_text(encoding="utf-8")
    bindings = BINDING.findall(source)
    assert len(bindings) > 30
    for action, names in bindings:
        for name in re.findall(r'"([^"]+)"', names):
            assert f"`{told.get(name, name)}`" in keys, action


def test_pictures_are_there_and_small():
    names = set(re.findall(r"images/([\w-]+\.png)", TEXT))
    assert names == {path.name for path in PAGE.parent.glob("images/room-*.png")}
    for name in names:
        assert (PAGE.parent / "images" / name).stat().st_size < 120_000


@pytest.mark.slow
def test_from_tables_to_the_second_round(tmp_path):
    pytest.importorskip("starlette", reason="the case room needs pugnn[explore]")
    from rooms import Client, stub_page

    blocks = [code for kind, code in BLOCK.findall(TEXT) if kind == "sh"][1:]  # all but the installation
    before, after = blocks[: blocks.index(OPEN)], blocks[blocks.index(OPEN) + 1 :]
    with chdir(tmp_path):
        for code in before:
            run("sh", code)
        client = Client(tmp_path / "runs/cora", stub_page(tmp_path / "page"))
        for row in client.get("api/queue", goal="audit")["rows"]:
            verdict = "no" if row["cells"] == ["another"] else "yes"
            saved = client.post("decisions", node=row["node"], verdict=verdict, note="", queue="audit")
        assert saved["counts"]["confirmed"] == 14
        measured = {row["name"]: row for row in client.get("api/quality")["measured"]["rows"]}
        assert "14 of the 20 were positive, so at least 67 of the first 100" in " ".join(TEXT.split())
        assert measured["precision of the first 100"]["range"].startswith("67 %")
        client.post("learn")
        while client.get("api/learn")["state"] == "running":
            sleep(0.2)
        assert client.get("api/learn")["run"] == "cora-2"
        client.server.close()
        printed = "".join(run("sh", code) for code in after)
        assert "Measured on 20 checks, 14 of them positive" in printed
        record = json.loads((tmp_path / "runs/cora-by-hand/run.json").read_text())
        assert record["parent"]
