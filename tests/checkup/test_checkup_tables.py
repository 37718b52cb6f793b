import io

import numpy as np
import pytest
from rich.console import Console

from pugnn.checkup import check_up
from pugnn.cli.terminal import print_check_up
from pugnn.data import load_dataset
from pugnn.graph import Graph
from pugnn.task import PUTask, draw_benchmark


def printed(found, *, width=80, **options):
    text = io.StringIO()
    print_check_up(Console(file=text, width=width, highlight=False), found, **options)
    return text.getvalue()


@pytest.fixture(scope="module")
def cora():
    return draw_benchmark(load_dataset("cora"), labels=27, seed=0)


@pytest.mark.parametrize("width", [80, 120])
def test_in_full(cora, width):
    found = check_up(cora.task)
    text = printed(found, width=width, brief=False)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    for finding in found.findings:
        assert finding.title in flat
        assert " ".join(finding.text.split()) in flat
    assert "Advice: pugnn fit … --method pu-gnn --delta 3" in flat
    assert "truly positive" not in flat


def test_in_brief(cora):
    text = printed(check_up(cora.task), brief=True)
    assert len(text.splitlines()) <= 12
    assert "Positives cluster" in text
    assert "Advice" in text


def test_with_truth(cora):
    text = " ".join(printed(check_up(cora.task), brief=False, truth=cora).split())
    assert "truly positive" in text
    assert "45.9 % of the nodes are positive" in text
    assert "90.8 % of all edges join nodes of the same class" in text


def test_ids_are_shown_as_they_are():
    ids = ["[red]a", "[/]b", "<b>c</b>"]
    graph = Graph.from_edges(["[red]a", "[/]b"], ["[/]b", "<b>c</b>"], ids=ids)
    text = printed(check_up(PUTask.from_positives(graph, np.array([0]))), brief=False)
    assert all(f"{name} (" in text for name in ids)


def test_long_ids_and_control_characters_leave_the_terminal_alone():
    ids = ["x" * 1_000_000, "\x1b[31mred", "plain"]
    graph = Graph.from_edges(ids[:2], ids[1:], ids=ids)
    text = printed(check_up(PUTask.from_positives(graph, np.array([0]))), brief=False)
    assert len(text) < 10_000
    assert "\x1b" not in text
