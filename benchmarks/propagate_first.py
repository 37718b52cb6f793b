"""The default method, which propagates first and trains on rows: what its shortcuts cost, and how fast it trains.

    python propagate_first.py accuracy --processes 16 [--device cuda]   # needs PUGNN_DATA
    python propagate_first.py gradients                                 # needs PUGNN_DATA
    python propagate_first.py speed [--nodes 10000000] [--device cuda]

accuracy: 30 labels, the true share of positives given, average precision and macro-F1 in percent on all other nodes.

- columns: wide attributes hashed into fewer columns, and the other way to make them narrow: the 64 hidden units of a
  perceptron that was trained by the same method without the graph ("first layer") instead of the attributes.
- rows per step: 1,024 unlabelled rows, as by default, others, and all of them.
- numbers: half precision instead of single.

gradients: of the loss on one model (after 20 epochs, without dropout), from batches of several sizes against that of
all unlabelled rows: mean cosine and relative error over 50 batches.

speed: rows per second of training, and what share of the device's copy bandwidth their bytes are. A step reads the rows
of its batch once; all else fits into caches.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config

from measuring import machine, sized, table

DATASETS = sized(("cora", "citeseer", "cora_ml", "dblp", "pubmed", "coauthor_phy"), ("cora",))
WIDTHS = sized(("all", "1024", "512", "256", "128", "64", "first layer"), ("64", "first layer"))
BATCHES = sized(("256", "1024", "4096", "16384", "all"), ("all",))
LABELS = 30


def one_run(dataset: str, change: str, value: str, draw: int, device: str) -> tuple[float, float]:
    """Average precision and macro-F1."""
    from pugnn import PUNodeClassifier, make_method
    from pugnn.data import load_dataset
    from pugnn.errors import PugnnWarning
    from pugnn.metrics import average_precision, macro_f1
    from pugnn.models import inputs_on
    from pugnn.models.views import Rows, attributes, make_views
    from pugnn.task import draw_labels

    torch.set_num_threads(1)
    warnings.simplefilter("ignore", PugnnWarning)
    drawn = draw_labels(load_dataset(dataset), labels=LABELS, seed=draw)
    task, share = drawn.task, float(drawn.positive[drawn.task.unlabelled].mean())
    attributes.MOST_COLUMNS = 10**6 if value == "all" or change != "columns" else 4096
    settings: dict[str, Any] = {"seed": draw, "device": device, "progress": False, "epochs": sized(None, 2)}
    if change == "columns" and value == "first layer":
        alone = PUNodeClassifier(make_method("views", prior=share, leave_out="graph"), **settings).fit_task(task)
        model: Any = alone.model_
        with torch.no_grad():
            rows = model.rows(inputs_on(task.graph, model.hidden.device))
            hidden = torch.cat([torch.relu(part @ model.hidden + model.hidden_bias) for part in rows.chunks()])
        task = replace(task, graph=replace(task.graph, features=hidden.cpu().numpy(), feature_names=None))
    elif change == "columns" and value != "all":
        attributes.MOST_COLUMNS = int(value)
    elif change == "rows per step":
        settings["batch_size"] = len(task.unlabelled) if value == "all" else int(value)
    elif change == "numbers" and value == "float16":
        make = make_views

        def halved(*arguments: Any, **options: Any) -> Any:
            found = make(*arguments, **options)
            return {
                name: Rows(tuple(each.half() for each in rows.tables), rows.factors, rows.columns)
                for name, rows in found.items()
            }

        from pugnn.methods import evidence

        evidence.make_views = halved
    try:
        classifier = PUNodeClassifier(make_method("views", prior=share), threshold="prior", **settings).fit_task(task)
    finally:
        if change == "numbers" and value == "float16":
            evidence.make_views = make
    truth, scores = drawn.positive[drawn.scored], classifier.decision_function()[drawn.scored]
    decided = classifier.predict()[drawn.scored]
    return 100 * average_precision(truth, scores), 100 * macro_f1(truth, decided)


def accuracy(given: argparse.Namespace) -> None:
    changes = {"columns": WIDTHS, "rows per step": BATCHES, "numbers": ("float32", "float16")}
    wanted = {
        (dataset, change, value)
        for change, values in changes.items()
        for dataset, value in product(given.datasets.split(","), values)
    }
    cases = [(*case, draw) for case in sorted(wanted) for draw in range(given.draws)]
    with parallel_config("loky", inner_max_num_threads=1):
        found = Parallel(n_jobs=given.processes)(delayed(one_run)(*case, given.device) for case in cases)
    print(f"{machine()}; {given.draws} draws, {LABELS} labels; mean average precision / macro-F1\n")
    for change, values in changes.items():
        rows = []
        for value in values:
            cells, means = [], []
            for dataset in given.datasets.split(","):
                mine = [pair for case, pair in zip(cases, found, strict=True) if case[:3] == (dataset, change, value)]
                means.append(np.mean(mine, axis=0))
                cells.append("{:.1f} / {:.1f}".format(*means[-1]))
            rows.append([value, *cells, "{:.1f} / {:.1f}".format(*np.mean(means, axis=0))])
        print(table([change, *given.datasets.split(","), "mean"], rows), end="\n\n")


def gradients(given: argparse.Namespace) -> None:  # noqa: ARG001 (as the others)
    from pugnn.data import load_dataset
    from pugnn.losses import Sets, confident_prior_matching
    from pugnn.methods.evidence import KnownPositives, weigh_views
    from pugnn.models import Committee, inputs_on
    from pugnn.task import draw_labels
    from pugnn.training import RowBatches, TrainingSettings, train

    found, sizes = [], sized((256, 1024, 4096, 16_384), (256,))
    for dataset in sized(("pubmed", "coauthor_phy"), ("cora",)):
        drawn = draw_labels(load_dataset(dataset), labels=LABELS, seed=0)
        task, share = drawn.task, float(drawn.positive[drawn.task.unlabelled].mean())
        known = KnownPositives.of(task, torch.device("cpu"), 0)
        rows = weigh_views(inputs_on(task.graph, torch.device("cpu")), known).rows
        seen, sets = torch.ones(LABELS, 2), Sets(known.labelled, known.unlabelled)

        def objective(output: Any, batch: Any, _seed: Any, seen: Any = seen, share: float = share) -> Any:
            return confident_prior_matching(output.embedding, batch.sets, seen, share, 1.0, 0.5)

        def build(*_: Any, width: int = rows.shape[1]) -> Committee:
            return Committee(width, hidden=64, dropout=0.0, linear_models=1)

        settings = TrainingSettings(backbone="mlp", hidden=64, epochs=sized(20, 2))
        model = train(RowBatches(task.graph, rows, sets, 1024), objective, settings, build=build).model

        def gradient(size: int, seed: int, model: Any = model, **fixed: Any) -> torch.Tensor:
            loader = RowBatches(fixed["graph"], fixed["rows"], fixed["sets"], size)
            batch = next(iter(loader.batches(seed)))
            model.zero_grad()
            sum(objective(model(batch.inputs), batch, seed).values()).backward()
            return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])

        fixed = {"graph": task.graph, "rows": rows, "sets": sets}
        whole = gradient(len(task.unlabelled), 0, **fixed)
        cells = []
        for size in sizes:
            each = [gradient(size, seed, **fixed) for seed in range(sized(50, 2))]
            cosines = [float(torch.cosine_similarity(one, whole, dim=0)) for one in each]
            errors = [float((one - whole).norm() / whole.norm()) for one in each]
            cells.append(f"{np.mean(cosines):.4f}, {np.mean(errors):.3f}")
        found.append([dataset, f"{len(task.unlabelled):,}", *cells])
    print(f"{machine()}; cosine, relative error\n")
    print(table(["data set", "unlabelled", *(f"{size:,} rows" for size in sizes)], found))


def copy_bandwidth(device: torch.device) -> float:
    count = sized(2**28, 2**10)
    source = torch.ones(count, device=device)
    target = torch.empty_like(source)
    seconds = timed(lambda: target.copy_(source), device, 10)
    return 2 * 4 * count / seconds


def timed(run: Any, device: torch.device, times: int) -> float:
    run()
    _wait(device)
    started = time.perf_counter()
    for _ in range(times):
        run()
    _wait(device)
    return (time.perf_counter() - started) / times


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def speed(given: argparse.Namespace) -> None:
    from pugnn.graph import Graph
    from pugnn.losses import Sets, confident_prior_matching
    from pugnn.models import Committee
    from pugnn.models.views.rows import Rows
    from pugnn.training import RowBatches, TrainingSettings, train

    device, columns = torch.device(given.device), 66
    generator = torch.Generator(device).manual_seed(0)
    rows = Rows.of(torch.randn(given.nodes, columns, device=device, generator=generator))
    graph = Graph.from_edges([0], [1], num_nodes=given.nodes)
    labelled, unlabelled = torch.arange(100, device=device), torch.arange(100, given.nodes, device=device)
    seen = torch.ones(100, 7, device=device)
    bandwidth = copy_bandwidth(device)
    print(
        f"{machine()}; {given.nodes:,} rows of {columns} numbers; copy {bandwidth / 1e9:.0f} GB/s (read and written)\n"
    )
    found = []
    for size in sized((1024, 16_384, 262_144, 1_048_576), (256,)):
        loader = RowBatches(graph, rows, Sets(labelled, unlabelled).to(device), size)
        settings = TrainingSettings(backbone="mlp", hidden=64, epochs=given.epochs, device=given.device)
        trained = train(
            loader,
            lambda output, batch, _seed: confident_prior_matching(output.embedding, batch.sets, seen, 0.1, 1.0, 0.5),
            settings,
            build=lambda *_: Committee(columns, hidden=64, dropout=0.5, linear_models=6),
        )
        seconds = [record["seconds"] for record in trained.log]
        step = (seconds[-1] - seconds[len(seconds) // 5]) / (len(seconds) - 1 - len(seconds) // 5)
        rate = size / step
        share = rate * columns * 4 / bandwidth
        found.append([f"{size:,}", f"{1000 * step:.2f}", f"{rate / 1e6:.2f}", f"{100 * share:.2f} %"])
    print(table(["rows per step", "ms per step", "million rows/s", "bytes of rows, of copy"], found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("accuracy", "gradients", "speed"))
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--draws", type=int, default=sized(10, 1))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--nodes", type=int, default=sized(1_000_000, 2000))
    parser.add_argument("--epochs", type=int, default=sized(50, 5))
    given = parser.parse_args()
    {"accuracy": accuracy, "gradients": gradients, "speed": speed}[given.what](given)


if __name__ == "__main__":
    main()
