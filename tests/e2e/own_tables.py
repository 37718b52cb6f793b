"""A small graph in CSV files, ways to spoil them, and what a refusal looks like."""

import csv
import hashlib
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

#: The command in a process of its own.
PUGNN = [sys.executable, "-c", "from pugnn.cli import main; main()"]
NODES = [f"n{i}" for i in range(12)]
TABLES = ["--edges", "edges.csv", "--nodes", "nodes.csv"]
FIT = ["fit", *TABLES, "--positives", "positives.csv", "--epochs", "3"]
FIT_PU_GNN = [*FIT, "--method", "pu-gnn"]


def write_tables(folder: Path) -> None:
    x = np.random.default_rng(0).normal(size=(12, 3)).round(3)
    edges = [f"{a},{b}" for a, b in pairwise(NODES)]
    features = [f"{node},{','.join(map(str, row))}" for node, row in zip(NODES, x.tolist(), strict=True)]
    (folder / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    (folder / "nodes.csv").write_text("\n".join(["id,x,y,z", *features]) + "\n")
    (folder / "positives.csv").write_text("id\nn0\nn1\n")


def snapshot(folder: Path) -> dict[str, tuple[int, str] | None]:
    """Names, sizes and hashes of all there is below a folder."""
    return {
        str(path.relative_to(folder)): (
            None if path.is_dir() else (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        )
        for path in sorted(folder.rglob("*"))
    }


csv.field_size_limit(2_000_000)  # there are ids of a million characters


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def scores(path: Path) -> dict[str, str]:
    return {row["id"]: row["score"] for row in table(path)}


def replace(name, old, new):
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return change


def write(name, content):
    def change(folder: Path) -> None:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return change


def append(name, text):
    def change(folder: Path) -> None:
        (folder / name).write_text((folder / name).read_text() + text)

    return change


def cut(name, keep):
    def change(folder: Path) -> None:
        (folder / name).write_bytes((folder / name).read_bytes()[:keep])

    return change


def remove(name):
    return lambda folder: (folder / name).unlink()


def assert_refused(result, fragments):
    assert result.code == 2
    assert "Found: " not in result.out, "the check-up may have been shown, but no result"
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1, "one message"
    assert "Traceback" not in result.err
    for fragment in fragments:
        assert fragment in result.err
