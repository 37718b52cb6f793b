"""Small graphs that many tests share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from own_postgresql import Server, programs, server
from pugnn.graph import Graph
from pugnn.losses import Sets
from pugnn.models import Backbone, GraphInputs, make_backbone
from pugnn.training import FullGraph, derive_seed


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    """Tiny graphs gain nothing from threads, and threads that wait for a busy core cost a lot. Processes inherit it."""
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Leaves the user's cache alone, and serves where there is no home folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Server]:
    """A PostgreSQL server with an empty database."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: there is no initdb")
    with server() as running:
        yield running


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked ``data`` where PUGNN_DATA lacks the data sets that the mark, or the parameter name, names."""
    marker = item.get_closest_marker("data")
    if marker is None:
        return
    folder = os.environ.get("PUGNN_DATA")
    if not folder:
        pytest.skip("PUGNN_DATA is not set to a folder with data sets")
    names = marker.args or (item.callspec.params["name"],)
    missing = [name for name in names if not (Path(folder) / name / f"{name}.npz").is_file()]
    if missing:
        pytest.skip(f"PUGNN_DATA has no {', '.join(missing)}")


@pytest.fixture(autouse=True)
def _data_only_if_marked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("data") is None:
        monkeypatch.delenv("PUGNN_DATA", raising=False)


def random_graph(nodes: int, probability: float, seed: int, features: int = 3) -> Graph:
    """An Erdős–Rényi graph; low probabilities leave isolated nodes."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((nodes, nodes)) < probability, 1)
    source, target = np.nonzero(upper)
    x = rng.normal(size=(nodes, features)).astype(np.float32)
    return Graph.from_edges(source, target, num_nodes=nodes, features=x)


def special_graphs() -> dict[str, Graph]:
    """Graphs at the edges of what can occur."""
    hub = 300
    spokes = [(0, other) for other in range(1, hub - 1)]  # one node, the last, is not joined to the hub
    ring = [(i, i + 1) for i in range(1, hub - 1)]
    everyone = [(i, j) for i in range(6) for j in range(i)]
    return {
        "random": random_graph(40, 0.1, seed=1),
        "isolated": random_graph(40, 0.02, seed=2),
        "hub": Graph.from_edges(*np.array(spokes + ring).T, num_nodes=hub),
        "bisection": Graph.from_edges(*np.array([(0, other) for other in range(1, 800, 2)]).T, num_nodes=2000),
        "complete": Graph.from_edges(*np.array(everyone).T),
        "two nodes": Graph.from_edges([0], [1]),
        "two nodes and one": Graph.from_edges([0], [2], num_nodes=3),
    }


@pytest.fixture(params=list(special_graphs()))
def special_graph(request: pytest.FixtureRequest) -> Graph:
    return special_graphs()[request.param]


def whole(graph: Graph, device: str = "cpu") -> FullGraph:
    """A loader of the whole graph, for objectives that ask for no sets of nodes."""
    return FullGraph(graph, Sets.of(np.zeros(0, np.int64), np.arange(graph.num_nodes)), device)


def untrained(graph: Graph, backbone: str = "gcn", *, seed: int = 0, **options) -> Backbone:
    """The network that a training with this seed begins with, without dropout."""
    with torch.random.fork_rng():
        torch.manual_seed(derive_seed(seed))
        return make_backbone(backbone, graph.num_features, hidden=16, dropout=0.0, **options)


def trained_plainly(
    graph: Graph,
    loss: Callable[[torch.Tensor], torch.Tensor],
    *,
    epochs: int,
    learning_rate: float = 0.01,
    weight_decay: float = 5e-4,
    **network,
) -> np.ndarray:
    """Scores after a few lines of full-batch Adam on a loss of the logits, all the network's own code aside."""
    model, inputs = untrained(graph, **network), GraphInputs(graph)
    first = set(model.first_layer.parameters())
    others = [parameter for parameter in model.parameters() if parameter not in first]
    groups = [{"params": list(first), "weight_decay": weight_decay}, {"params": others}]
    optimizer = torch.optim.Adam(groups, lr=learning_rate)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss(model(inputs).logit).backward()
        optimizer.step()
    return torch.sigmoid(model(inputs).logit.double()).detach().numpy()


def terms_of(record: dict[str, float]) -> dict[str, float]:
    """The terms of the loss in a record of a training's log."""
    return {name: value for name, value in record.items() if name not in ("epoch", "total", "seconds")}


def markdown_tables(text: str) -> dict[str, list[list[str]]]:
    """The tables of a Markdown page, by the heading above them: lists of lines, lists of cells."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|") and not line.startswith("|---"):
            found.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split("|")])
    return found
