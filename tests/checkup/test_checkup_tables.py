import io
import shlex

import numpy as np
import pytest
from rich.console import Console

from pugnn.checkup import check_up
from pugnn.cli.commands.check import next_command
from pugnn.cli.options import DataOptions
from pugnn.cli.terminal import print_check_up, print_verdicts
from pugnn.datasets import load_dataset
from pugnn.graph import Graph
from pugnn.task import PUTask, draw_benchmark

COMMAND = "pugnn fit --edges edges.csv"


def printed(found, *, width=80, **options):
    text = io.StringIO()
    print_check_up(Console(file=text, width=width, highlight=False), found, COMMAND, **options)
    return text.getvalue()


@pytest.fixture(scope="module")
def cora():
    return draw_benchmark(load_dataset("cora"), labels=27, seed=0)


@pytest.mark.parametrize("width", [80, 120])
def test_in_full(cora, width):
    found = check_up(cora.task)
    text = printed(found, width=width)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    for finding in found.findings:
        assert finding.title in flat
        assert " ".join(finding.text.split()) in flat
    for step in found.advice:
        assert f"- {step}" in flat
    assert f"\n  {COMMAND}\n" in text
    assert "truly positive" not in flat


def test_verdicts_are_a_line_each(cora):
    found, text = check_up(cora.task), io.StringIO()
    print_verdicts(Console(file=text, width=120, highlight=False), found)
    assert [line[2:] for line in text.getvalue().splitlines()] == [finding.title for finding in found.findings]


def test_the_command_is_never_broken_or_misread():
    data = DataOptions(edges="my edges.csv", positives="p" * 200, column=["zip=category", "w_*=counts"])
    line = next_command(data, seed=4)
    assert shlex.split(line) == [
        *("pugnn", "fit", "--edges", "my edges.csv", "--positives", "p" * 200),
        *("--column", "zip=category", "--column", "w_*=counts", "--seed", "4"),
    ]
    graph = Graph.from_edges([0], [1])
    text = io.StringIO()
    print_check_up(Console(file=text, width=80), check_up(PUTask.from_positives(graph, np.array([0]))), line)
    assert f"\n  {line}\n" in text.getvalue()


def test_with_truth(cora):
    text = " ".join(printed(check_up(cora.task), truth=cora).split())
    assert "truly positive" in text
    assert "45.9 % of the nodes are positive" in text
    assert "90.8 % of all edges join nodes of the same class" in text


def test_ids_are_shown_as_they_are():
    ids = ["[red]a", "[/]b", "<b>c</b>"]
    graph = Graph.from_edges(["[red]a", "[/]b"], ["[/]b", "<b>c</b>"], ids=ids)
    text = printed(check_up(PUTask.from_positives(graph, np.array([0]))))
    assert all(f"{name} (" in text for name in ids)


def test_long_ids_and_control_characters_leave_the_terminal_alone():
    ids = ["x" * 1_000_000, "\x1b[31mred", "plain"]
    graph = Graph.from_edges(ids[:2], ids[1:], ids=ids)
    text = printed(check_up(PUTask.from_positives(graph, np.array([0]))))
    assert len(text) < 10_000
    assert "\x1b" not in text
