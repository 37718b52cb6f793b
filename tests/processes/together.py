"""What each of several processes finds: run as a script, it writes its findings to a file of its own.

In one process, :func:`findings` gives what they are compared with.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pugnn import processes, read_graph
from pugnn.errors import PugnnError
from pugnn.graph import Graph
from pugnn.losses import Sets, confident_prior_matching
from pugnn.methods import PUGNN
from pugnn.models import GCN
from pugnn.task import PUTask
from pugnn.training import Checkpoint, FullGraph, SampledGraph, TrainingSettings, train

NODES, LABELLED = 90, 7
GRAPH = Graph.from_edges(range(NODES - 1), range(1, NODES), features=torch.eye(NODES)[:, :5].numpy())
ROWS = torch.randn(NODES, 6, generator=torch.Generator().manual_seed(1))
SETS = Sets(torch.arange(LABELLED), torch.arange(LABELLED, 85), torch.arange(85, 90))
SETTINGS = TrainingSettings(backbone="gcn", hidden=8, epochs=30, weight_decay=1e-3)


class Stop(Exception):
    pass


def batches() -> SampledGraph:
    return SampledGraph(GRAPH, SETS, 40, GCN(5, hidden=8, dropout=0.5), torch.device("cpu"))


def trained(checkpoint: Checkpoint | None = None, stop: int | None = None) -> tuple[list[list[float]], list[Any]]:
    """The terms of every epoch and the weights, of a training in batches."""
    loader = batches()
    done = []

    def objective(output, batch, seed):
        done.append(seed)
        if stop is not None and len(done) > stop:
            raise Stop
        own = torch.ones(len(batch.sets.labelled), 1)
        return confident_prior_matching(output.logit[:, None], batch.sets, own, 0.3, 1.0, 0.5)

    found = train(loader, objective, SETTINGS, checkpoint=checkpoint)
    terms = [[value for name, value in record.items() if name != "seconds"] for record in found.log]
    return terms, [parameter.tolist() for parameter in found.model.parameters()]


def untyped() -> Graph:
    """A random graph with one kind of edge."""
    ends = np.random.default_rng(0).integers(0, NODES, (2, 900))
    return Graph.from_edges(*ends, num_nodes=NODES, features=ROWS.numpy())


def typed() -> Graph:
    """A random graph with three relations and two kinds of nodes."""
    pays, uses = np.random.default_rng(0).integers(0, NODES, (2, 2, 300))
    edges = {"account:pays:account": pays.T, "account:uses:device": uses.T}
    accounts = {"id": np.arange(NODES), "vector": ROWS.tolist()}
    return read_graph(edges, {"account": accounts}, target="account", directed=True).graph


def sampled(graph: Graph, backbone: str) -> list[list[float]]:
    """The terms of every epoch of PU-GNN in batches with sampled neighbours."""
    task = PUTask.from_positives(graph, np.arange(LABELLED), np.arange(85, 90))
    settings = TrainingSettings(backbone=backbone, epochs=12, batch_size=40)
    log = PUGNN(delta=1, near_prior=0.4, far_prior=0.2).fit(task, settings).log
    return [[value for name, value in record.items() if name != "seconds"] for record in log]


def refusal(action) -> str:
    try:
        action()
    except PugnnError as error:
        return str(error)
    return ""


def findings(folder: Path) -> dict[str, Any]:
    values = torch.arange(1.0, 8.0)[processes.own_share(7)].requires_grad_()
    sets = Sets.of(np.arange(1), np.arange(1))
    mean = sets.mean(values)
    mean.square().backward()
    weights = torch.tensor([[1.0, 0.0], [0.0, 0.0], [2.0, 1.0]])[processes.own_share(3)]
    weighted = sets.mean(torch.tensor([[1.0, 5.0], [2.0, 6.0], [4.0, 7.0]])[processes.own_share(3)], weights)

    weight = torch.full((2,), 3.0, requires_grad=True)
    weight.grad, unused = torch.full((2,), 1.0 + processes.rank()), torch.zeros(3, requires_grad=True)
    processes.add_up_gradients([weight, unused])
    copied = torch.tensor([float(processes.rank())])
    processes.copy_from_first([copied])

    batch = batches().draw(5)
    names = ("labelled", "negative", "unlabelled")
    rows = {name: batch.inputs.nodes[getattr(batch.sets, name).numpy()].tolist() for name in names}

    uninterrupted = trained()
    path = folder / "state"  # as another process would open it
    stopped = False
    try:
        trained(Checkpoint(path, "mine", every=4), stop=18)
    except Stop:
        stopped = True
        if processes.rank() == 0:
            shutil.copy(path, folder / "stopped")
    torch.manual_seed(0)
    return {
        "share": [processes.own_share(7).start, processes.own_share(7).stop],
        "mean": mean.item(),
        "gradient": values.grad.tolist(),
        "weighted": weighted.tolist(),
        "summed": weight.grad.tolist(),
        "unused": None if unused.grad is None else unused.grad.tolist(),
        "copied": copied.tolist(),
        "bytes": [str(processes.value_of_first(each)) for each in (b"from %d" % processes.rank(), b"", None)],
        "rows": rows,
        "negative_weight": batch.sets.negative_weight,
        "trained": uninterrupted,
        "stopped": stopped,
        "resumed": trained(Checkpoint(path, "mine", every=4)),
        "sampled": {backbone: sampled(untyped(), backbone) for backbone in ("gcn", "gcn-linear", "sage", "gin")},
        "relations": sampled(typed(), "gcn"),
        "full graph": refusal(lambda: FullGraph(GRAPH, SETS)),
        "other data": refusal(lambda: Checkpoint(path, f"of {processes.rank()}").load(0)),
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with processes.joined():
        number = processes.rank()
        found = findings(folder)
        print("only the first one speaks")
    (folder / f"{number}.json").write_text(json.dumps(found))
