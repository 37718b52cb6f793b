"""Compare methods on typed real graphs: all relations, each alone, one plain graph, and PyG's SAGE under nnPU.

    python benchmarks/typed_graphs.py --folder typed --processes 16      # five draws; continues where it was stopped

The folder has `dblp` (authors, papers, venues, terms; words of authors) and `aminer` (papers, authors, references; no
attributes), as gzipped CSV tables. Each class in turn is positive, at its natural share or, by removing positives with
their edges, at 2 % of the unlabelled nodes (at least ten stay). Average precision is measured on unlabelled nodes of
the target kind:

- all: the default method on all relations;
- only …: on one of them, with those that lead to it. In both graphs that is also all but one left out;
- merged: all kinds as one plain graph, as one must without relations and kinds;
- sage: PyG's HeteroConv of two layers SAGE (64 hidden, 100 epochs; each node without attributes has a learned vector)
  under nnPU with the true prior and the logistic loss, since the sigmoid loss collapses here.

Every fit is a line in the file of records, from which the mean and the standard deviation over draws are printed.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import scipy.sparse as sp
import torch
from joblib import Parallel, delayed

from measuring import SMALLEST, machine, sized, table
from pugnn import PUNodeClassifier, read_graph
from pugnn.errors import PugnnWarning
from pugnn.losses import NonNegativeLoss
from pugnn.losses.sets import Sets
from pugnn.metrics import average_precision

Tables = dict[str, pa.Table]
#: The relations of each graph with the kinds that they link; the first kind is the target.
GRAPHS = {
    "dblp": {"wrote": ("author", "paper"), "in": ("paper", "venue"), "uses": ("paper", "term")},
    "aminer": {"written_by": ("paper", "author"), "cites": ("paper", "reference")},
}
TARGETS = {"dblp": "author", "aminer": "paper"}


def read(folder: Path, name: str) -> Tables:
    """Read the tables of a graph; those of the target nodes, with their classes, are called nodes."""
    if SMALLEST:
        return made_up(name)
    files = {each: each for each in GRAPHS[name]} | {"nodes": f"{TARGETS[name]}s"}
    files |= {"words": "words"} if name == "dblp" else {}
    tables = {key: pyarrow.csv.read_csv(folder / name / f"{file}.csv.gz") for key, file in files.items()}
    return {
        key: each.rename_columns(["id", "word", "value"]) if key == "words" else each for key, each in tables.items()
    }


def made_up(name: str) -> Tables:
    """Return random tables of the same form."""
    rng, target = np.random.default_rng(0), TARGETS[name]
    ids = [f"{target}-{number}" for number in range(60)]
    tables = {"nodes": pa.table({"id": ids, "class": [f"class-{number % 2}" for number in range(60)]})}
    for relation, ends in GRAPHS[name].items():
        sizes = [60 if kind in (target, "paper") else 20 for kind in ends]
        columns = [
            [f"{kind}-{at}" for at in rng.integers(size, size=200)] for kind, size in zip(ends, sizes, strict=True)
        ]
        tables[relation] = pa.table(columns, list(ends))
    if name == "dblp":
        words = [f"w{number}" for number in rng.integers(30, size=60)]
        tables["words"] = pa.table({"id": ids, "word": words, "value": np.ones(60)})
    return tables


def draw(
    tables: Tables, name: str, positive: str, labels: int, share: str, seed: int
) -> tuple[Tables, list[str], set[str]]:
    """Return the tables of one draw, the known positives, and the hidden ones."""
    nodes, target = tables["nodes"], TARGETS[name]
    rng = np.random.default_rng([seed, int(positive.split("-")[1])])
    of_class = nodes.filter(pc.equal(nodes["class"], positive))["id"].to_pylist()
    shuffled = [of_class[at] for at in rng.permutation(len(of_class))]
    known, hidden = shuffled[:labels], shuffled[labels:]
    if share != "natural":
        wanted = float(share.rstrip("%")) / 100
        hidden = hidden[: max(10, round(wanted / (1 - wanted) * (len(nodes) - len(of_class))))]
        removed = pa.array(shuffled[labels + len(hidden) :], pa.string())
        for key, each in tables.items():
            for column in {"id", target} & {*each.column_names}:
                tables = tables | {key: each.filter(pc.invert(pc.is_in(each[column], removed)))}
    return tables, known, set(hidden)


def rows_of(name: str) -> dict[str, tuple[str, ...]]:
    """Return rows by name, with the relations of each."""
    links = GRAPHS[name]
    first = next(iter(links))
    alone = [(each,) if TARGETS[name] in ends else (first, each) for each, ends in links.items()]
    only = {f"only {' and '.join(names)}": names for names in alone}
    return {"all": tuple(links), **only, "merged": tuple(links), "sage": tuple(links)}


def fit(name: str, row: str, tables: Tables, known: list[str], hidden: set[str]) -> float:
    """Return the average precision of a row, in per cent."""
    if row == "sage":
        return hetero_sage(name, tables, known, hidden)
    target, names, ids = TARGETS[name], rows_of(name)[row], tables["nodes"].select(["id"])
    more: dict[str, Any] = {"positives": pa.table({"id": known})}
    if row == "merged":
        if "words" in tables:
            more["attributes"] = tables["words"]
        data = read_graph(
            pa.concat_tables([tables[each].rename_columns(["source", "target"]) for each in names]), ids, **more
        )
    else:
        if "words" in tables:
            more["attributes"] = {target: tables["words"]}
        edges = {
            ":".join((ends[0], each, ends[1])): tables[each] for each, ends in GRAPHS[name].items() if each in names
        }
        data = read_graph(edges, {target: ids}, target=target, **more)
    assert data.task is not None
    scores = PUNodeClassifier(progress=False).fit_task(data.task).decision_function()
    asked = data.task.unlabelled[data.task.unlabelled < len(ids)]  # target nodes come first
    return 100 * average_precision(np.array([each in hidden for each in data.graph.ids[asked]]), scores[asked])


def hetero_sage(name: str, tables: Tables, known: list[str], hidden: set[str]) -> float:
    """Train what a user of PyG would write: HeteroConv of SAGE under nnPU with the true prior."""
    from torch_geometric.nn import HeteroConv, SAGEConv

    torch.manual_seed(0)
    target = TARGETS[name]
    ids: dict[str, dict[str, int]] = defaultdict(dict)
    for each in tables["nodes"]["id"].to_pylist():
        ids[target].setdefault(each, len(ids[target]))
    edges = {}
    for relation, ends in GRAPHS[name].items():
        places = []
        for kind in ends:
            own = ids[kind]
            places.append([own.setdefault(each, len(own)) for each in tables[relation][kind].to_pylist()])
        edges[ends[0], relation, ends[1]] = torch.tensor(places)
        edges[ends[1], f"rev_{relation}", ends[0]] = torch.tensor(places[::-1])
    x = {kind: torch.nn.Parameter(torch.randn(len(own), 64) / 8) for kind, own in ids.items()}
    given = dict[str, torch.Tensor]()
    if "words" in tables:
        authors, words, values = (column.to_pylist() for column in tables["words"].columns)
        at = {word: place for place, word in enumerate(dict.fromkeys(words))}
        cells = [ids[target][author] for author in authors], [at[word] for word in words]
        matrix = sp.coo_array((values, cells), (len(ids[target]), len(at)))
        given[target] = torch.tensor(matrix.toarray(), dtype=torch.float32)
        given[target] /= given[target].norm(dim=1, keepdim=True).clamp(min=1)
        del x[target]
    layers = torch.nn.ModuleList(
        HeteroConv({edge: SAGEConv((-1, -1), size) for edge in edges}, aggr="sum") for size in (64, 64)
    )
    last = torch.nn.Linear(64, 1)

    def logits() -> torch.Tensor:
        h: dict[str, torch.Tensor] = {**given, **x}
        for layer in layers:
            h = {kind: each.relu() for kind, each in layer(h, edges).items()}
        return last(torch.dropout(h[target], 0.5, last.training)).squeeze(1)

    place = ids[target]
    labelled = torch.tensor([place[each] for each in known])
    unlabelled = torch.tensor(sorted(set(place.values()) - set(labelled.tolist())))
    truth = np.array([each in hidden for each in place])[unlabelled.numpy()]
    with torch.no_grad():
        logits()  # sizes of lazy layers
    parameters = [*layers.parameters(), *last.parameters(), *x.values()]
    optimiser = torch.optim.Adam(parameters, lr=0.01, weight_decay=5e-4)
    loss = NonNegativeLoss(prior=float(truth.mean()), surrogate="logistic")
    for _ in range(sized(100, 2)):
        optimiser.zero_grad()
        sum(loss(logits(), Sets(labelled, unlabelled)).values()).backward()  # type: ignore[union-attr]
        optimiser.step()
    last.eval()
    with torch.no_grad():
        return 100 * average_precision(truth, logits()[unlabelled].numpy())


def measured(folder: Path, key: tuple[Any, ...]) -> dict[str, Any]:
    """Return the record of a fit: its key, average precision and seconds."""
    torch.set_num_threads(1)
    drawn, started = draw(read(folder, key[0]), *key[:-1]), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PugnnWarning)
        found = fit(key[0], key[-1], *drawn)
    return {"key": key, "ap": round(found, 2), "seconds": round(time.perf_counter() - started, 1)}


def run(asked: argparse.Namespace) -> None:
    done = {}
    if asked.records.exists():
        done = {tuple(each["key"]): each for each in map(json.loads, asked.records.read_text().splitlines())}
    for name in asked.graphs:
        classes = sorted(set(read(asked.folder, name)["nodes"]["class"].to_pylist()))
        rows = [row for row in rows_of(name) if row.split()[0] in asked.rows]
        missing = [key for key in keys(name, classes, rows, asked) if key not in done]
        # One thread each: nothing is gained by more, and rounding does not depend on the machine's cores.
        workers = Parallel(n_jobs=asked.processes, return_as="generator_unordered", batch_size=1)
        for record in workers(delayed(measured)(asked.folder, key) for key in missing):
            done[record["key"]] = record
            with asked.records.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
        for labels in asked.labels:
            for share in asked.shares:
                lines = []
                for row in rows:
                    own = [list(keys(name, [each], [row], asked, labels, share)) for each in classes]
                    found = np.array([[done[key]["ap"] for key in each] for each in own])
                    lines.append([row, *map(spread, found), f"{found.mean():.1f}"])
                print("\n" + table([f"{name}, {labels} labels, {share}", *classes, "mean"], lines), flush=True)


def keys(
    name: str,
    classes: list[str],
    rows: list[str],
    asked: argparse.Namespace,
    labels: int | None = None,
    share: str | None = None,
) -> Iterator[tuple[Any, ...]]:
    """List what is fitted: the arguments of a draw, and the row."""
    counts = asked.labels if labels is None else [labels]
    shares = asked.shares if share is None else [share]
    for seed, count, part, positive, row in product(range(asked.draws), counts, shares, classes, rows):
        yield name, positive, count, part, seed, row


def spread(values: Any) -> str:
    return f"{np.mean(values):.1f}" + (f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("typed"))
    parser.add_argument("--records", type=Path, default=Path("typed_graphs.jsonl"))
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS))
    parser.add_argument("--labels", nargs="+", type=int, default=sized([10, 30, 100], [5]))
    parser.add_argument("--shares", nargs="+", default=["natural", "2%"])
    parser.add_argument("--draws", type=int, default=sized(5, 1))
    parser.add_argument("--rows", nargs="+", default=["all", "only", "merged", "sage"], help="first words of rows")
    parser.add_argument("--processes", type=int, default=1)
    print(machine())
    run(parser.parse_args())


if __name__ == "__main__":
    main()
