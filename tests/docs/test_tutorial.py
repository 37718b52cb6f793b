"""The tutorial's commands, run as they are written, in their order; ``pugnn`` and Python in this process."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import subprocess
import warnings
from contextlib import chdir, redirect_stdout
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pugnn.cli import app
from pugnn.errors import PugnnWarning

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Runs of the page on relations.
RUNS = ("bank", "undirected", "leaky", "june")
#: A command of ours over one or several lines.
COMMAND = re.compile(r"^pugnn (.*(?:(?<=\\)\n.*)*)$", re.MULTILINE)


def run(kind: str, code: str) -> str:
    """What a block prints; it must end well and without a warning that is not ours."""
    if kind == "python":
        with redirect_stdout(io.StringIO()) as printed:
            exec(code, {})
        return printed.getvalue()
    # In turn what the shell runs and, at odd places, the words after pugnn.
    parts = COMMAND.split(code)
    return "".join(pugnn(part) if place % 2 else shell(part) for place, part in enumerate(parts))


def pugnn(words: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("default", PugnnWarning)
        done = CliRunner().invoke(app, shlex.split(words.replace("\\\n", " ")))
    assert done.exit_code == 0, f"{words}\n{done.output}"
    return done.output


def shell(code: str) -> str:
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder after the whole tutorial."""
    folder = tmp_path_factory.mktemp("tutorial")
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) >= 10
    with chdir(folder):
        (folder / "printed.txt").write_text("\n".join(run(kind, code) for kind, code in blocks))
    return folder


@pytest.mark.slow
def test_the_tutorial_on_relations(tmp_path: Path) -> None:
    page = PAGE.with_name("relations.md").read_text(encoding="utf-8")
    with chdir(tmp_path):
        printed = " ".join("\n".join(run(kind, code) for kind, code in BLOCK.findall(page)).split())
    for words in ("pays out", "By relation:", "became known by", "what happened afterwards may give them away"):
        assert words in " ".join(page.split())
        assert words in printed
    auc = {name: json.loads((tmp_path / f"runs/{name}/run.json").read_text())["metrics"]["roc_auc"] for name in RUNS}
    assert auc["bank"] > auc["undirected"] + 2
    assert auc["leaky"] > auc["june"] + 10
    assert all(f"{round(value, 1)} %" in page for value in auc.values())


def scores(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["score"] for row in csv.DictReader(file)}


def test_tables_with_text_ids_score_as_the_named_data_set(folder: Path) -> None:
    pugnn(f"fit --dataset cora --labels 27 --out {folder / 'runs/named'}")
    named = {f"cora-{node}": score for node, score in scores(folder / "runs/named/scores.csv").items()}
    assert scores(folder / "runs/cora/scores.csv") == named


def test_a_run_is_complete(folder: Path) -> None:
    files = {path.name for path in (folder / "runs/cora").iterdir() if path.is_file()}
    files = {name for name in files if not name.startswith(("audit", "probabilities"))}  # written later
    files_named = set(re.findall(r"`([a-z]+\.[a-z]+)`", PAGE.read_text(encoding="utf-8").split("## 4.")[0]))
    tables = {"edges.csv", "nodes.csv", "positives.csv", "truth.csv"}
    assert files_named - tables == files
    assert [path.name for path in (folder / "runs/cora").iterdir() if path.is_dir()] == ["graph"]


def test_a_later_snapshot_has_the_new_node(folder: Path) -> None:
    later = scores(folder / "later.csv")
    assert len(later) == 2709
    assert "cora-new" in later


def test_python_finds_the_same_nodes(folder: Path) -> None:
    best = list(scores(folder / "runs/cora/scores.csv"))[:5]
    printed = (folder / "printed.txt").read_text(encoding="utf-8")
    assert all(f"'{node}'" in printed for node in best)


def test_unknown_accounts_among_fraudulent_ones_rank_above_the_others(folder: Path) -> None:
    known = {"K-02", "K-06", "K-09"}
    ranked = [account for account in scores(folder / "runs/accounts/scores.csv") if account not in known]
    assert set(ranked[:2]) == {"K-03", "K-11"}  # they deal with known ones alone
    assert set(scores(folder / "accounts-later-scores.csv")) == {"K-02", "K-03", "K-13"}
